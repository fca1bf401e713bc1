import assert from 'node:assert/strict';
import { isFinal, mayFollow, type RunState } from '../../src/protocol/run.ts';

/**
 * Checks the changes of state in the events of a run: the table allows each, each starts from the state of the one before, and after the
 * single end of an attempt only a new attempt follows. Returns them as `from → to`.
 */
export function checkedStates(events: readonly Readonly<Record<string, unknown>>[]): string[] {
  let state: RunState = 'queued';
  let hasEnded = false;
  const changes: string[] = [];
  for (const event of events) {
    if (event.type === 'runner_end') {
      assert.deepEqual([event.state, isFinal(state), hasEnded], [state, true, false]);
      hasEnded = true;
    }
    if (event.type !== 'runner_state') continue;
    const { from, to } = event as unknown as { from: RunState; to: RunState };
    assert.equal(from, state);
    assert.ok(mayFollow(from, to), `${from} → ${to}`);
    if (isFinal(from)) assert.ok(hasEnded && to === 'queued', `${from} → ${to}`);
    hasEnded = false;
    state = to;
    changes.push(`${from} → ${to}`);
  }
  return changes;
}
