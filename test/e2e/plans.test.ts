import assert from 'node:assert/strict';
import { appendFileSync, cpSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const APPEND = ['appends', '--folder', 'traces'];

function project(requirePlan: string): TestProject {
  const made = new TestProject({
    tools: ['appends', 'reads_file', 'quick'],
    config: `version: 1\nsecurity: { require_plan: ${requirePlan} }\n`,
  });
  mkdirSync(made.path('traces'));
  writeWithOldTime(made, 'as shown');
  return made;
}

/** Writes a file that a look at size and time takes for the same. */
function writeWithOldTime(made: TestProject, text: string): void {
  writeFileSync(made.path('traces', 'before'), text);
  utimesSync(made.path('traces', 'before'), 1_000_000, 1_000_000);
}

async function tokenOf(made: TestProject, args: readonly string[]): Promise<string> {
  const { ok, data } = await made.envelope(['run', '--dry-run', ...args]);
  assert.equal(ok, true);
  return data.token;
}

describe('the plan of a tool that writes', () => {
  it('has a token, and the answer has the command that runs exactly what was shown', async () => {
    using made = project('writes');
    const shown = await made.envelope(['run', '--dry-run', '--timeout', '9', ...APPEND]);
    assert.match(shown.data.token, /^plan-[0-9a-f]{32}$/);
    assert.equal(existsSync(made.path('.runs', 'queue')), false);
    const [command] = shown.meta.next;
    assert.equal(command, `acor run --plan ${shown.data.token} --timeout 9 appends --folder traces`);
    const { end } = await made.run(command.split(' ').slice(2));
    assert.equal(end.state, 'completed');
  });

  it('is run by a command with every option of the dry run', async () => {
    using made = project('never');
    made.write('answers.yaml', 'choose: left\n');
    for (const [options, args] of [
      ['--idempotency-key k1 --detach', 'quick'],
      ['--timeout 77 --retries 2 --no-stream --answer choose=left --exit-code tool', 'quick'],
      ['--answers answers.yaml --snapshot --idempotency-key k2', 'quick'],
      ['--review --ci --detach', 'quick'],
    ] as const) {
      const words = [...options.split(' '), args];
      const { meta } = await made.envelope(['run', '--dry-run', ...words]);
      const [, token] = /^acor run --plan (plan-[0-9a-f]{32}) /.exec(meta.next[0]) ?? [];
      const again = await made.envelope(['run', '--dry-run', ...meta.next[0].split(' ').slice(2)]);
      assert.deepEqual([again.meta.next, again.data.token], [meta.next, token]);
      for (const word of words)
        assert.ok(meta.next[0].split(' ').includes(word), `${word} of ${meta.next[0]}`);
    }
    const program = await made.envelope(['exec', '--idempotency-key', 'k3', '--detach', '--dry-run', 'true']);
    assert.match(program.meta.next[0], /--idempotency-key k3 .*--detach|--detach .*--idempotency-key k3/);
  });

  it('is required when the project says so, and without it nothing starts', async () => {
    using made = project('writes');
    const refused = await made.envelope(['run', ...APPEND]);
    assert.deepEqual([refused.code, refused.error.code], [2, 'E_POLICY_DENIED']);
    assert.match(refused.error.hint, /--dry-run/);
    assert.deepEqual(refused.meta.next, ['acor run --dry-run appends --folder traces']);
    const options = ['--idempotency-key', 'k1', '--timeout', '9'];
    for (const token of [[], ['--plan', 'plan-of-another-call']]) {
      const { error, meta } = await made.envelope(['run', ...options, ...token, ...APPEND]);
      assert.equal(error.code, 'E_POLICY_DENIED');
      assert.deepEqual(meta.next, [
        'acor run --timeout 9 --idempotency-key k1 --dry-run appends --folder traces',
      ]);
    }
    assert.deepEqual(made.runIds(), []);
    // A tool that declares no effects may have any.
    assert.equal((await made.envelope(['run', 'quick'])).error.code, 'E_POLICY_DENIED');
  });

  it('is not required for a tool that destroys nothing, where only destroying tools need one, nor by default', async () => {
    using destroys = project('destroys');
    assert.equal((await destroys.run(APPEND)).end.state, 'completed');
    using never = project('never');
    assert.equal((await never.run(APPEND)).end.state, 'completed');
  });

  it('is the same in two dry runs', async () => {
    using made = project('writes');
    assert.equal(await tokenOf(made, APPEND), await tokenOf(made, APPEND));
  });

  const changes: [string, (made: TestProject) => readonly string[] | undefined][] = [
    ['other arguments', () => [...APPEND, '--then', 'stays']],
    [
      'another program',
      (made) => {
        appendFileSync(made.path('tools', 'appends', 'cli.sh'), '# changed\n');
      },
    ],
    [
      'another manifest',
      (made) => {
        appendFileSync(made.path('tools', 'appends', 'tool.yaml'), 'timeout_s: 5\n');
      },
    ],
    [
      'other content of the same size and time in a granted folder',
      (made) => void writeWithOldTime(made, 'changed.'),
    ],
    ['a new file in a granted folder', (made) => void made.write('traces/more', '')],
    ['a module beside the entry', (made) => void made.write('tools/appends/helper.sh', ':\n')],
    [
      'the loss of its isolation',
      (made) => void made.write('.acor/config.yaml', "version: 1\nsecurity: { isolation: 'off' }\n"),
    ],
    [
      'a target that is no longer what it was',
      (made) => {
        rmSync(made.path('traces'), { recursive: true });
        writeFileSync(made.path('traces'), 'a file');
      },
    ],
  ];
  for (const [what, change] of changes) {
    it(`is stale after ${what}, and rejected, whether one is required or not`, async () => {
      for (const policy of ['writes', 'never']) {
        using made = project(policy);
        const token = await tokenOf(made, APPEND);
        const args = change(made) ?? APPEND;
        const refused = await made.envelope(['run', '--plan', token, ...args]);
        assert.deepEqual([refused.code, refused.error.code], [2, 'E_POLICY_DENIED']);
        assert.match(refused.error.message, /is stale/);
        assert.deepEqual(made.runIds(), []);
      }
    });
  }

  for (const mode of ['retry', 'resume']) {
    it(`holds for the ${mode} of its run, which must execute what was shown`, async () => {
      using made = project('writes');
      made.write(
        'tools/fails/tool.yaml',
        'name: fails\nversion: 1.0.0\neffects: destroys\nidempotent: true\n',
      );
      made.write('tools/fails/cli.sh', '#!/bin/sh\nexit 20\n', 0o755);
      const failed = await made.run(['--plan', await tokenOf(made, ['fails']), 'fails']);
      const run = failed.end.run_id as string;
      // The control: the same is tried again.
      const again = await made.envelope([mode, run, '--no-stream']);
      assert.notEqual(again.error.code, 'E_POLICY_DENIED', JSON.stringify(again));
      assert.equal(again.error.details.attempt, 2);
      made.write('tools/fails/cli.sh', '#!/bin/sh\ntouch ran\nexit 0\n', 0o755);
      for (const more of [[], ['--dry-run'], ['--detach']]) {
        const refused = await made.envelope([mode, run, ...more]);
        assert.deepEqual([refused.code, refused.error?.code], [2, 'E_POLICY_DENIED']);
        assert.match(refused.error.message, /is stale/);
        assert.deepEqual(refused.meta.next, ['acor run --dry-run fails']);
      }
      assert.equal(existsSync(made.path('.runs', run, 'work', 'ran')), false);
      const next = await made.run(['--plan', await tokenOf(made, ['fails']), 'fails']);
      assert.equal(next.end.state, 'completed');
    });
  }

  it('is required for the retry of a run that had none', async () => {
    using made = project('never');
    made.write('tools/fails/tool.yaml', 'name: fails\nversion: 1.0.0\neffects: destroys\nidempotent: true\n');
    made.write('tools/fails/cli.sh', '#!/bin/sh\nexit 20\n', 0o755);
    const { end } = await made.run(['fails']);
    made.write('.acor/config.yaml', 'version: 1\nsecurity: { require_plan: destroys }\n');
    const refused = await made.envelope(['retry', String(end.run_id)]);
    assert.equal(refused.error?.code, 'E_POLICY_DENIED');
    assert.match(refused.error.message, /needs the token of a plan/);
  });

  it('is stale for a target of its output in another folder: the argument is a path in the folder of the run', async () => {
    using made = new TestProject({
      tools: ['writes_output'],
      config: 'version: 1\nsecurity: { require_plan: writes }\n',
    });
    for (const folder of ['shown', 'other']) mkdirSync(made.path(folder));
    const call = (output: string) => ['writes_output', '--output', output];
    const token = await tokenOf(made, call('shown/out.txt'));
    const refused = await made.envelope(['run', '--plan', token, ...call('other/out.txt')]);
    assert.deepEqual([refused.code, refused.error?.code], [2, 'E_POLICY_DENIED']);
    assert.match(refused.error.message, /is stale/);
    const { end } = await made.run(['--plan', token, ...call('shown/out.txt')]);
    assert.equal(end.state, 'completed');
    assert.equal(existsSync(made.path('shown/out.txt')), true);
  });

  it('is stale after a change of the interpreter in the first line of its entry', async () => {
    using made = project('destroys');
    const interpreter = (program: string) => cpSync(program, made.path('bin', 'interp'));
    mkdirSync(made.path('bin'));
    interpreter('/bin/cat');
    made.write('tools/removes/cli', `#!${made.path('bin', 'interp')}\n`, 0o755);
    made.write('tools/removes/tool.yaml', 'name: removes\neffects: destroys\n');
    const token = await tokenOf(made, ['removes']);
    assert.equal(await tokenOf(made, ['removes']), token, 'the control');
    interpreter('/bin/tac');
    assert.notEqual(await tokenOf(made, ['removes']), token);
    const { error } = await made.envelope(['run', '--plan', token, 'removes']);
    assert.equal(error.code, 'E_POLICY_DENIED');
    assert.match(error.message, /is stale/);
  });

  it('does not read the base system, so that a grant of it takes nothing from the comparison of the others', async () => {
    using made = new TestProject({ config: 'version: 1\ntask: { executor: { command: [sh, agent.sh] } }\n' });
    const agent = made.path('agent.sh');
    const write = (text: string) => {
      writeFileSync(agent, text);
      utimesSync(agent, 1_000_000, 1_000_000);
    };
    write('echo as shown\n');
    const call = ['task', 't-1', 'do it', '--dry-run'];
    const { data } = await made.envelope(call);
    assert.ok(data.grants.some(({ path }: { path: string }) => path === '/usr' || path === '/bin'));
    assert.deepEqual(data.compared_by_size, []);
    write('echo changed.\n');
    assert.notEqual((await made.envelope(call)).data.token, data.token);
  });
});
