import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ACOR, TestProject } from '../support/project.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');
const UNCONFINED =
  "version: 1\nproject: { name: examples }\nenvironment: { cancel_grace_s: 0.3 }\nsecurity: { isolation: 'off' }\n";

describe('the workflows of the examples', () => {
  it('stream the requests of a log through a pipe', async () => {
    using project = copyOfExamples();
    const stages = [
      'log_requests --log data/access.log',
      `keep_matching '"status":5..'`,
      'count_by --key path',
    ];
    const { code, data, error } = await project.envelope(['pipe', '--no-stream', ...stages]);
    assert.equal(code, 0, JSON.stringify(error));
    assert.deepEqual([data.result.data.records, data.result.data.counts['/shop']], [16, 5]);
    // No match is no failure.
    const none = await project.envelope([
      'pipe',
      '--no-stream',
      stages[0]!,
      'keep_matching nothing',
      stages[2]!,
    ]);
    assert.deepEqual(none.data?.result.data, { records: 0, counts: {} });
    // An empty log has no records, although its reader has a summary.
    project.write('data/empty.log', '');
    const empty = await project.envelope([
      'pipe',
      '--no-stream',
      'log_requests --log data/empty.log',
      stages[2]!,
    ]);
    assert.deepEqual(empty.data?.result.data, { records: 0, counts: {} });
  });

  it('report which paths fail', async () => {
    using project = copyOfExamples();
    const { code, data, error } = await project.envelope(['workflow', 'run', 'errors', '--no-stream']);
    assert.equal(code, 0, JSON.stringify(error));
    assert.equal(data.result.data.failing['/shop'], 5);
    assert.equal(data.result.steps.completed, 2);
  });

  it('run the same file as a workflow, and by a tool that runs its steps', async () => {
    using project = copyOfExamples(UNCONFINED);
    const flow = await project.envelope([
      'workflow',
      'run',
      'logs',
      '--no-stream',
      '--answer',
      'summarise_logs=yes',
    ]);
    assert.equal(flow.code, 0, JSON.stringify(flow.error));
    assert.equal(flow.data.result.steps.completed, 3);

    const args = [
      'workflow_orchestrator',
      '--workflow',
      'workflows/logs.json',
      '--folder',
      '.',
      '--acor',
      ACOR,
    ];
    const refused = await project.envelope(['run', '--no-stream', ...args]);
    assert.equal(refused.error.code, 'E_APPROVAL_REQUIRED');
    const approved = { tool: 'workflow_orchestrator', digest: refused.error.details.digest };
    project.write('user/acor/policy.yaml', JSON.stringify({ version: 1, approved: [approved] }));
    const { code, data, error } = await project.envelope(
      ['run', '--no-stream', '--answer', 'ai_decision=yes', ...args],
      { env: { XDG_CONFIG_HOME: project.path('user') } },
    );
    assert.equal(code, 0, JSON.stringify(error));
    assert.deepEqual(data.result.data, { steps: 3, decisions: { proceed: 'yes' } });
    const events = project.events(data.run_id);
    assert.deepEqual(
      events.filter(({ code }) => code === 'E_PROTOCOL'),
      [],
    );
    const done = events.filter(({ type }) => type === 'task_done');
    assert.deepEqual(
      done.map(({ status }) => status),
      ['ok', 'ok', 'ok'],
    );
    for (const { child_run_id } of done)
      assert.equal(project.record(String(child_run_id))?.state, 'completed');
    assert.ok(events.some(({ type }) => type === 'task_progress'));
    assert.equal((await project.envelope(['verify'])).code, 0);
  });
});

function copyOfExamples(config?: string): TestProject {
  const project = new TestProject(config === undefined ? {} : { config });
  for (const folder of ['tools', 'workflows', 'data'])
    cpSync(join(EXAMPLES, folder), project.path(folder), { recursive: true });
  return project;
}
