import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunQuery } from '../ports/run-index.ts';
import { openSqlite } from './open-run-index.ts';
import { searchOf, TABLES } from './tables.ts';

const FACETS: RunQuery[] = [
  { tool: 'copy' },
  { state: 'failed' },
  { kind: 'tool' },
  { caller: 'token:ci' },
  { parent: 'r-0123456789abcdef' },
];

/** How SQLite looks for the ids of a query, newest first. */
async function planOf(query: RunQuery): Promise<string> {
  using stack = new DisposableStack();
  const sqlite = await openSqlite(':memory:');
  stack.defer(() => sqlite.close());
  sqlite.exec(TABLES);
  const { from, values } = searchOf(query);
  const steps = sqlite.all(`EXPLAIN QUERY PLAN SELECT run_id FROM ${from} ORDER BY run_id DESC`, ...values);
  return steps.map(({ detail }) => String(detail)).join('; ');
}

describe('the tables of the index', () => {
  it('serve a filter alone from its own index, in the order of the answer', async () => {
    for (const query of FACETS) {
      const plan = await planOf(query);
      assert.match(plan, /^SEARCH runs USING COVERING INDEX runs_by_\w+ \(\w+=\?\)$/, JSON.stringify(query));
    }
  });

  it('serve the name of a caller without its kind from the index of callers', async () => {
    assert.match(
      await planOf({ caller: 'ci' }),
      /^SEARCH runs USING COVERING INDEX runs_by_caller \(caller=\?\); USE TEMP B-TREE FOR ORDER BY$/,
    );
  });

  it('serve a tool with a state from an index as well', async () => {
    assert.match(
      await planOf({ tool: 'copy', state: 'failed' }),
      /^SEARCH runs USING COVERING INDEX runs_by_tool_and_state \(tool=\? AND state=\?\)$/,
    );
  });

  it('serve several filters by one pass in the order of the answer, and look no run up for each match', async () => {
    for (const query of [
      { tool: 'copy', kind: 'tool' },
      { tool: 'copy', state: 'failed', kind: 'tool' },
      { tool: 'copy', sinceMs: 5 },
      { untilMs: 5 },
      { caller: 'claude', kind: 'tool', sinceMs: 1 },
    ] as RunQuery[])
      assert.equal(await planOf(query), 'SCAN runs', JSON.stringify(query));
  });

  it('find the steps of a run by its id, whatever else is asked', async () => {
    assert.match(
      await planOf({ parent: 'r-1', state: 'failed', kind: 'tool' }),
      /^SEARCH runs USING INDEX runs_by_parent/,
    );
  });

  it('look for a text in the texts alone, and take its characters as they are', async () => {
    assert.equal(await planOf({ text: 'abc' }), 'SCAN texts');
    assert.equal(await planOf({ text: 'abc', parent: 'r-1', sinceMs: 5 }), 'SCAN texts');
    assert.deepEqual(searchOf({ text: 'A*[b]?' }).values, ['*a[*][[]b][?]*']);
  });
});
