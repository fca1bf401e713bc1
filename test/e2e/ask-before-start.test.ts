import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { findProgram } from '../../src/core/registry/find-program.ts';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { parseLines, processesOf, TestProject, until } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

const probe = await bubblewrap.probe();
const skip = !probe.available && `bubblewrap is not available here (${probe.detail})`;
const withoutGit = findProgram('git', process.env) === undefined && 'git is not installed';

let project: TestProject;
/** A folder that is neither in the project nor in the temporary folder of the command. */
let outside: string;
beforeEach(() => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'acor-outside-')));
  writeFileSync(join(outside, 'data.txt'), 'content\n');
  configure('ask');
});
afterEach(() => {
  project[Symbol.dispose]();
  rmSync(outside, { recursive: true, force: true });
});

function configure(onDenied: string, environment = 'cancel_grace_s: 0.3'): void {
  project?.[Symbol.dispose]();
  project = new TestProject({
    config: `version: 1\nenvironment: { ${environment} }\nsecurity: { on_denied: ${onDenied} }\n`,
  });
  mkdirSync(project.path('tmp'));
}

/** The folder of the test is below the temporary folder of the machine, which is a grant root. */
const env = () => ({ TMPDIR: project.path('tmp') });
const acor = (...args: string[]) => project.envelope(args, { env: env() });

function addReader(manifest = ''): void {
  project.write(
    'tools/reads/tool.yaml',
    `# a comment\nname: reads\nversion: 1.0.0\n${manifest}inputs: [{ name: file, type: path, access: read, positional: true, required: true }]\n`,
  );
  project.write(
    'tools/reads/cli.py',
    `import json, sys
open('started', 'w')
print(json.dumps({'type': 'result', 'status': 'ok', 'data': {'text': open(sys.argv[1]).read()}}), flush=True)
`,
  );
}

async function asking(...call: string[]): Promise<string> {
  const { data, error } = await acor('run', '--detach', ...call);
  assert.ok(data, JSON.stringify(error));
  await until(() => project.record(data.run_id)?.state === 'waiting_ai');
  return data.run_id;
}

const eventsOf = (run: string) => parseLines(readFileSync(project.path(`.runs/${run}/events.jsonl`), 'utf8'));
const questions = (run: string) => eventsOf(run).filter(({ type }) => type === 'action_required');

/** Answers the open question as a person does. */
async function answer(run: string, choice: string): Promise<void> {
  const { code, text } = await atTerminal(['answer', run, '--choice', choice], {
    cwd: project.root,
    env: project.environment(env()),
  });
  assert.equal(code, 0, text);
}

/** The runs that were made. */
const runs = () =>
  existsSync(project.runsDir) ? readdirSync(project.runsDir).filter((name) => name.startsWith('r-')) : [];

const ended = (run: string) => acor('wait', run, '--until', 'ending');

