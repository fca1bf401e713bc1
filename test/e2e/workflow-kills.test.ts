import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { describe, it } from 'node:test';
import { reachedInTime } from '../support/in-time.ts';
import { type Event, processesOf, until } from '../support/project.ts';
import { endsOf, WorkflowProject } from '../support/workflow-project.ts';

/** Three steps in a row; the second one waits for a file. */
function threeSteps(project: WorkflowProject, more: Record<string, unknown> = {}) {
  return {
    steps: [
      { name: 'one', ...project.noting('one') },
      { name: 'two', ...project.noting('two', { until: project.path('go') }), ...more },
      { name: 'three', ...project.noting('three') },
    ],
  };
}

/**
 * A workflow of three steps whose supervisor is stopped after the first step's run began and before the supervisor
 * recorded it. The test may look too late for this moment, so it tries until it was in time.
 */
async function stoppedBeforeItRecordsTheStart(): Promise<WorkflowProject> {
  for (let left = 100; left > 0; left--) {
    const project = new WorkflowProject();
    project.write('go', '');
    const running = project.startFlow(threeSteps(project));
    await project.child('one');
    const flow = project.flowId();
    process.kill(project.record(flow)!.pid, 'SIGSTOP');
    await project.noted('one');
    if (project.events(flow).every(({ type }) => type !== 'task_started')) return project;
    process.kill(project.record(flow)!.pid, 'SIGCONT');
    await running.finished;
    project[Symbol.dispose]();
  }
  throw new Error('in 100 tries no supervisor was stopped between the start of a step and its record');
}

const submitted = (events: readonly Event[]) =>
  events.filter(({ type }) => type === 'task_submitted').map(({ task_id }) => task_id);

