import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QueueLimits, QueueSlot, QueueWait, RunQueue } from '../../src/core/ports/run-queue.ts';
import { newRunId } from '../../src/util/ids.ts';

const NO_LIMITS: QueueLimits = { maxRuns: null, rate: null };

/** What a harness offers besides the queue itself: a process that takes a slot, and is killed with SIGKILL while it has it. */
export interface QueueHarness {
  /** A new, empty queue; each `open()` is the queue as another process opens it. */
  make(): { open(): RunQueue; killHolderIn(limits: QueueLimits): Promise<string> };
}

/** The contract of every run queue. */
export function runQueueContract(name: string, { make }: QueueHarness): void {
  describe(`the run queue '${name}'`, () => {
    it('admits every run at once when there are no limits', async () => {
      const { open } = make();
      for (let run = 0; run < 20; run++) await enter(open(), NO_LIMITS).place;
    });

    it('admits as many runs as the limit allows, then the one that has waited longest', async () => {
      const { open } = make();
      const limits = { maxRuns: 2, rate: null };
      const [first, second] = [enter(open(), limits), enter(open(), limits)];
      const places = [await first.place, await second.place];
      const third = enter(open(), limits);
      const wait = await third.waiting;
      assert.match(wait.why, /allows 2 at once/);
      assert.deepEqual([...wait.working].sort(), [first.runId, second.runId].sort());
      const fourth = enter(open(), limits);
      await fourth.waiting;
      assert.deepEqual([third.isIn(), fourth.isIn()], [false, false]);
      await places[0]!.leave({ completed: true });
      const placeOfThird = await third.place;
      assert.equal(fourth.isIn(), false);
      await placeOfThird.leave({ completed: true });
      await fourth.place;
    });

    it('never admits more runs than the limit, whatever the load', async () => {
      const { open } = make();
      let working = 0;
      let most = 0;
      const one = async () => {
        const place = await enter(open(), { maxRuns: 3, rate: null }).place;
        most = Math.max(most, ++working);
        await new Promise((resolve) => setImmediate(resolve));
        working--;
        await place.leave({ completed: true });
      };
      await Promise.all(Array.from({ length: 30 }, one));
      assert.equal(most, 3);
    });

    it('removes a run that gives up waiting, and admits the ones behind it', async () => {
      const { open } = make();
      const limits = { maxRuns: 1, rate: null };
      const holder = await enter(open(), limits).place;
      const quitter = enter(open(), limits);
      await quitter.waiting;
      const next = enter(open(), limits);
      await next.waiting;
      quitter.giveUp();
      assert.equal(await quitter.answer, undefined);
      await holder.leave({ completed: false });
      await next.place;
    });

    it('gives the slot of a killed process to the next run', async () => {
      const { open, killHolderIn } = make();
      const limits = { maxRuns: 1, rate: null };
      await killHolderIn(limits);
      await enter(open(), limits).place;
    });

    it('takes no slot for an orchestrator, because its own runs would wait for it', async () => {
      const { open } = make();
      const limits = { maxRuns: 1, rate: null };
      await enter(open(), limits, { needsSlot: false }).place;
      await enter(open(), limits).place;
      const orchestrator = enter(open(), limits, { needsSlot: false });
      await orchestrator.place;
    });

    it('starts a tool at its rate limit at most, and does not delay other tools', async () => {
      const { open } = make();
      const limits = { maxRuns: null, rate: { calls: 2, perS: 0.4 } };
      await enter(open(), limits).place;
      await enter(open(), limits).place;
      const third = enter(open(), limits);
      assert.match((await third.waiting).why, /rate_limit of 'tool'/);
      const other = enter(open(), { maxRuns: 10, rate: null }, { tool: 'other' });
      await other.place;
      assert.equal(third.isIn(), false);
      await third.place;
    });

    it('halves the concurrency of a tool when its service reports a rate limit, and raises it with each success', async () => {
      const { open } = make();
      const places: QueueSlot[] = [];
      for (let run = 0; run < 4; run++) places.push(await enter(open(), NO_LIMITS).place);
      await places[0]!.slowDown();
      const late = enter(open(), NO_LIMITS);
      assert.match((await late.waiting).why, /E_RATE_LIMIT, so 2 of its runs/);
      await enter(open(), NO_LIMITS, { tool: 'other' }).place;
      await places[1]!.leave({ completed: false });
      assert.equal(late.isIn(), false);
      await places[2]!.leave({ completed: true });
      const lateIsIn = await late.place;
      const later = enter(open(), NO_LIMITS);
      await later.place;
      await lateIsIn.leave({ completed: true });
      await enter(open(), NO_LIMITS).place;
      await enter(open(), NO_LIMITS).place;
      await enter(open(), NO_LIMITS).place;
    });
  });
}

/** Ids of the same millisecond have no order, so wait for the next one. */
function nextRunId(): string {
  for (const now = Date.now(); Date.now() === now; );
  return newRunId();
}

interface Entering {
  runId: string;
  /** Its slot, when it has one. */
  place: Promise<QueueSlot>;
  answer: Promise<QueueSlot | undefined>;
  /** Why the queue makes it wait. */
  waiting: Promise<QueueWait>;
  isIn(): boolean;
  giveUp(): void;
}

function enter(
  queue: RunQueue,
  limits: QueueLimits,
  more: { tool?: string; needsSlot?: boolean } = {},
): Entering {
  const runId = nextRunId();
  const stop = new AbortController();
  let isIn = false;
  let emit!: (wait: QueueWait) => void;
  const waiting = new Promise<QueueWait>((resolve) => {
    emit = resolve;
  });
  const run = { run_id: runId, tool: 'tool', needsSlot: true, ...more };
  const answer = queue.enter(run, limits, { signal: stop.signal, onWait: emit }).then((place) => {
    isIn = place !== undefined;
    return place;
  });
  const place = answer.then((each) => each ?? Promise.reject(new Error('it gave up')));
  place.catch(() => {});
  return { runId, place, answer, waiting, isIn: () => isIn, giveUp: () => stop.abort() };
}
