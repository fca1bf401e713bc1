import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChildCosts } from './child-costs.ts';

const LIMIT = { usd: 1, by: 'the test' };
const costsOf = (run_id: string, cost_usd: number) => ({ run_id, cost_usd, cost: null });
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the costs of the children of a workflow', () => {
  const costs = (more: Partial<ConstructorParameters<typeof ChildCosts>[0]> = {}) =>
    new ChildCosts({
      limit: LIMIT,
      perChildUsd: undefined,
      warnAt: 1,
      warn: () => {},
      askForMore: null,
      ...more,
    });

  it('are held to a limit: a child waits for a part while another one has all that is left', async () => {
    const asked: number[] = [];
    const children = costs({ askForMore: async ({ usd }) => asked.push(usd) > 1 });
    const { signal } = new AbortController();
    assert.equal(await children.reserve('a', signal), undefined);
    assert.equal(children.partOf('a'), 1);
    const got: unknown[] = [];
    void children.reserve('b', signal).then((over) => got.push(over));
    await settled();
    assert.deepEqual([got, asked, children.partOf('b')], [[], [], undefined]);
    children.settle('a', costsOf('r-a', 0.4));
    await settled();
    assert.deepEqual([got, asked, children.partOf('b')], [[undefined], [], 0.6]);
    // Nothing is left, and no child is at work: the workflow asks for more.
    children.settle('b', costsOf('r-b', 0.6));
    assert.deepEqual(await children.reserve('c', signal), { kind: 'over-budget', usd: 1, limit: LIMIT });
    assert.deepEqual(asked, [1]);
    assert.equal(await children.reserve('c', signal), undefined);
    assert.deepEqual([asked, children.partOf('c')], [[1, 1], 1]);
  });

  it('end the wait for a part when the workflow is stopped', async () => {
    const children = costs();
    const stop = new AbortController();
    await children.reserve('a', stop.signal);
    const waiting = children.reserve('b', stop.signal);
    stop.abort();
    assert.equal(await waiting, 'stopped');
  });
});
