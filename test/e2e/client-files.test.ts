import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PATHS } from '../../src/operations/client-files.ts';
import { CALLABLE } from '../support/every-operation.ts';
import { TestServer } from '../support/http-server.ts';
import { TestProject, until } from '../support/project.ts';

const PRIVATE = 'what the user of the server keeps';
/** Inputs whose description speaks of files, and which make ACOR itself read and write none. */
const NO_PATHS: readonly string[] = [
  // A name or a path: a test below is about what is run by its path.
  'run.exec program',
  'run.start tool',
  // What a program may use in the sandbox: policy and grants decide.
  'run.exec args',
  'run.exec read',
  'run.exec write',
  'tool.learn read',
  'tool.learn write',
  // Names of agents, and words of a tool: of these, `--input-json @FILE` is checked below.
  'project.init agents',
  'policy.check args',
  // They choose among what a run has recorded.
  'run.apply paths',
  'run.undo paths',
  'run.artifact artifact',
  // Patterns below the project.
  'schedule.watch on',
];

let project: TestProject;
let server: TestServer;
let outside: string;
let file: string;

before(async () => {
  outside = mkdtempSync(join(tmpdir(), 'acor-outside-'));
  file = join(outside, 'private.json');
  writeFileSync(file, JSON.stringify({ text: PRIVATE }));
  project = new TestProject({ tools: ['asks', 'quick'] });
  project.write('tools/says/cli.sh', '#!/bin/sh\necho "$@"\n', 0o755);
  project.write('tools/says/tool.yaml', 'adapter: plain\ninputs: [{ name: text, type: string }]\n');
  project.write('inside.json', '{"text":"from the project"}');
  project.write('.acor/kept.json', '{"text":"settings"}');
  symlinkSync(file, project.path('link.json'));
  server = await TestServer.start(project, ['--http-allow', 'writes', '--http-allow', 'destroys']);
});
after(async () => {
  await server.stop();
  await project.supervisorsExited();
  project[Symbol.dispose]();
  rmSync(outside, { recursive: true });
});

/** The same file from a folder that does not exist. */
const up = (path: string) => (path.startsWith('/') ? `${'../'.repeat(30)}${path.slice(1)}` : `../${path}`);