describe('a path outside of the grants', { skip: skip || noTerminal }, () => {
  it('is asked for before the tool starts, and yes holds for the run', async () => {
    addReader();
    const run = await asking('reads', join(outside, 'data.txt'));
    const [question] = questions(run);
    assert.deepEqual(
      [question!.action, question!.audience, question!.default, question!.context],
      [
        'allow_path',
        'user',
        'no',
        { path: join(outside, 'data.txt'), access: 'read', input: 'file', tool: 'reads' },
      ],
    );
    assert.equal(existsSync(project.path(`.runs/${run}/work/started`)), false, 'nothing has started');
    assert.deepEqual(processesOf(run), []);
    await answer(run, 'run');
    assert.equal((await ended(run)).data.result.data.text, 'content\n');
    // The next run asks again.
    const again = await asking('reads', join(outside, 'data.txt'));
    await answer(again, 'no');
    const refused = await ended(again);
    assert.equal(refused.error?.code, 'E_PERMISSION');
    assert.equal(existsSync(project.path(`.runs/${again}/work/started`)), false);
  });

  it('is refused at once by default, as the control', async () => {
    configure('fail');
    addReader();
    const { error } = await acor('run', '--no-stream', 'reads', join(outside, 'data.txt'));
    assert.equal(error?.code, 'E_PERMISSION');
    assert.deepEqual(runs(), []);
  });

  it('becomes a line of the manifest, which grants it from then on, and nothing beside it', async () => {
    addReader('permissions: { level: minimal }\n');
    writeFileSync(join(outside, 'other.txt'), 'other\n');
    const run = await asking('reads', join(outside, 'data.txt'));
    await answer(run, 'manifest');
    assert.equal((await ended(run)).data.result.data.text, 'content\n');
    assert.match(readFileSync(project.path('tools/reads/tool.yaml'), 'utf8'), /^# a comment\n/);
    const { data, error } = await acor('run', '--no-stream', 'reads', join(outside, 'data.txt'));
    assert.equal(data?.result.data.text, 'content\n', JSON.stringify(error));
    assert.deepEqual(questions(data.run_id), []);
    const other = await asking('reads', join(outside, 'other.txt'));
    await answer(other, 'no');
    await ended(other);
  });

  it('is no line of the manifest where its name would be a pattern there, or no text of a manifest', async () => {
    for (const name of ['*.csv', 'two\nlines']) {
      addReader();
      writeFileSync(join(outside, name), 'literal\n');
      const before = readFileSync(project.path('tools/reads/tool.yaml'), 'utf8');
      const run = await asking('reads', join(outside, name));
      const [question] = questions(run) as unknown as [{ options: { id: string }[] }];
      assert.deepEqual(
        question.options.map(({ id }) => id),
        ['run', 'no'],
      );
      await answer(run, 'run');
      assert.equal((await ended(run)).data.result.data.text, 'literal\n');
      assert.equal(readFileSync(project.path('tools/reads/tool.yaml'), 'utf8'), before);
    }
    // The flag of a program is a permission as well, and would be a pattern.
    const { error } = await acor('exec', '--read', join(outside, '*.csv'), '--', 'cat', 'x');
    assert.equal(error?.code, 'E_USAGE');
  });

  it('is for a person: neither the caller beforehand nor an agent answers, unless a policy says so', async () => {
    addReader();
    const run = await asking('--answer', 'allow_path=run', 'reads', join(outside, 'data.txt'));
    const refused = await acor('answer', run, '--choice', 'run');
    assert.deepEqual([refused.code, refused.error?.code], [2, 'E_APPROVAL_REQUIRED']);
    project.letAgents('allow_host');
    assert.equal((await acor('answer', run, '--choice', 'run')).error?.code, 'E_APPROVAL_REQUIRED');
    project.letAgents('allow_path');
    assert.equal((await acor('answer', run, '--choice', 'run')).ok, true);
    assert.equal((await ended(run)).data.result.data.text, 'content\n');
  });

  it('is asked for again in a replay of the run, whose recorded answer does not count', async () => {
    addReader();
    const run = await asking('reads', join(outside, 'data.txt'));
    project.letAgents('allow_path');
    assert.equal((await acor('answer', run, '--choice', 'run')).ok, true);
    await ended(run);
    project.letAgents('allow_host');
    const replayed = await acor('replay', run, '--execute', '--no-stream');
    const again = replayed.error?.details.run_id;
    assert.deepEqual([replayed.error?.code, questions(again).length], ['E_ACTION_REQUIRED', 1]);
    assert.equal((await acor('answer', again, '--choice', 'run')).error?.code, 'E_APPROVAL_REQUIRED');
    // The control: where a policy leaves it to agents.
    project.letAgents('allow_path');
    assert.equal((await acor('answer', again, '--choice', 'run')).ok, true);
    assert.equal((await ended(again)).data.result.data.text, 'content\n');
  });

  it('is refused without a question by a policy, in the kernel, and where ACOR keeps its own files', async () => {
    addReader();
    const secrets = join(outside, 'config');
    mkdirSync(join(secrets, 'acor/secrets'), { recursive: true });
    writeFileSync(join(secrets, 'acor/secrets/token'), 'value');
    for (const path of ['/', '/proc/self/environ', join(secrets, 'acor/secrets/token')]) {
      const { error } = await project.envelope(['run', '--no-stream', 'reads', path], {
        env: { ...env(), XDG_CONFIG_HOME: secrets },
      });
      assert.equal(error?.code, 'E_PERMISSION', path);
    }
    project.write('.acor/policy.yaml', "filesystem: { read: ['${PROJECT}/tools'] }\n");
    const { error } = await acor('run', '--no-stream', 'reads', join(outside, 'data.txt'));
    assert.equal(error?.code, 'E_POLICY_DENIED');
    assert.deepEqual(runs(), []);
  });

  it('is what was asked for, not what a link in its place leads to meanwhile', async () => {
    addReader();
    mkdirSync(join(outside, 'a'));
    mkdirSync(join(outside, 'secret'));
    writeFileSync(join(outside, 'a/data.txt'), 'content\n');
    writeFileSync(join(outside, 'secret/data.txt'), 'secret\n');
    const run = await asking('reads', join(outside, 'a/data.txt'));
    rmSync(join(outside, 'a'), { recursive: true });
    symlinkSync('secret', join(outside, 'a'));
    await answer(run, 'run');
    const { error } = await ended(run);
    assert.equal(error?.code, 'E_PERMISSION');
    assert.doesNotMatch(JSON.stringify(eventsOf(run)), /secret\\\\n/);
  });

  it('is the file that was asked for, not one that took its place while the question waited', async () => {
    addReader();
    mkdirSync(join(outside, 'a'));
    mkdirSync(join(outside, 'b'));
    writeFileSync(join(outside, 'a/data.txt'), 'content\n');
    writeFileSync(join(outside, 'b/data.txt'), 'secret\n');
    const run = await asking('reads', join(outside, 'a/data.txt'));
    renameSync(join(outside, 'a'), join(outside, 'a-before'));
    renameSync(join(outside, 'b'), join(outside, 'a'));
    await answer(run, 'run');
    const { error } = await ended(run);
    assert.equal(error?.code, 'E_PERMISSION');
    assert.match(error.message, /took the place of .*data\.txt while the question/);
    assert.equal(existsSync(project.path(`.runs/${run}/work/started`)), false);
  });

  it('is written only after a yes, when the output is put in place', async () => {
    project.write(
      'tools/writes/tool.yaml',
      'name: writes\nversion: 1.0.0\nidempotent: true\ninputs: [{ name: out, type: path, access: write, positional: true, required: true }]\n',
    );
    project.write(
      'tools/writes/cli.py',
      `import json, sys
open(sys.argv[1], 'w').write('new')
print(json.dumps({'type': 'result', 'status': 'ok', 'data': {}}), flush=True)
`,
    );
    const target = join(outside, 'out.txt');
    const no = await asking('writes', target);
    assert.deepEqual(
      (questions(no)[0]!.options as { id: string }[]).map(({ id }) => id),
      ['run', 'no'],
    );
    await answer(no, 'no');
    await ended(no);
    assert.equal(existsSync(target), false);
    const yes = await asking('writes', target);
    await answer(yes, 'run');
    assert.equal((await ended(yes)).data?.state, 'completed');
    assert.equal(readFileSync(target, 'utf8'), 'new');
  });

  it('is shown by a dry run, which asks nothing', async () => {
    addReader();
    const { data } = await acor('run', '--dry-run', 'reads', join(outside, 'data.txt'));
    assert.deepEqual(data.asks, [{ action: 'allow_path', name: join(outside, 'data.txt'), access: 'read' }]);
  });

  it('is refused when no answer comes in time, and costs no process of the tool', async () => {
    configure('ask', 'answer_timeout_s: 0.5');
    addReader();
    const { data } = await acor('run', '--detach', 'reads', join(outside, 'data.txt'));
    const { error } = await ended(data.run_id);
    assert.equal(error?.code, 'E_PERMISSION');
    const [answered] = eventsOf(data.run_id).filter(({ type }) => type === 'action_answered');
    assert.deepEqual([answered!.answer, answered!.by, answered!.source], ['no', 'acor', 'default']);
  });

  it('ends with the run that is cancelled while it waits', async () => {
    addReader();
    const run = await asking('reads', join(outside, 'data.txt'));
    await acor('cancel', run);
    await until(() => project.record(run)?.state === 'cancelled');
    assert.equal((await acor('answer', run, '--choice', 'run')).error?.code, 'E_BAD_ANSWER');
  });

  it('is asked for in acor exec, as an option and as a word', async () => {
    const { data } = await acor('exec', '--detach', '--', 'cat', join(outside, 'data.txt'));
    await until(() => project.record(data.run_id)?.state === 'waiting_ai');
    await answer(data.run_id, 'run');
    assert.match(JSON.stringify((await ended(data.run_id)).data.result), /content/);
    const { data: listed } = await acor('exec', '--detach', '--read', outside, '--', 'ls', outside);
    await until(() => project.record(listed.run_id)?.state === 'waiting_ai');
    assert.equal(questions(listed.run_id).length, 1);
    await answer(listed.run_id, 'run');
    assert.match(JSON.stringify((await ended(listed.run_id)).data.result), /data\.txt/);
    assert.equal(questions(listed.run_id).length, 1);
  });
});

describe('a program that the command line names', { skip: skip || noTerminal || withoutGit }, () => {
  const line = 'git --version | sort && echo done';

  it('is asked for, when the permissions do not name it', async () => {
    const { data } = await acor('exec', '--detach', '--', 'sh', '-c', line);
    await until(() => project.record(data.run_id)?.state === 'waiting_ai');
    const [question] = questions(data.run_id);
    assert.deepEqual(
      [question!.action, question!.context],
      ['allow_command', { command: 'git', tool: 'exec:sh' }],
    );
    await answer(data.run_id, 'run');
    assert.match(JSON.stringify((await ended(data.run_id)).data.result), /git version[^"]*done/);
  });

  it('is refused at its start by default, as the control', async () => {
    configure('fail');
    const { data, error } = await acor('exec', '--no-stream', '--', 'sh', '-c', line);
    assert.doesNotMatch(JSON.stringify(data ?? error), /git version/);
  });

  it('becomes a line of the manifest, with what the line starts beside it', async () => {
    project.write(
      'tools/lists/tool.yaml',
      `name: lists\nversion: 1.0.0\nadapter: plain\ncommand: [sh, -c, '${line}']\n`,
    );
    const run = await asking('lists');
    await answer(run, 'manifest');
    assert.match(JSON.stringify((await ended(run)).data.result), /git version[^"]*done/);
    assert.match(
      readFileSync(project.path('tools/lists/tool.yaml'), 'utf8'),
      /commands:\s*(\[ ?|- )git(, |\s*- )sort/,
    );
    const { data } = await acor('run', '--no-stream', 'lists');
    assert.match(JSON.stringify(data.result), /git version[^"]*done/);
    assert.deepEqual(questions(data.run_id), []);
  });

  it('is not asked for where a policy refuses it', async () => {
    project.write('.acor/policy.yaml', 'commands: [perl]\n');
    const { data, error } = await acor('exec', '--no-stream', '--', 'sh', '-c', line);
    const run = data?.run_id ?? error?.details?.run_id;
    assert.deepEqual(questions(String(run)), []);
  });

  it('is left to agents only by allow_command', async () => {
    const { data } = await acor('exec', '--detach', '--', 'env', 'A=b', 'git', '--version');
    await until(() => project.record(data.run_id)?.state === 'waiting_ai');
    project.letAgents('allow_path', 'allow_host');
    assert.equal((await acor('answer', data.run_id, '--choice', 'run')).error?.code, 'E_APPROVAL_REQUIRED');
    project.letAgents('allow_command');
    assert.equal((await acor('answer', data.run_id, '--choice', 'run')).ok, true);
    assert.match(JSON.stringify((await ended(data.run_id)).data.result), /git version/);
  });
});
