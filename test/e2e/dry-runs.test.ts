import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { ROUTES } from '../../src/operations/index.ts';
import { splitCommand } from '../../src/util/shell-words.ts';
import { parseLines, TestProject, until } from '../support/project.ts';

const SHELF = join(import.meta.dirname, '..', 'fixtures', 'codemod', 'shelf.mjs');

/**
 * They change nothing that lasts: two servers, a check of the installation in a folder of its own, and a plan. The commands of a wrapper have
 * dry runs of their own.
 */
const WITHOUT: readonly string[] = [
  'compose.call',
  'compose.plan',
  'http.serve',
  'mcp.serve',
  'system.self-test',
];

/** What a command needs to have something to change. */
interface Given {
  failed: string;
  retryable: string;
  ended: string;
  live: string;
  asks: string;
  flow: string;
  /** Has a layer that is not decided. */
  layered: string;
  /** Has a snapshot. */
  written: string;
}

/** They concern a layer, which needs a sandbox. */
const OF_A_LAYER: readonly string[] = ['apply', 'discard'];
const canMount = process.platform === 'linux' && (await bubblewrap.probe()).available;

const ARGUMENTS: Readonly<Record<string, (given: Given) => string[]>> = {
  adopt: () => ['sort'],
  'agents plugin': () => ['--output', 'plugin'],
  'agents remove': () => [],
  apply: ({ layered }) => [layered],
  answer: ({ asks }) => [asks, 'a-1', '--choice', 'slow'],
  approve: () => ['deploy'],
  cancel: ({ live }) => [live],
  clean: () => ['--keep', '0'],
  'compose audit': () => ['sort'],
  'compose codemod': () => [SHELF, '--output', 'agent'],
  'compose migrate': () => ['sort'],
  'config set': () => ['storage.keep', '5'],
  'config unset': () => ['environment.timeout_s'],
  discard: ({ layered }) => [layered],
  exec: () => ['true'],
  health: () => ['--fix'],
  'host stop': () => [],
  init: () => [],
  insights: () => [],
  learn: () => ['quick'],
  outbox: () => [],
  pipe: () => ['quick', 'takes_records'],
  replay: ({ ended }) => [ended, '--execute'],
  resume: ({ failed }) => [failed],
  retry: ({ retryable }) => [retryable],
  run: () => ['quick'],
  'runs rm': ({ ended }) => [ended],
  'schedule add': () => ['quick', '--cron', '0 3 * * *'],
  'schedule pause': () => ['nightly'],
  'schedule resume': () => ['paused'],
  'schedule rm': () => ['nightly'],
  'secret delete': () => ['API_TOKEN'],
  'secret set': () => ['API_TOKEN', '--file', 'token'],
  task: () => ['t-1', 'do it'],
  template: () => ['bash', '--name', 'fresh'],
  trust: () => [],
  undo: ({ written }) => [written],
  upgrade: () => [],
  validate: () => ['--fix'],
  watch: () => ['quick', '--on', 'site/**'],
  'workflow resume': ({ flow }) => [flow, '--from', 'a'],
  'workflow run': () => ['flow'],
  'workflow template': () => ['--name', 'fresh'],
};

const CHANGING = (await Promise.all(ROUTES.map(async (route) => ({ ...route, op: await route.load() }))))
  .filter(({ hidden, op }) => !hidden && op.effect !== 'reads' && !WITHOUT.includes(op.name))
  .map(({ command }) => command);