describe('a client of a server', () => {
  it('may name a path only where ACOR checks it: every input that speaks of files is listed', async () => {
    const speaking: string[] = [];
    const existing: string[] = [];
    for (const { operation, load } of CALLABLE) {
      const { input } = await load();
      for (const [key, schema] of Object.entries(input.shape)) {
        existing.push(`${operation} ${key}`);
        const isText = /"type":"(?:string|array)"/.test(
          JSON.stringify(input.toJSONSchema({ io: 'input' }).properties?.[key]),
        );
        if (isText && /\b(?:file|folder|path)s?\b/i.test(schema.description ?? ''))
          speaking.push(`${operation} ${key}`);
      }
    }
    const listed = Object.entries(PATHS).flatMap(([name, keys]) => keys.map((key) => `${name} ${key}`));
    assert.deepEqual(
      speaking.filter((each) => !listed.includes(each) && !NO_PATHS.includes(each)),
      [],
    );
    assert.deepEqual(
      [...listed, ...NO_PATHS].filter((each) => !existing.includes(each)),
      [],
    );
  });

  it('cannot have the server read or write its own files, also through a link of the project', async () => {
    const { json } = await server.call('run.start', { tool: 'asks', detach: true });
    const run = String(json.data.run_id);
    await until(() => project.record(run)?.state === 'waiting_ai');
    for (const path of [file, 'link.json', '../x.json', '.acor/kept.json', `.runs/${run}/metadata.json`])
      for (const [operation, input] of [
        ['run.start', { tool: 'says', args: ['--input-json', `@${path}`] }],
        ['run.start', { tool: 'says', args: [`--input-json=@${path}`] }],
        // Also behind `--`: whether ACOR reads these words depends on the words before.
        ['run.start', { tool: 'says', args: ['--', '--input-json', `@${path}`] }],
        ['run.start', { tool: 'says', args: ['--text', '--', '--input-json', `@${path}`] }],
        ['run.start', { tool: 'says', args: ['--input-json', `@x y/${up(path)}`] }],
        ['run.start', { tool: 'says', args: ['--input-json', `@a'b/${up(path)}`] }],
        ['run.start', { tool: 'quick', answers: path }],
        ['run.start', { tool: 'quick', args: ['--answers', path] }],
        ['run.start', { tool: 'quick', args: ['--ANSWERS', path] }],
        ['run.start', { tool: 'quick', args: [`--answers=${path}`] }],
        ['schedule.add', { tool: 'quick', cron: '0 3 * * *', args: ['--answers', path] }],
        ['workflow.pipe', { stages: [`says --input-json @${path}`, 'says'] }],
        ['workflow.pipe', { stages: [`says '--input-json' '@x y/${up(path)}'`, 'says'] }],
        ['schedule.add', { tool: 'says', cron: '0 3 * * *', args: ['--input-json', `@${path}`] }],
        ['run.answer', { run, file: path }],
        ['secret.set', { name: 'TAKEN', file: path }],
        ['workflow.validate', { workflows: [path] }],
        ['project.validate', { junit: path }],
        ['compose.audit', { target: path }],
      ] as const) {
        const { status, json: answer } = await server.call(operation, input);
        assert.deepEqual([operation, answer.error?.code, status], [operation, 'E_PERMISSION', 403]);
        assert.ok(!JSON.stringify(answer).includes(PRIVATE), operation);
      }
    assert.equal(project.record(run)?.state, 'waiting_ai');
    assert.ok(!existsSync(project.path('..', 'x.json')));
    await server.call('run.cancel', { run, force: true });
  });

  it('runs no file from outside of the project or from a run, which would bring permissions of its own', async () => {
    const script = `#!/bin/bash\n# acor: adapter: plain\n# acor: permissions: { filesystem: { read: ['${file}'] } }\ncat '${file}'\n`;
    writeFileSync(join(outside, 'script.sh'), script, { mode: 0o755 });
    project.write('.runs/planted.sh', script, 0o755);
    project.write('in-project.sh', script, 0o755);
    for (const path of [join(outside, 'script.sh'), project.path('.runs/planted.sh'), '.runs/planted.sh'])
      for (const [operation, input] of [
        ['run.start', { tool: path }],
        ['run.start', { tool: `exec:${path}` }],
        ['tool.describe', { tool: path }],
        ['schedule.add', { tool: path, cron: '0 3 * * *' }],
        ['workflow.pipe', { stages: [path, 'says'] }],
        ['run.exec', { program: path, args: [file] }],
      ] as const) {
        const { status, json: answer } = await server.call(operation, input);
        assert.deepEqual([operation, answer.error?.code, status], [operation, 'E_PERMISSION', 403]);
        assert.ok(!JSON.stringify(answer).includes(PRIVATE), operation);
      }
    const own = await server.call('tool.describe', { tool: project.path('in-project.sh') });
    assert.equal(own.json.ok, true, JSON.stringify(own.json.error));
    const { json: refused } = await server.call('run.exec', { program: '/bin/echo' });
    assert.match(String(refused.error?.hint), /a program of the PATH, by its name alone/);
    // The control: the command line runs the script, with its permissions.
    const { error, data } = await project.envelope(['exec', '--no-stream', join(outside, 'script.sh')]);
    assert.match(JSON.stringify([error, data]), new RegExp(PRIVATE));
  });

  it('has the words of a workflow name no file', async () => {
    project.write(
      'workflows/reads.yaml',
      `steps: [{ name: a, tool: says, args: ['--input-json', '@${file}'] }]\n`,
    );
    const { json } = await server.call('workflow.run', { workflow: 'workflows/reads.yaml' });
    assert.equal(json.error?.code, 'E_WORKFLOW_INVALID', JSON.stringify(json));
    const { error } = await project.envelope(['workflow', 'validate', 'workflows/reads.yaml']);
    for (const answer of [json, error]) {
      assert.match(JSON.stringify(answer), /names no file: give the JSON object itself/);
      assert.ok(!JSON.stringify(answer).includes(PRIVATE));
    }
  });

  it('may name files of the project, and the words that are for a program alone', async () => {
    const inside = await server.call('run.start', { tool: 'says', args: ['--input-json', '@inside.json'] });
    assert.match(JSON.stringify(inside.json.data), /from the project/);
    const words = await server.call('run.exec', { program: 'echo', args: ['--input-json', `@${file}`] });
    assert.equal(words.json.ok, true, JSON.stringify(words.json.error));
  });

  it('on the command line is the user: every file can be named', async () => {
    const { data } = await project.envelope(['run', 'says', '--no-stream', '--input-json', `@${file}`]);
    assert.match(JSON.stringify(data), new RegExp(PRIVATE));
  });
});
