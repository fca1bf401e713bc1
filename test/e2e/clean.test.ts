import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Ledger } from '../../src/core/store-files/ledger.ts';
import { cloneRuns } from '../support/cloned-runs.ts';
import { ACOR, TestProject } from '../support/project.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.ACOR_TEST_SEED ?? Date.now() % 2 ** 31);
const RUNS = 400;
const MAX_KILLS = 12;
const LONGEST_MS = 400;

describe(`clean (seed ${SEED})`, () => {
  let project: TestProject;
  before(async () => {
    project = new TestProject({ tools: ['quick', 'waits'] });
    await project.run(['quick']);
  });
  after(() => project[Symbol.dispose]());

  const runsThere = () => readdirSync(project.runsDir).filter((name) => name.startsWith('r-'));
  const cleaned = () =>
    new Set(
      new Ledger(project.runsDir)
        .lines()
        .map((line) => JSON.parse(line))
        .flatMap(({ type, run_id }) => (type === 'cleaned' ? [run_id] : [])),
    );

  it('of named runs removes those that have ended, and says why each of the others stays', async () => {
    using named = new TestProject({ tools: ['quick', 'waits'] });
    await named.run(['quick']);
    await named.run(['quick']);
    const [first, second] = named.runIds();
    const unknown = 'r-1m00000000000000';
    const running = named.start(['run', 'waits']);
    const live = String((await running.event('start')).run_id);
    const all = ['runs', 'rm', first!, live, unknown, second!, first!];
    for (const args of [[...all, '--dry-run'], all]) {
      const { code, data, meta } = await named.envelope(args);
      assert.equal(code, 0);
      assert.deepEqual(data.removed.toSorted(), [first, second]);
      assert.deepEqual(
        data.skipped.map(({ run_id, reason }: { run_id: string; reason: string }) => [
          run_id,
          /(has not ended|not found)/.exec(reason)?.[0],
        ]),
        [
          [unknown, 'not found'],
          [live, 'has not ended'],
        ],
      );
      assert.ok(meta.next.length > 0);
    }
    assert.deepEqual(named.runIds(), [live]);
    const none = await named.envelope(['runs', 'rm', live, '--input-json', `{"more":["${first}"]}`]);
    assert.deepEqual([none.code, none.error.details.skipped.length], [1, 2]);
    assert.equal((await named.envelope(['runs', 'rm', live])).error.code, 'E_USAGE');
    await named.acor(['cancel', live]);
    await running.finished;
    const shown = await named.acor(['runs', 'rm', 'last', unknown, '--format', 'text']);
    assert.match(shown.stdout, new RegExp(`^1 run removed\\n  ${live}\\nleft as they are:\\n`));
  });

  it('names 100 of the runs that go, and counts all of them', async () => {
    using many = new TestProject({ tools: ['quick'] });
    await many.run(['quick']);
    await cloneRuns(many.runsDir, 120);
    const preview = await many.envelope(['clean', '--keep', '0', '--dry-run']);
    assert.deepEqual(preview.data.counts, { removed: 121, packed: 0, skipped: 0 });
    assert.deepEqual([preview.data.removed.length, preview.meta.total], [100, 121]);
    const shown = await many.acor(['clean', '--keep', '0', '--format', 'text']);
    assert.match(shown.stdout, /^121 runs removed\n[\s\S]*\n {2}and 101 more\n0 runs kept\n/);
  });

  it('keeps as many runs as the rule says, whatever else has a name like theirs', async () => {
    using few = new TestProject({ tools: ['quick'] });
    for (let n = 0; n < 3; n++) await few.run(['quick']);
    const [oldest, middle, newest] = few.runIds();
    few.write('.runs/r-zzzzzzzzzzzzzzzz/notes.txt', 'not a run');
    few.write('.runs/r-zzzzzzzzzzzzzzzy/metadata.json', '{ damaged');
    renameSync(join(few.runsDir, middle!), join(few.runsDir, 'r-strange'));
    for (const flags of [['--dry-run'], []]) {
      const { data } = await few.envelope(['clean', '--keep', '1', ...flags]);
      assert.deepEqual([data.removed, data.kept], [[oldest], 3]);
    }
    assert.ok(existsSync(join(few.runsDir, newest!)));
  });

  it('killed at any moment, leaves every run either unchanged, or removed and recorded as cleaned', async () => {
    const random = new SeededRandom(SEED);
    await cloneRuns(project.runsDir, RUNS, { isWhole: true });
    const all = runsThere();
    for (let kill = 0; kill < MAX_KILLS && runsThere().length > 1; kill++) {
      const child = spawn(ACOR, ['clean', '--keep', '1'], { cwd: project.root, stdio: 'ignore' });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      setTimeout(() => child.kill(kill % 3 === 0 ? 'SIGTERM' : 'SIGKILL'), random.below(LONGEST_MS));
      await ended;
      const there = new Set(runsThere());
      const entered = cleaned();
      for (const runId of all) {
        assert.ok(there.has(runId) || entered.has(runId), `${runId} is gone without an entry`);
        if (there.has(runId)) assert.ok(existsSync(join(project.runsDir, runId, 'events.jsonl')), runId);
      }
      const { code, error } = await project.envelope(['verify']);
      assert.equal(code, 0, JSON.stringify(error));
    }
    const { data } = await project.envelope(['clean', '--keep', '1']);
    assert.equal(data.kept, 1);
    assert.equal(runsThere().length, 1);
    assert.deepEqual(readdirSync(join(project.runsDir, 'removed')), []);
    assert.equal((await project.envelope(['verify'])).code, 0);
  });

  it('in two processes at once removes each run once', async () => {
    await cloneRuns(project.runsDir, 60, { isWhole: true });
    const [one, other] = await Promise.all([
      project.envelope(['clean', '--keep', '0']),
      project.envelope(['clean', '--keep', '0']),
    ]);
    assert.deepEqual([one.error, other.error], [undefined, undefined]);
    const removed = [...one.data.removed, ...other.data.removed];
    assert.equal(new Set(removed).size, removed.length);
    assert.deepEqual(runsThere(), []);
    assert.equal((await project.envelope(['verify'])).code, 0);
  });

  it('never removes a live run, and frees the key of a removed run', async () => {
    const running = project.start(['run', 'waits']);
    const live = String((await running.event('heartbeat')).run_id);
    await project.acor(['run', 'quick', '--idempotency-key', 'k']);
    const { data } = await project.envelope(['clean', '--keep', '0']);
    assert.equal(data.removed.length, 1);
    assert.deepEqual(runsThere(), [live]);
    assert.deepEqual(
      readdirSync(join(project.runsDir, 'keys')).filter((name) => name.endsWith('.json')),
      [],
    );
    running.child.kill('SIGINT');
    await running.finished;
    assert.match(readFileSync(join(project.runsDir, live, 'metadata.json'), 'utf8'), /"state":"cancelled"/);
  });
});
