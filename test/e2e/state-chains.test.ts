import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Acor } from '../../src/index.ts';
import { processesOf, TestProject } from '../support/project.ts';
import { checkedStates } from '../support/state-chain.ts';

/** One leaves behind what only a supervisor of its own finds, which the library is not. */
const TOOLS = readdirSync(join(import.meta.dirname, '..', 'fixtures', 'tools')).filter(
  (tool) => tool !== 'leaves_daemons',
);

/** On a busy machine every other tool may reach its deadline first. These have none, so that each way of ending occurs. */
const OWN_END = ['exits_with', 'quick', 'silent', 'waits'];

describe('the fixtures of all tests', () => {
  it('go through allowed states only, however they end', async () => {
    using project = new TestProject({ tools: TOOLS });
    project.write('data.txt', 'one\n');
    const given: Record<string, string[]> = {
      does: ['true'],
      exits_with: ['3'],
      every_kind: ['--output', 'made.txt'],
      holds: [project.path('never')],
      many_events: ['20'],
      reads_file: ['data.txt'],
      walks: ['1', project.root],
      writes_output: ['--output', 'written.txt', '--rc', '20'],
    };
    const hurried = new Acor({ cwd: project.root, config: { 'environment.heartbeat_grace_s': 0.8 } });
    const patient = new Acor({ cwd: project.root });
    const ends = await Promise.all(
      TOOLS.map(async (tool) => {
        const args = given[tool] ?? [];
        const run = OWN_END.includes(tool)
          ? patient.run(tool, args, { retries: 1 })
          : hurried.run(tool, args, { timeoutS: 1.5, retries: 1 });
        if (tool === 'waits') void run.cancel('enough');
        // What lacks an input or a variable does not begin.
        return run.then(
          ({ run_id, state, code }) => ({ run_id, how: code ?? state }),
          () => undefined,
        );
      }),
    );
    const begun = ends.filter((end) => end !== undefined);
    assert.ok(begun.length > TOOLS.length * 0.7, `${begun.length} of ${TOOLS.length}`);
    for (const { run_id } of begun) {
      const changes = checkedStates(project.events(run_id));
      assert.ok(changes.length >= 2);
      assert.deepEqual(processesOf(run_id), []);
    }
    const ways = new Set(begun.map(({ how }) => how));
    for (const how of ['completed', 'cancelled', 'E_DEADLINE', 'E_OUTCOME_UNKNOWN', 'E_TOOL_FAILED'])
      assert.ok(ways.has(how), `${how} is not among ${[...ways].join(', ')}`);
  });
});