describe('a workflow that is killed', () => {
  it('leaves its children running, and takes them over again: no step is repeated, none is lost', async () => {
    using project = new WorkflowProject();
    project.startFlow(threeSteps(project));
    await project.noted('begin two');
    const flow = project.flowId();
    const two = await project.child('two');
    await project.killSupervisor(flow);
    // The child is not affected.
    project.write('go', '');
    await project.noted('two');
    const { data } = await project.envelope(['show', flow]);
    assert.deepEqual([data.state, data.code], ['failed', 'E_RUNNER_LOST']);
    const { code } = await project.envelope(['resume', flow, '--no-stream']);
    assert.equal(code, 0);
    assert.deepEqual(project.notes(), ['begin one', 'one', 'begin two', 'two', 'begin three', 'three']);
    const events = project.events(flow);
    assert.deepEqual(submitted(events), ['one', 'two', 'three']);
    assert.deepEqual(endsOf(events), ['one ok', 'two ok', 'three ok']);
    assert.equal(
      events.find(({ type, task_id }) => type === 'task_done' && task_id === 'two')!.child_run_id,
      two,
    );
    assert.equal((await project.envelope(['verify'])).code, 0);
  });

  it('continues with a child that is still running, and waits for it', async () => {
    using project = new WorkflowProject();
    project.startFlow(threeSteps(project));
    await project.noted('begin two');
    const flow = project.flowId();
    await project.killSupervisor(flow);
    await project.acor(['health', '--fix']);
    const resumed = project.start(['workflow', 'resume', flow]);
    await until(() => project.record(flow)!.state === 'running');
    project.write('go', '');
    assert.equal((await resumed.finished).code, 0);
    assert.deepEqual(project.done(), ['one', 'three', 'two']);
    assert.equal(project.notes().filter((line) => line === 'begin two').length, 1);
  });

  it('finds the run of a step again whose start it never recorded', async () => {
    using project = await stoppedBeforeItRecordsTheStart();
    const flow = project.flowId();
    await project.killSupervisor(flow);
    assert.equal((await project.envelope(['resume', flow, '--no-stream'])).code, 0);
    assert.deepEqual(project.notes(), ['begin one', 'one', 'begin two', 'two', 'begin three', 'three']);
    assert.equal(project.runIds().length, 4);
  });

  it('ends its children when it is cancelled after its supervisor was killed', async () => {
    using project = new WorkflowProject();
    project.startFlow(threeSteps(project));
    await project.noted('begin two');
    const flow = project.flowId();
    const two = await project.child('two');
    await project.killSupervisor(flow);
    await until(() => processesOf(two).length > 0);
    const { code } = await project.envelope(['cancel', flow]);
    assert.equal(code, 0);
    assert.deepEqual([project.record(two)!.state, processesOf(two)], ['cancelled', []]);
  });

  it('runs a step again that was cancelled while the workflow had no supervisor, and its final steps once', async () => {
    using project = new WorkflowProject();
    const last = { name: 'last', ...project.noting('last ${workflow.ok}') };
    project.startFlow({ ...threeSteps(project), finally: [last] });
    await project.noted('begin two');
    const flow = project.flowId();
    const two = await project.child('two');
    await project.killSupervisor(flow);
    await project.envelope(['cancel', flow]);
    assert.equal(project.record(two)!.state, 'cancelled');
    project.write('go', '');
    assert.equal((await project.envelope(['resume', flow, '--no-stream'])).code, 0);
    assert.deepEqual(project.done(), ['last true', 'one', 'three', 'two']);
    const ends = endsOf(project.events(flow));
    assert.deepEqual(ends, ['one ok', 'two cancelled', 'two ok', 'three ok', 'last ok']);
  });

  it('runs a step again that failed while the workflow had no supervisor, as a new try of its rule', async () => {
    using project = new WorkflowProject();
    const flaw = { fails_with: 'E_DISK_FULL', unless: project.path('repaired'), until: project.path('go') };
    const retry = { max: 1, on: ['E_DISK_FULL'], backoff_s: 0 };
    project.startFlow({ steps: [{ name: 'one', ...project.noting('one', flaw), retry }] });
    await project.noted('begin one');
    const flow = project.flowId();
    const one = await project.child('one');
    await project.killSupervisor(flow);
    project.write('go', '');
    await project.envelope(['wait', one]);
    // The log says the end first, and `wait` returns then.
    await until(() => project.record(one)!.state === 'failed');
    assert.equal((await project.envelope(['resume', flow, '--no-stream'])).code, 1);
    assert.deepEqual(submitted(project.events(flow)), ['one', 'one', 'one']);
    project.write('repaired', '');
    assert.equal((await project.envelope(['resume', flow, '--no-stream'])).code, 0);
    assert.deepEqual(project.done(), ['one']);
  });

  it('retries a step whose supervisor was killed, if its rule says so', async () => {
    using project = new WorkflowProject();
    const running = project.startFlow(
      threeSteps(project, { retry: { max: 1, on: ['E_RUNNER_LOST'], backoff_s: 0 } }),
    );
    await project.noted('begin two');
    await project.killSupervisor(await project.child('two'));
    await until(() => project.notes().filter((line) => line === 'begin two').length === 2);
    project.write('go', '');
    assert.equal((await running.finished).code, 0);
    assert.deepEqual(project.done(), ['one', 'three', 'two']);
  });

  it('does not retry a step with an unknown outcome until it is forced to', async () => {
    using project = new WorkflowProject();
    project.write(
      'tools/notes_work/tool.yaml',
      'name: notes_work\nversion: 1.0.0\ndescription: Once only.\ninputs: [{name: say}, {name: notes}, {name: until}]\n',
    );
    const running = project.startFlow(
      threeSteps(project, { retry: { max: 3, on: ['retryable'], backoff_s: 0 } }),
    );
    await project.noted('begin two');
    const flow = project.flowId();
    await project.killSupervisor(await project.child('two'));
    assert.equal((await running.finished).code, 1);
    project.write('go', '');
    const again = await project.envelope(['resume', flow, '--no-stream']);
    assert.deepEqual([again.code, again.error.code], [1, 'E_OUTCOME_UNKNOWN']);
    assert.deepEqual(project.done(), ['one']);
    const forced = await project.envelope(['workflow', 'resume', flow, '--force', '--no-stream']);
    assert.equal(forced.code, 0);
    assert.deepEqual(project.done(), ['one', 'three', 'two']);
  });

  it('counts a step as done that a person resumed by hand', async () => {
    using project = new WorkflowProject();
    const running = project.startFlow(threeSteps(project));
    await project.noted('begin two');
    const flow = project.flowId();
    const two = await project.child('two');
    await project.killSupervisor(two);
    assert.equal((await running.finished).code, 1);
    project.write('go', '');
    assert.equal((await project.envelope(['resume', two, '--no-stream'])).code, 0);
    assert.equal((await project.envelope(['resume', flow, '--no-stream'])).code, 0);
    assert.deepEqual(project.done(), ['one', 'three', 'two']);
    assert.deepEqual(submitted(project.events(flow)), ['one', 'two', 'three']);
  });

  it('continues with a nested workflow that was killed, and with its finished steps', async () => {
    using project = new WorkflowProject();
    project.workflow(threeSteps(project), 'inner.json');
    const running = project.startFlow({
      steps: [
        { name: 'sub', workflow: './inner.json' },
        { name: 'after', ...project.noting('after') },
      ],
    });
    await project.noted('begin two');
    await project.killSupervisor(await project.child('sub'));
    project.write('go', '');
    assert.equal((await running.finished).code, 0);
    assert.deepEqual(project.done(), ['after', 'one', 'three', 'two']);
    assert.equal(project.notes().length, 8);
  });
});

