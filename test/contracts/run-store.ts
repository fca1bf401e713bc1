import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReadEvent, RunStore } from '../../src/core/ports/run-store.ts';
import { readEvents } from '../../src/core/run/read-log.ts';
import type { RunRecord } from '../../src/protocol/run-record.ts';
import { newRunId } from '../../src/util/ids.ts';
import { newRun } from './new-run.ts';

/** A store as other processes see it. */
export interface StoreRig {
  /** The same store as another process would open it. */
  open(): RunStore;
  /** The supervisor of a run dies without a word. */
  lose(runId: string): void;
}

/** What every store of runs must hold to. */
export function runStoreContract(name: string, { open, lose }: StoreRig): void {
  describe(`the run store '${name}'`, () => {
    it('keeps the record of a run, and shows each change to every reader', async () => {
      const run = newRun();
      const writer = await open().create(run);
      assert.equal((await open().read(run.run_id)).state, 'queued');
      await writer.update({ state: 'running' });
      assert.equal((await open().read(run.run_id)).state, 'running');
      await writer.close();
    });

    it('lists its runs, the oldest first', async () => {
      const runs = [newRun(3), newRun(1), newRun(2)];
      for (const run of runs) (await open().create(run)).close();
      const ids = runs.map(({ run_id }) => run_id);
      const listed = (await open().list()).filter((id) => ids.includes(id));
      assert.deepEqual(listed, [...ids].sort());
    });

    it('does not know a run that was never created, and never uses an id as a path', async () => {
      const unknown = newRunId();
      await assert.rejects(open().read(unknown), { code: 'E_RUN_NOT_FOUND' });
      for (const id of ['../x', 'r-../x', '/etc', '', 'r-', 'r-A', 'x-1', 'r-1/2', 'r-1\0'])
        await assert.rejects(open().read(id), { code: 'E_RUN_NOT_FOUND' }, id);
    });

    it('does not create a run twice', async () => {
      const run = newRun();
      const writer = await open().create(run);
      writer.log.append({ type: 'log', msg: 'kept' });
      await writer.log.flush();
      await assert.rejects(open().create(run), { code: 'E_STORAGE' });
      assert.equal((await eventsOf(run.run_id))[0]?.msg, 'kept');
      assert.equal(await open().leases.inspect(run.run_id), 'live');
      await writer.close();
    });

    it('creates one run for a key, for all concurrent callers, and returns it to the others', async () => {
      const runs = Array.from({ length: 8 }, () => newRun());
      const keyed = { key: `key of ${runs[0]!.run_id}`, call: 'a' };
      assert.equal(await open().runOfKey(keyed), undefined);
      const made = await Promise.all(runs.map((run) => open().createOnce(run, keyed)));
      const [writer, ...more] = made.filter((each) => typeof each !== 'string');
      assert.equal(more.length, 0);
      const { run_id } = writer!.record;
      for (const each of made) if (typeof each === 'string') assert.equal(each, run_id);
      assert.equal(await open().runOfKey(keyed), run_id);
      await assert.rejects(open().runOfKey({ ...keyed, call: 'b' }), { code: 'E_USAGE' });
      await assert.rejects(open().createOnce(newRun(), { ...keyed, call: 'b' }), { code: 'E_USAGE' });
      await writer!.close();
    });

    it('forgets a removed run and its key', async () => {
      const keyed = { key: `key ${newRunId()}`, call: 'a' };
      const writer = await open().createOnce({ ...newRun(), idempotency_key: keyed.key }, keyed);
      assert.ok(typeof writer !== 'string');
      const { run_id } = writer.record;
      await writer.update({ state: 'failed' });
      await writer.close();
      await open().remove(run_id);
      await assert.rejects(open().read(run_id), { code: 'E_RUN_NOT_FOUND' });
      assert.equal(await open().runOfKey(keyed), undefined);
    });

    it('counts the ends of removed runs by tool and state', async () => {
      for (const [tool, state, duration_s] of [
        ['counted_a', 'completed', 0.2],
        ['counted_a', 'completed', 7],
        ['counted_a', 'failed', 7],
        ['counted_b', 'completed', 7],
      ] as const) {
        const writer = await open().create({ ...newRun(), tool });
        const usage = { cpu_s: 0.5, max_rss_bytes: null };
        await writer.update({ state, duration_s, usage, ended_at: '2026-01-02T03:04:05.678Z' });
        await writer.close();
        await open().remove(writer.record.run_id);
      }
      const counts = (await open().removedCounts()).filter(({ tool }) => tool.startsWith('counted_'));
      const shown = counts.map(({ tool, state, runs, duration_s, cpu_s, within }) => ({
        ...{ of: `${tool} ${state}`, runs, duration_s, cpu_s },
        ...{ in1s: within[2], in10s: within[4] },
      }));
      assert.deepEqual(
        shown.sort((x, y) => (x.of < y.of ? -1 : 1)),
        [
          { of: 'counted_a completed', runs: 2, duration_s: 7.2, cpu_s: 1, in1s: 1, in10s: 2 },
          { of: 'counted_a failed', runs: 1, duration_s: 7, cpu_s: 0.5, in1s: 0, in10s: 1 },
          { of: 'counted_b completed', runs: 1, duration_s: 7, cpu_s: 0.5, in1s: 0, in10s: 1 },
        ],
      );
    });

    it('keeps what removed runs have cost, by the day on which they ended', async () => {
      const cost = { cost_usd: 0.25, cost: { input_tokens: 100, output_tokens: 7 } };
      for (const [ended_at, more] of [
        ['2026-01-02T03:04:05.678Z', cost],
        ['2026-01-02T23:59:59.999Z', { ...cost, cost_usd: null }],
        ['2026-01-03T00:00:00.000Z', cost],
        ['2026-01-03T00:00:00.000Z', {}],
      ] as const) {
        const writer = await open().create(newRun());
        await writer.update({ state: 'completed', ended_at, ...more } as Partial<RunRecord>);
        await writer.close();
        await open().remove(writer.record.run_id);
      }
      const shown = (day?: string) =>
        open()
          .removedCosts(day)
          .then((costs) =>
            costs.map(({ day: on, runs, cost_usd, input_tokens }) => [on, runs, cost_usd, input_tokens]),
          );
      const days = [
        ['2026-01-02', 1, 0.25, 100],
        ['2026-01-02', 1, null, 100],
        ['2026-01-03', 1, 0.25, 100],
      ];
      assert.deepEqual(await shown(), days);
      assert.deepEqual(await shown('2026-01-02'), days.slice(0, 2));
      assert.deepEqual(await shown('2025-12-31'), []);
    });

    it('lets the next supervisor take over a lost run, and rejects writes of the one before', async () => {
      const run = newRun();
      const first = await open().create(run);
      first.log.append({ type: 'log', msg: 'one' });
      await first.log.flush();
      lose(run.run_id);
      const second = await open().takeOver(run.run_id);
      assert.equal(second.epoch, first.epoch + 1);
      first.log.append({ type: 'log', msg: 'from the dead' });
      await assert.rejects(first.log.flush(), { code: 'E_STORAGE' });
      await assert.rejects(first.update({ state: 'cancelled' }), { code: 'E_STORAGE' });
      assert.equal((await open().read(run.run_id)).state, 'queued');
      second.log.append({ type: 'log', msg: 'two' });
      await second.log.flush();
      const seen = (await eventsOf(run.run_id)).map(({ seq, msg }) => [seq, msg]);
      assert.deepEqual(seen, [
        [1, 'one'],
        [2, 'two'],
      ]);
      // What the first one releases is not the second one's.
      await first.close();
      assert.equal(await open().leases.inspect(run.run_id), 'live');
      second.log.append({ type: 'log', msg: 'three' });
      await second.log.flush();
      await second.close();
    });

    it('does not take over a run with a live supervisor, which continues to write', async () => {
      const run = newRun();
      const writer = await open().create(run);
      await assert.rejects(open().takeOver(run.run_id), { code: 'E_STORAGE' });
      await writer.update({ state: 'running' });
      await writer.close();
    });

    it('does not take over a run whose record forbids it, and leaves its lease unchanged', async () => {
      const run = newRun();
      const writer = await open().create(run);
      await writer.update({ state: 'running' });
      lose(run.run_id);
      const refuse = ({ state }: RunRecord) => {
        if (state === 'running') throw new Error('it is at work');
      };
      await assert.rejects(open().takeOver(run.run_id, refuse), /it is at work/);
      assert.equal(await open().leases.inspect(run.run_id), 'lost');
      assert.equal((await open().read(run.run_id)).epoch, 1);
      await writer.close();
    });

    it('gives a lost run to one of several concurrent processes', async () => {
      const run = newRun();
      (await open().create(run)).close();
      const taken = await Promise.allSettled(Array.from({ length: 8 }, () => open().takeOver(run.run_id)));
      const writers = taken.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      assert.equal(writers.length, 1);
      writers[0]!.update({ state: 'failed' });
      await writers[0]!.close();
    });

    it('only raises epochs, also when a run has ended in between', async () => {
      const run = newRun();
      (await open().create(run)).close();
      for (const epoch of [2, 3, 4]) {
        const writer = await open().takeOver(run.run_id);
        assert.equal(writer.epoch, epoch);
        await writer.update({ state: 'failed' });
        await writer.close();
        assert.equal(await open().leases.inspect(run.run_id), 'none');
      }
    });

    it('takes an ended run over only when its supervisor has released it, because the supervisor still removes files of it', async () => {
      const run = newRun();
      const ending = await open().create(run);
      await ending.update({ state: 'failed' });
      const order: string[] = [];
      const taking = open()
        .takeOver(run.run_id)
        .then((writer) => {
          order.push('taken over');
          return writer;
        });
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      order.push('released');
      await ending.close();
      const writer = await taking;
      assert.deepEqual(order, ['released', 'taken over']);
      await writer.update({ state: 'failed' });
      await writer.close();
    });

    it('lets no other process take over an ended run that has been taken over and is not yet reopened', async () => {
      const run = newRun();
      const ended = await open().create(run);
      await ended.update({ state: 'failed' });
      await ended.close();
      const writer = await open().takeOver(run.run_id);
      await assert.rejects(open().takeOver(run.run_id), { code: 'E_STORAGE' });
      await writer.update({ state: 'queued' });
      assert.equal((await open().read(run.run_id)).epoch, writer.epoch);
      await assert.rejects(open().takeOver(run.run_id), { code: 'E_STORAGE' });
      await writer.update({ state: 'failed' });
      await writer.close();
    });

    it('refuses an event after the end of the run, unless the end could not be stored', async () => {
      const writer = await open().create(newRun());
      const { log } = writer;
      log.append({ type: 'runner_end', state: 'failed' });
      assert.throws(() => log.append({ type: 'runner_warning', msg: 'late' }), /after the end/);
      log.discardPending();
      log.append({ type: 'runner_warning', msg: 'in time' });
      log.append({ type: 'runner_end', state: 'failed' });
      await log.flush();
      assert.throws(() => log.append({ type: 'runner_warning', msg: 'late' }), /after the end/);
      await writer.update({ state: 'failed' });
      await writer.close();
    });

    it('stores lines that are numbered already between other events', async () => {
      const run = newRun();
      const writer = await open().create(run);
      const { log } = writer;
      log.append({ type: 'log', msg: 'before' });
      for (const count of [3, 4_000]) {
        const lines = Array.from(
          { length: count },
          (_, index) => `{"v":1,"seq":${log.events + index + 1}}\n`,
        );
        log.keepLines(Buffer.from(lines.join('')), count);
      }
      log.append({ type: 'log', msg: 'after' });
      assert.equal(log.events, 4_005);
      await log.flush();
      const seqs = (await eventsOf(run.run_id)).map(({ seq }) => seq);
      assert.deepEqual(
        seqs,
        Array.from({ length: 4_005 }, (_, index) => index + 1),
      );
      await writer.update({ state: 'failed' });
      await writer.close();
    });

    it('returns every event to readers once, from any seq on, while it is being written', async () => {
      const run = newRun();
      const writer = await open().create(run);
      const total = 500;
      const readers = [0, 1, 250, 499].map(async (since) => {
        const seqs: number[] = [];
        for await (const event of readEvents(open(), run.run_id, { since, wait: true }))
          seqs.push(Number(event.seq));
        return seqs;
      });
      for (let i = 1; i < total; i++) {
        writer.log.append({ type: 'log', msg: 'x'.repeat(i) });
        await writer.log.flush();
        if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      writer.log.append({ type: 'runner_end' });
      await writer.log.sync();
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
      await writer.close();
    });

    it('returns the events after any seq of a log that is much longer than one batch', async () => {
      const run = newRun();
      const writer = await open().create(run);
      const total = 6000;
      for (let i = 0; i < total; i++) writer.log.append({ type: 'log', msg: 'x'.repeat(200) });
      await writer.log.flush();
      for (const since of [0, 1, 3000, total - 2000, total - 1, total]) {
        const seqs = (await eventsOf(run.run_id, since)).map(({ seq }) => seq);
        assert.equal(seqs.length, total - since);
        assert.equal(seqs[0], since === total ? undefined : since + 1);
      }
      await writer.close();
    });

    it('returns the last events, the newest first', async () => {
      const run = newRun();
      const writer = await open().create(run);
      for (const msg of ['one', 'two', 'three']) writer.log.append({ type: 'log', msg });
      await writer.log.flush();
      const last: unknown[] = [];
      for await (const { msg } of open().tail(run.run_id)) last.push(msg);
      assert.deepEqual(last, ['three', 'two', 'one']);
      writer.log.append({ type: 'progress', msg: 'four' });
      writer.log.append({ type: 'log', msg: 'says "progress"' });
      await writer.log.flush();
      const typed: unknown[] = [];
      for await (const { msg } of open().tail(run.run_id, ['progress', 'result'])) typed.push(msg);
      assert.deepEqual(typed, ['four']);
      await writer.close();
    });

    it('returns the events of questions from the first question on, and no others', async () => {
      const run = newRun();
      const writer = await open().create(run);
      const write = async (...types: string[]) => {
        for (const type of types) writer.log.append({ type, msg: 'action_required' });
        await writer.log.flush();
      };
      const shown = async () => (await open().questionEvents(run.run_id)).map(({ type }) => type);
      await write('runner_state', 'log');
      assert.deepEqual(await shown(), []);
      await write('log', 'action_required', 'log');
      await write('runner_state', 'log', 'action_answered');
      const expected = ['action_required', 'runner_state', 'action_answered'];
      assert.deepEqual(await shown(), expected);
      lose(run.run_id);
      const next = await open().takeOver(run.run_id);
      next.log.append({ type: 'runner_end' });
      await next.log.flush();
      assert.deepEqual(await shown(), [...expected, 'runner_end']);
      await next.close();
      await writer.close();
    });

    it('passes every stored event to all observers, and continues after one throws', async () => {
      const run = newRun();
      const writer = await open().create(run);
      const seen: string[] = [];
      writer.log.observe({ stored: (lines) => void seen.push(Buffer.from(lines).toString('utf8')) });
      writer.log.observe({
        stored: () => {
          throw new Error('broken');
        },
      });
      for (const msg of ['one', 'two']) {
        writer.log.append({ type: 'log', msg });
        await writer.log.flush();
      }
      const events = await eventsOf(run.run_id);
      assert.equal(seen.join('').trimEnd().split('\n').length, events.length);
      assert.equal(events.filter(({ type }) => type === 'runner_warning').length, 1);
      await writer.close();
    });

    it('has no lease of an ended run, and a lost one of a run that was abandoned before its end', async () => {
      const [ended, left] = [newRun(), newRun()];
      const writers = [await open().create(ended), await open().create(left)];
      writers[0]!.update({ state: 'completed' });
      for (const writer of writers) await writer.close();
      assert.equal(await open().leases.inspect(ended.run_id), 'none');
      assert.equal(await open().leases.inspect(left.run_id), 'lost');
    });
  });

  async function eventsOf(runId: string, since = 0): Promise<ReadEvent[]> {
    const events: ReadEvent[] = [];
    for await (const event of readEvents(open(), runId, { since, wait: false })) events.push(event);
    return events;
  }
}