describe('every command that changes something', () => {
  let project: TestProject;
  let given: Given;
  before(async () => {
    project = new TestProject({
      tools: ['quick', 'asks', 'heeds_cancel'],
      config:
        "version: 1\nproject: { tools_dir: tools/ }\nenvironment: { cancel_grace_s: 0.3, timeout_s: 60 }\nsecurity: { isolation: 'off' }\ntask: { executor: { command: [sh, agent.sh] } }\n",
    });
    project.write('agent.sh', 'echo done\n');
    project.write('token', 'a-secret-of-many-bytes\n', 0o600);
    project.write('workflows/flow.yaml', 'steps: [{ name: a, tool: quick }]\n');
    project.write(
      'workflows/takes.yaml',
      'inputs: { date: {}, timeout: {} }\nsteps: [{ name: a, tool: quick }]\n',
    );
    project.write(
      'tools/takes_records/tool.yaml',
      'version: 1.0.0\ncommand: [cat]\nadapter: plain\nstdin: records\n',
    );
    project.write('tools/deploy/cli.sh', '#!/bin/sh\n', 0o755);
    project.write(
      'tools/deploy/tool.yaml',
      'name: deploy\nversion: 1.0.0\npermissions: { level: privileged }\n',
    );
    project.write('tools/fails/cli.sh', '#!/bin/sh\ntouch "$CHECKPOINT_DIR/half.json"; exit 30\n', 0o755);
    await project.acor(['secret', 'set', 'API_TOKEN', '--file', 'token']);
    project.write('site/a.txt', 'one\n');
    project.write(
      'tools/writes/tool.yaml',
      'name: writes\nversion: 1.0.0\npermissions: { filesystem: { write: [site] } }\n',
    );
    project.write('tools/writes/cli.sh', `#!/bin/sh\necho two > '${project.path('site/a.txt')}'\n`, 0o755);
    const idOf = async (...args: string[]) => {
      const { stdout } = await project.acor([...args, '--stream']);
      return String(parseLines(stdout)[0]!.run_id);
    };
    const detached = async (tool: string, state: string) => {
      const { data } = await project.envelope(['run', tool, '--detach']);
      await until(() => project.record(data.run_id)?.state === state);
      return String(data.run_id);
    };
    const layeredRun = async () => {
      const { stdout } = await project.acor(['run', '--review', 'writes', '--stream'], {
        env: { ACOR_SECURITY_ISOLATION: 'preferred' },
      });
      return String(parseLines(stdout)[0]!.run_id);
    };
    given = {
      failed: await idOf('run', 'fails'),
      retryable: await idOf('run', 'fails'),
      ended: await idOf('run', 'quick'),
      flow: await idOf('workflow', 'run', 'flow'),
      layered: canMount ? await layeredRun() : '',
      written: await idOf('run', '--snapshot', 'writes'),
      live: await detached('heeds_cancel', 'running'),
      asks: await detached('asks', 'waiting_ai'),
    };
    for (const name of ['nightly', 'paused'])
      await project.acor(['schedule', 'add', 'quick', '--cron', '0 3 * * *', '--name', name]);
    await project.acor(['schedule', 'pause', 'paused']);
    await project.acor(['runs']);
  });
  after(async () => {
    for (const run of [given.live, given.asks]) await project.acor(['cancel', run]);
    await project.supervisorsExited();
    project[Symbol.dispose]();
  });

  /** Every file of the project and the user, without the log of the live run, leases that are renewed, the index and caches. */
  function tree(): Record<string, string> {
    const found: Record<string, string> = {};
    const walk = (folder: string) => {
      for (const name of readdirSync(folder).sort()) {
        const path = join(folder, name);
        const changes = [join('.runs', given.live), join('.runs', 'leases'), join('.runs', 'cache'), 'cache'];
        if (name.startsWith('index.sqlite') || changes.some((each) => path === project.path(each))) continue;
        const stats = lstatSync(path);
        if (stats.isDirectory()) {
          found[path] = 'folder';
          walk(path);
        } else if (stats.isSymbolicLink()) found[path] = readlinkSync(path);
        else if (stats.isFile())
          found[path] = `${stats.mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
      }
    };
    walk(project.root);
    return found;
  }

  for (const command of CHANGING) {
    const skip = OF_A_LAYER.includes(command) && !canMount && 'no sandbox here can mount a layer';
    it(`'${command} --dry-run' says what it would do, and changes nothing`, { skip }, async () => {
      const args = ARGUMENTS[command];
      assert.ok(args !== undefined, `give ARGUMENTS in this file an entry for '${command}'`);
      const before = tree();
      const { ok, data, error } = await project.envelope(
        [...command.split(' '), '--dry-run', ...args(given)],
        {
          env: { XDG_CACHE_HOME: project.path('cache') },
        },
      );
      assert.ok(ok, JSON.stringify(error));
      assert.ok(Object.keys(data).length > 0);
      assert.deepEqual(tree(), before);
    });
  }

  it('resume and retry show the next attempt, and the command that starts it', async () => {
    const resume = await project.envelope(['resume', given.failed, '--dry-run', '--timeout', '9']);
    assert.deepEqual(
      [resume.data.mode, resume.data.attempt, resume.data.timeout_s, resume.data.checkpoints],
      ['resume', 2, 9, ['half.json']],
    );
    assert.deepEqual(resume.meta.next, [`acor resume ${given.failed} --timeout 9`]);
    const all = ['--timeout', '9', '--no-stream', '--detach', '--answer', 'choose=left'];
    const asked = await project.envelope(['resume', given.failed, '--dry-run', ...all]);
    const command = asked.meta.next[0].split(' ');
    assert.deepEqual(
      [command.length, ...command.slice(0, 3)],
      [all.length + 3, 'acor', 'resume', given.failed],
    );
    for (const word of all) assert.ok(command.includes(word), word);
    const retry = await project.envelope(['retry', given.failed, '--dry-run']);
    assert.deepEqual([retry.data.mode, retry.data.checkpoints], ['retry', []]);
    const flow = await project.envelope(['workflow', 'resume', given.flow, '--from', 'a', '--dry-run']);
    assert.deepEqual(flow.data.steps_again, ['a']);
    assert.deepEqual([flow.data.steps_to_run, flow.data.steps_kept], [['a'], []]);
    assert.deepEqual(flow.meta.next, [`acor workflow resume ${given.flow} --from a`]);
    const done = await project.envelope(['resume', given.ended, '--dry-run']);
    assert.equal(done.error.code, 'E_USAGE');
  });

  for (const [command, ...call] of [
    ['workflow run', 'takes', '--date', '1 May'],
    ['workflow run', 'takes', '--', '--timeout', '5', '--date=x'],
    ['pipe', 'quick', "takes_records 'a b'"],
    ['run', 'quick', '--', '--timeout', '5'],
  ] as const)
    it(`${command} shows the command with every option of '${call.join(' ')}'`, async () => {
      const options = [
        '--timeout',
        '9',
        '--no-stream',
        '--detach',
        '--answer',
        'a=b',
        '--idempotency-key',
        'k',
      ];
      const dryRun = [...command.split(' '), '--dry-run'];
      const { meta, data } = await project.envelope([...dryRun, ...options, ...call]);
      const [name, ...words] = splitCommand(meta.next[0])!;
      assert.equal(name, 'acor');
      for (const word of options) assert.ok(words.includes(word), `${word} of ${meta.next[0]}`);
      const again = await project.envelope([...dryRun, ...words.slice(dryRun.length - 1)]);
      assert.deepEqual([again.data, again.meta.next], [data, meta.next]);
    });

  it('answer checks the answer as it would be given', async () => {
    const wrong = await project.envelope(['answer', given.asks, '--choice', 'none', '--dry-run']);
    assert.equal(wrong.error.code, 'E_BAD_ANSWER');
    const right = await project.envelope(['answer', given.asks, '--choice', 'slow', '--dry-run']);
    assert.deepEqual([right.data?.answer, right.data?.dry_run], ['slow', true], JSON.stringify(right));
    assert.equal(project.record(given.asks)?.state, 'waiting_ai');
  });

  it('approve shows what a person would be asked, and the exceptions change nothing that lasts', async () => {
    const { data } = await project.envelope(['approve', 'deploy', '--dry-run']);
    assert.deepEqual([data.approvals[0].tool, data.approvals[0].state], ['deploy', 'missing']);
    const names = ROUTES.map(({ operation }) => operation as string);
    for (const name of WITHOUT) assert.ok(names.includes(name), name);
  });
});
