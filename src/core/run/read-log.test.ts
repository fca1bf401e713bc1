import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReadEvent, RunStore } from '../ports/run-store.ts';
import {
  lastProgress,
  lastStateChange,
  recordedArtifacts,
  stderrTail,
  summariseLog,
  warningsOf,
} from './read-log.ts';

type Event = Record<string, unknown>;

/** A store with this log, oldest first. */
function storeOf(events: readonly Event[]): RunStore {
  const all = events.map((event, at) => ({ seq: at + 1, ...event })) as unknown as ReadEvent[];
  async function* tail(_: string, types?: readonly string[]) {
    for (const event of all.toReversed())
      if (types === undefined || types.includes(String(event.type))) yield event;
  }
  return { tail } as unknown as RunStore;
}

const START = { type: 'runner_start' };
const diagnostic = (line: string) => ({ type: 'diagnostic', line });

describe('the end of a log', () => {
  it('says how the newest attempt ended', async () => {
    const old = [
      START,
      { type: 'result', n: 0 },
      { type: 'runner_error', n: 0 },
      { type: 'runner_warning', denied: [0] },
    ];
    for (const type of ['start', 'runner_start']) {
      const log = [
        ...old,
        { type },
        { type: 'runner_warning', denied: ['a'] },
        { type: 'runner_warning', denied: ['b'] },
        { type: 'runner_warning', msg: 'other' },
        { type: 'runner_error', n: 1 },
        { type: 'progress', pct: 5 },
        { type: 'error', n: 2 },
        { type: 'runner_end' },
      ];
      const { end, ending, failure, denial, lastEvent } = await summariseLog(storeOf(log), 'r-1');
      assert.deepEqual(
        [end?.type, ending?.n, failure?.n, denial?.denied, lastEvent?.type],
        ['runner_end', 2, 1, ['b'], 'runner_end'],
      );
      const bare = await summariseLog(storeOf([...old, { type }]), 'r-1');
      assert.deepEqual(
        [bare.end, bare.ending, bare.failure, bare.denial],
        [undefined, undefined, undefined, undefined],
      );
    }
    for (const type of ['result', 'error', 'cancelled'])
      assert.equal((await summariseLog(storeOf([START, { type }]), 'r-1')).ending?.type, type);
  });

  it('has the last progress of the newest attempt alone', async () => {
    const progress = { type: 'progress', pct: 1 };
    assert.equal((await lastProgress(storeOf([START, progress]), 'r-1'))?.pct, 1);
    assert.equal(await lastProgress(storeOf([progress, START]), 'r-1'), undefined);
    assert.equal(await lastProgress(storeOf([]), 'r-1'), undefined);
  });

  it('has the warnings of the newest attempt, each once, twenty at most', async () => {
    const warning = (msg: string) => ({ type: 'runner_warning', msg });
    const log = [warning('old'), START, warning('a'), warning('b'), warning('a')];
    assert.deepEqual(await warningsOf(storeOf(log), 'r-1'), ['b', 'a']);
    const many = Array.from({ length: 25 }, (_, number) => warning(`${number}`));
    const found = await warningsOf(storeOf([START, ...many]), 'r-1');
    assert.deepEqual([found.length, found[0], found.at(-1)], [20, '5', '24']);
  });

  it('has the last twenty lines of stderr of the newest attempt, each cut', async () => {
    const log = [diagnostic('old'), START, diagnostic('a\nb'), { type: 'log' }, diagnostic('c')];
    assert.deepEqual(await stderrTail(storeOf(log), 'r-1'), ['a', 'b', 'c']);
    const many = Array.from({ length: 15 }, (_, number) => diagnostic(`${number} a\n${number} b`));
    const lines = await stderrTail(storeOf([START, ...many]), 'r-1');
    assert.deepEqual([lines.length, lines[0], lines.at(-1)], [20, '5 a', '14 b']);
    let read = 0;
    const counting = {
      async *tail() {
        for (;;) {
          read++;
          yield diagnostic('x');
        }
      },
    } as unknown as RunStore;
    assert.equal((await stderrTail(counting, 'r-1')).length, 20);
    assert.equal(read, 20);
    const [cut] = await stderrTail(storeOf([diagnostic('x'.repeat(1001))]), 'r-1');
    assert.equal(cut!.length, 1000);
  });

  it('has the artifacts of the newest attempt in their order', async () => {
    const artifact = (path: string) => ({ type: 'artifact', v: 1, ts: '', run_id: 'r-1', path, size: 1 });
    const log = [artifact('old'), START, artifact('a'), artifact('b')];
    assert.deepEqual(await recordedArtifacts(storeOf(log), 'r-1'), [
      { path: 'a', size: 1 },
      { path: 'b', size: 1 },
    ]);
  });

  it('has the last state, if it reaches so far', async () => {
    const stateOf = (events: readonly Event[]) => lastStateChange(storeOf(events).tail('r-1'));
    const change = { type: 'runner_state', to: 'running', reason: 'x' };
    assert.equal((await stateOf([change, { type: 'log' }]))?.to, 'running');
    assert.equal((await stateOf([change, { type: 'runner_state', to: 'nonsense' }]))?.to, 'running');
    assert.deepEqual(await stateOf([{ type: 'log', seq: 1 }]), { to: 'queued' });
    assert.deepEqual(await stateOf([]), { to: 'queued' });
    assert.equal(await stateOf([{ type: 'log', seq: 7 }]), undefined);
  });
});
