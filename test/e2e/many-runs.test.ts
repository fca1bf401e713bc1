import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseLines, processesOf, TestProject, until } from '../support/project.ts';

const RUNS = 200;
/** How many runs start at once, each under a supervisor process. */
const DETACHED = 10;

describe('two hundred runs at once', () => {
  it('all complete, each under its own id, and are in the ledger in an unbroken chain', async () => {
    using project = new TestProject({ tools: ['quick'] });
    const commands = await Promise.all(
      Array.from({ length: RUNS }, (_, i) =>
        project.envelope(['run', 'quick', i < DETACHED ? '--detach' : '--no-stream']),
      ),
    );
    const ids = commands.map(({ ok, data, error }) => {
      assert.ok(ok, JSON.stringify(error));
      return String(data.run_id);
    });
    assert.equal(new Set(ids).size, RUNS);
    const stateOf = (id: string) => project.record(id)?.state;
    await until(() =>
      ids.slice(0, DETACHED).every((id) => stateOf(id) !== 'running' && stateOf(id) !== 'queued'),
    );
    assert.deepEqual([...new Set(ids.map(stateOf))], ['completed']);
    assert.deepEqual(project.runIds(), [...ids].sort());

    const ledger = parseLines(readFileSync(join(project.runsDir, 'ledger.jsonl'), 'utf8'));
    assert.equal(ledger.length, RUNS);
    assert.deepEqual(new Set(ledger.map(({ run_id }) => run_id)), new Set(ids));
    const { code, data } = await project.envelope(['verify']);
    assert.deepEqual([code, data?.counts.runs, data?.runs, data?.ledger], [0, RUNS, [], []]);
    for (const id of ids) assert.deepEqual(processesOf(id), []);
  });
});
