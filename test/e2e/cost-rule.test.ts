import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cloneRuns } from '../support/cloned-runs.ts';
import { ACOR, TestProject } from '../support/project.ts';

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;
const needsStrace = canTrace ? {} : { skip: 'needs strace' };
const RUNS = 300;
const SHOWN = 5;
/** So many listed runs are compared with their seals. */
const COMPARED = 100;
const MOST_INODES = 5;

describe('in a store of many runs', needsStrace, () => {
  let project: TestProject;
  let runId: string;
  before(async () => {
    project = new TestProject({ tools: ['quick', 'exits_with'] });
    runId = String((await project.run(['quick'])).end.run_id);
    await cloneRuns(project.runsDir, RUNS);
    await project.acor(['runs', '--limit', '1']);
  });
  after(() => project[Symbol.dispose]());

  /** The runs of which a command looks at any file, those whose logs it opens, and whether it lists the store. */
  function touchedBy(args: readonly string[]): {
    runs: Set<string>;
    logs: Set<string>;
    listsStore: boolean;
    stdout: string;
  } {
    const trace = project.path('trace');
    const { stdout } = spawnSync(
      'strace',
      ['-f', '-qq', '-o', trace, '-s', '400', '-e', 'trace=%file', ACOR, ...args],
      { cwd: project.root, env: project.environment(), encoding: 'utf8' },
    );
    assert.match(stdout, /"ok":true/, stdout);
    const calls = readFileSync(trace, 'utf8');
    const runs = new Set([...calls.matchAll(/\.runs\/(r-[0-9a-z]{16})[/"]/g)].map((match) => match[1]!));
    const logs = new Set([...calls.matchAll(/(r-[0-9a-z]{16})\/events\.jsonl"/g)].map((match) => match[1]!));
    // A folder that is opened by O_PATH cannot be listed.
    const listsStore = /openat\(.*\/\.runs\/?", (?![^)]*O_PATH)[^)]*O_DIRECTORY/.test(calls);
    return { runs, logs, listsStore, stdout };
  }

  for (const [args, atMost] of [
    [['runs', '--limit', String(SHOWN)], SHOWN],
    [['runs', '--limit', String(SHOWN), '--tool', 'quick', '--state', 'completed'], SHOWN],
    [['runs', '--limit', String(SHOWN), '--text', 'no such text'], 0],
    [['decisions'], 0],
    [['decisions', '--open'], 0],
    [['cost'], 0],
    [['metrics', '--json'], 0],
    [['show', 'RUN'], 1],
    [['logs', 'RUN', '--since', '2'], 1],
    [['decisions', 'RUN'], 1],
    [['verify', 'RUN'], 1],
    [['show', 'last'], 1],
    [['artifacts', 'RUN'], 1],
    [['wait', 'RUN'], 1],
    [['diff', 'RUN'], 1],
    // With the id that the new run would have.
    [['replay', 'RUN', '--execute', '--dry-run'], 2],
    [['run', 'quick', '--no-stream'], 1],
    [['run', 'quick', '--no-stream', '--idempotency-key', 'k'], 1],
    [['exec', '--no-stream', '--', 'true'], 1],
  ] as const)
    it(`acor ${args.join(' ')} looks at ${atMost} of them at most`, () => {
      const { runs, listsStore } = touchedBy(args.map((arg) => (arg === 'RUN' ? runId : arg)));
      assert.ok(runs.size <= atMost, [...runs].join(' '));
      assert.equal(listsStore, false);
    });

  it('acor runs lists the newest 100 of them, and leads to the next ones', async () => {
    const { data, meta } = await project.envelope(['runs']);
    assert.equal(data.runs.length, 100);
    assert.equal(meta.total > RUNS, true);
    assert.equal(meta.hasMore, true);
    assert.equal(meta.next[0], 'acor runs --offset 100');
    const next = await project.envelope(['runs', '--offset', '100']);
    assert.equal(next.data.runs[0].run_id < data.runs[99].run_id, true);
    const all = await project.envelope(['runs', '--max-tokens', '1000000']);
    assert.equal(all.data.runs.length, meta.total);
  });

  it(`acor runs with a larger limit reads the logs of ${COMPARED} of them at most, and says so`, () => {
    const { logs, stdout } = touchedBy(['runs', '--limit', '100000']);
    assert.equal(logs.size, COMPARED);
    const { data, meta } = JSON.parse(stdout);
    assert.ok(data.runs.length > RUNS);
    assert.match(String(meta.warnings), /only the first 100 ended runs/);
  });
});

describe('the folder of a run that has ended', () => {
  it('takes five inodes at most for a trivial run, and holds no empty folder', async () => {
    using project = new TestProject({ tools: ['quick', 'exits_with'] });
    for (const args of [['quick'], ['exits_with', '3']]) {
      const { end } = await project.run(args);
      const folder = join(project.runsDir, String(end.run_id));
      const inside = readdirSync(folder, { recursive: true, withFileTypes: true });
      assert.ok(inside.length + 1 <= MOST_INODES, inside.map(({ name }) => name).join(' '));
      for (const each of inside)
        if (each.isDirectory()) assert.notDeepEqual(readdirSync(join(each.parentPath, each.name)), []);
    }
  });
});