describe('a workflow', () => {
  it('is cancelled with all its descendants, runs its final steps, and can be resumed', async () => {
    using project = new WorkflowProject();
    project.workflow(threeSteps(project), 'inner.json');
    const running = project.startFlow({
      steps: [{ name: 'sub', workflow: './inner.json' }],
      finally: [{ name: 'last', ...project.noting('last ${workflow.ok}') }],
    });
    await project.noted('begin two');
    const flow = project.flowId();
    const two = await project.child('two');
    const { data } = await project.envelope(['cancel', flow, '--reason', 'enough']);
    assert.equal(data.state, 'cancelled');
    await running.finished;
    assert.deepEqual(
      [project.record(await project.child('sub'))!.state, project.record(two)!.state, processesOf(two)],
      ['cancelled', 'cancelled', []],
    );
    assert.deepEqual(project.done(), ['last false', 'one']);
    project.write('go', '');
    assert.equal((await project.envelope(['resume', flow, '--no-stream'])).code, 0);
    assert.deepEqual(project.done(), ['last false', 'last true', 'one', 'three', 'two']);
  });

  it('ends its children at its own deadline', async () => {
    const [state, left] = await reachedInTime(async (limitS) => {
      using project = new WorkflowProject();
      const { end } = await project.flow({ timeout_s: limitS, ...threeSteps(project) });
      assert.deepEqual([end.state, end.code], ['failed', 'E_DEADLINE']);
      if (!project.notes().includes('begin two')) return undefined;
      const two = await project.child('two');
      return [project.record(two)!.state, processesOf(two)] as const;
    });
    assert.deepEqual([state, left], ['cancelled', []]);
  });

  it('runs a step and all that depend on it again, and nothing else', async () => {
    using project = new WorkflowProject();
    project.write('go', '');
    await project.flow({
      steps: [
        { name: 'a', ...project.noting('a') },
        { name: 'b', needs: ['a'], ...project.noting('b') },
        { name: 'c', needs: ['b'], ...project.noting('c') },
        { name: 'd', needs: ['a'], ...project.noting('d') },
      ],
    });
    const flow = project.flowId();
    rmSync(project.path('notes'));
    const { code } = await project.envelope(['workflow', 'resume', flow, '--from', 'b', '--no-stream']);
    assert.equal(code, 0);
    assert.deepEqual(project.notes(), ['begin b', 'b', 'begin c', 'c']);
    const wrong = await project.envelope(['workflow', 'resume', flow, '--from', 'x', '--no-stream']);
    assert.equal(wrong.error.code, 'E_USAGE');
    assert.equal((await project.envelope(['retry', flow, '--no-stream'])).error.code, 'E_USAGE');
  });

  it('starts from the beginning with retry', async () => {
    using project = new WorkflowProject();
    const flaw = { fails_with: 'E_DISK_FULL', unless: project.path('repaired') };
    await project.flow({
      steps: [
        { name: 'a', ...project.noting('a') },
        { name: 'b', ...project.noting('b', flaw) },
      ],
    });
    project.write('repaired', '');
    assert.equal((await project.envelope(['retry', project.flowId(), '--no-stream'])).code, 0);
    assert.deepEqual(project.done(), ['a', 'a', 'b']);
  });

  it('is not repeated without its file, and says so in words that help', async () => {
    using project = new WorkflowProject();
    const flaw = { fails_with: 'E_DISK_FULL', unless: project.path('repaired') };
    await project.flow({ steps: [{ name: 'a', ...project.noting('a', flaw) }] });
    const flow = project.flowId();
    renameSync(project.path('flow.json'), project.path('moved.json'));
    for (const command of ['resume', 'retry']) {
      const { error, meta } = await project.envelope([command, flow, '--no-stream']);
      assert.equal(error.code, 'E_INPUT_NOT_FOUND');
      assert.match(error.message, /flow\.json, the file of workflow r-\S+, does not exist$/);
      assert.match(error.hint!, /back to this path.* as a new run/);
      assert.deepEqual(meta.next, ['acor workflow list']);
    }
    renameSync(project.path('moved.json'), project.path('flow.json'));
    project.write('repaired', '');
    assert.equal((await project.envelope(['resume', flow, '--no-stream'])).code, 0, 'as the hint says');
  });

  it('is not resumed with a changed file, unless it is forced to be', async () => {
    using project = new WorkflowProject();
    const steps = (say: string) => ({
      steps: [
        { name: 'a', ...project.noting('a') },
        { name: 'b', ...project.noting(say, say === 'bad' ? { fails_with: 'E_DISK_FULL' } : {}) },
      ],
    });
    await project.flow(steps('bad'));
    const flow = project.flowId();
    project.workflow(steps('good'));
    const refused = await project.envelope(['resume', flow, '--no-stream']);
    assert.match(refused.error.message, /has changed since/);
    assert.equal((await project.envelope(['resume', flow, '--force', '--no-stream'])).code, 0);
    assert.deepEqual(project.done(), ['a', 'good']);
  });
});
