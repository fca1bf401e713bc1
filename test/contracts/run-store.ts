import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readEvents } from '../../src/core/store-files/follow.ts';
import type { NewRun, RunStore } from '../../src/core/store-files/run-store.ts';
import { newRunId } from '../../src/util/ids.ts';
import { identify } from '../../src/util/process-table.ts';

/** What every store of runs must hold to. `open` gives the same store as another process would open it. */
export function runStoreContract(name: string, open: () => RunStore): void {
  describe(`the run store '${name}'`, () => {
    it('keeps the record of a run, and shows each change to every reader', () => {
      const run = newRun();
      const writer = open().create(run);
      assert.equal(open().read(run.run_id).state, 'queued');
      writer.update({ state: 'running' });
      assert.equal(open().read(run.run_id).state, 'running');
      writer.close();
    });

    it('lists its runs, the oldest first', () => {
      const runs = [newRun(3), newRun(1), newRun(2)];
      for (const run of runs) open().create(run).close();
      const ids = runs.map(({ run_id }) => run_id);
      assert.deepEqual(
        open()
          .list()
          .filter((id) => ids.includes(id)),
        [...ids].sort(),
      );
    });

    it('does not know a run that was never made, and takes no path for an id', () => {
      assert.throws(() => open().read('r-0000000000000000'), { code: 'E_RUN_NOT_FOUND' });
      for (const id of ['../x', 'r-../x', '/etc', '', 'r-', 'r-A', 'x-1', 'r-1/2', 'r-1\0']) {
        assert.throws(() => open().layout(id), { code: 'E_RUN_NOT_FOUND' }, id);
      }
    });

    it('does not make a run twice', () => {
      const run = newRun();
      const writer = open().create(run);
      writer.log.append({ type: 'log', msg: 'kept' });
      writer.log.flush();
      assert.throws(() => open().create(run), { code: 'E_STORAGE' });
      assert.match(readFileSync(writer.layout.events, 'utf8'), /kept/);
      writer.close();
    });

    it('makes one run for a key, of all that ask at once, and names it to the others', async () => {
      const runs = Array.from({ length: 8 }, () => newRun());
      const keyed = { key: `key of ${runs[0]!.run_id}`, call: 'a' };
      assert.equal(open().runOfKey(keyed), undefined);
      const made = await Promise.all(runs.map((run) => open().createOnce(run, keyed)));
      const writers = made.filter((each) => typeof each !== 'string');
      assert.equal(writers.length, 1);
      const { run_id } = writers[0]!.record;
      for (const each of made) if (typeof each === 'string') assert.equal(each, run_id);
      assert.equal(open().runOfKey(keyed), run_id);
      assert.throws(() => open().runOfKey({ ...keyed, call: 'b' }), { code: 'E_USAGE' });
      await assert.rejects(open().createOnce(newRun(), { ...keyed, call: 'b' }), { code: 'E_USAGE' });
      await open().forgetKey(keyed.key, 'r-another');
      assert.equal(open().runOfKey(keyed), run_id);
      await open().forgetKey(keyed.key, run_id);
      assert.equal(open().runOfKey(keyed), undefined);
      writers[0]!.close();
    });

    it('hands a run over to the next epoch, and refuses the writes of the one before', async () => {
      const run = newRun();
      const first = open().create(run);
      first.log.append({ type: 'log', msg: 'one' });
      first.log.flush();
      const second = open().takeOver(run.run_id);
      assert.equal(second.epoch, first.epoch + 1);
      first.log.append({ type: 'log', msg: 'from the dead' });
      assert.throws(() => first.log.flush(), { code: 'E_STORAGE' });
      assert.throws(() => first.update({ state: 'cancelled' }), { code: 'E_STORAGE' });
      assert.equal(open().read(run.run_id).state, 'queued');
      second.log.append({ type: 'log', msg: 'two' });
      second.log.flush();
      const seen: unknown[] = [];
      for await (const { seq, msg } of readEvents(second.layout.events, { wait: false }))
        seen.push([seq, msg]);
      assert.deepEqual(seen, [
        [1, 'one'],
        [2, 'two'],
      ]);
      first.close();
      second.close();
    });

    it('gives an epoch to one of those who want it, not to two', () => {
      const run = newRun();
      open().create(run).close();
      open().takeOver(run.run_id);
      const stale = open();
      stale.read = () => ({ ...open().read(run.run_id), epoch: 1 });
      assert.throws(() => stale.takeOver(run.run_id), { code: 'E_STORAGE' });
    });

    it('gives readers every event once, from any seq on, while it is being written', async () => {
      const run = newRun();
      const writer = open().create(run);
      const total = 500;
      const readers = [0, 1, 250, 499].map(async (since) => {
        const seqs: number[] = [];
        for await (const event of readEvents(writer.layout.events, { since, wait: true }))
          seqs.push(Number(event.seq));
        return seqs;
      });
      for (let i = 1; i < total; i++) {
        writer.log.append({ type: 'log', msg: 'x'.repeat(i) });
        writer.log.flush();
        if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      writer.log.append({ type: 'runner_end' });
      writer.log.sync();
      const [all, ...rest] = await Promise.all(readers);
      assert.deepEqual(
        all,
        Array.from({ length: total }, (_, i) => i + 1),
      );
      assert.deepEqual(
        rest.map((seqs) => [seqs[0], seqs.length]),
        [
          [2, 499],
          [251, 250],
          [500, 1],
        ],
      );
      writer.close();
    });

    it('leaves nothing but the run when it is closed', () => {
      const run = newRun();
      const writer = open().create(run);
      assert.equal(existsSync(`${writer.layout.control}/reserve`), true);
      writer.close();
      assert.equal(existsSync(`${writer.layout.control}/reserve`), false);
    });
  });
}

export function newRun(nowMs = Date.now()): NewRun {
  return {
    run_id: newRunId(nowMs),
    kind: 'tool',
    tool: 'a_tool',
    tool_version: null,
    args: [],
    given_args: [],
    cwd: '/',
    state: 'queued',
    attempt: 1,
    created_at: new Date().toISOString(),
    started_at: null,
    ended_at: null,
    timeout_s: 1800,
    code: null,
    message: null,
    rc: null,
    signal: null,
    events: null,
    duration_s: null,
    trace_id: 'a'.repeat(32),
    span_id: 'b'.repeat(16),
    idempotency_key: null,
    replays: null,
    idempotent: false,
    supervisor: identify(process.pid),
    isolation: { backend: 'none', tier: 3, enforced: [], not_enforced: [] },
    acor_version: '0.1.0',
    protocol_version: 1,
    caller: null,
    parent: null,
    reads: null,
  };
}
