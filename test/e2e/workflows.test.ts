import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { until } from '../support/project.ts';
import { endsOf, WorkflowProject } from '../support/workflow-project.ts';

describe('a workflow', () => {
  it('runs its steps in order, each as a run of its own in the same trace, and passes on their data', async () => {
    using project = new WorkflowProject();
    const { code, end, of, events } = await project.flow(
      {
        inputs: { word: { type: 'string', required: true } },
        steps: [
          { name: 'first', ...project.noting('${inputs.word}') },
          {
            name: 'each',
            foreach: ['x', 'y'],
            ...project.noting('${item} ${index} ${steps.first.data.said}'),
          },
          { name: 'never', when: '${steps.each.count == 3}', ...project.noting('never') },
          { name: 'nor', ...project.noting('${steps.never.data.said}') },
          {
            name: 'both',
            needs: ['each'],
            type: 'parallel',
            tasks: [project.noting('p'), project.noting('q')],
          },
        ],
        finally: [{ name: 'last', ...project.noting('ok ${workflow.ok}') }],
        outputs: {
          said: '${steps.each.data.map(each, each.said)}',
          file: '${steps.first.artifacts["said.txt"]}',
        },
      },
      ['--word', 'hello'],
    );
    assert.deepEqual([code, end.state], [0, 'completed']);
    assert.deepEqual(project.done(), ['hello', 'ok true', 'p', 'q', 'x 0 hello', 'y 1 hello']);
    assert.deepEqual(project.notes()[0], 'begin hello');
    assert.deepEqual(endsOf(events).sort(), [
      'both.0 ok',
      'both.1 ok',
      'each[0] ok',
      'each[1] ok',
      'first ok',
      'last ok',
      'never skipped',
      'nor skipped',
    ]);
    assert.deepEqual(
      of('progress').map(({ pct }) => pct),
      [20, 40, 60, 80, 100],
    );
    assert.match(String(of('progress').at(-1)!.msg), /^step 5\/5: (nor|both)$/);
    const [result] = of('result');
    const { said, file } = result!.data as { said: string[]; file: string };
    assert.deepEqual(said, ['x 0 hello', 'y 1 hello']);
    assert.equal(readFileSync(file, 'utf8'), 'hello\n');
    const top = await project.envelope(['runs', '--top-level']);
    assert.deepEqual(
      top.data.runs.map(({ run_id }: { run_id: string }) => run_id),
      [project.flowId()],
    );
    const both = await project.envelope(['runs', '--top-level', '--parent', project.flowId()]);
    assert.deepEqual([both.error.code, top.meta.total], ['E_USAGE', 1]);
    const flow = project.whole(project.flowId());
    for (const runId of project.runIds()) {
      const { trace_id, parent } = project.whole(runId);
      assert.equal(trace_id, flow.trace_id);
      if (runId === flow.run_id) continue;
      assert.equal(parent.run_id, flow.run_id);
      assert.equal(project.events(runId)[0]!.parent_span_id, flow.span_id);
    }
    assert.equal((await project.envelope(['verify'])).code, 0);
  });

  it('answers with what its last steps answered, where it declares no outputs', async () => {
    using project = new WorkflowProject();
    const many = Array.from({ length: 21 }, (_, index) => String(index));
    const { of } = await project.flow(
      {
        steps: [
          { name: 'first', ...project.noting('one') },
          { name: 'single', needs: ['first'], ...project.noting('two') },
          { name: 'never', needs: ['first'], when: '${false}', ...project.noting('never') },
          { name: 'each', needs: ['first'], foreach: ['x', 'y'], ...project.noting('${item}') },
          { name: 'many', needs: ['first'], foreach: many, ...project.noting('${item}') },
          {
            name: 'last',
            needs: ['single'],
            type: 'ai_decision',
            decision_type: 'which',
            instruction: 'Which?',
          },
        ],
      },
      ['--answer', 'which=this one'],
    );
    const [result] = of('result');
    // Only `first` and `single` are needed by others; `never` has no answer, and `many` has too many.
    assert.deepEqual(result!.data, { each: [{ said: 'x' }, { said: 'y' }], last: 'this one' });
  });

  it('reports which part of a parallel step failed, starts nothing more, and still runs the final steps', async () => {
    using project = new WorkflowProject();
    const { code, end, of } = await project.flow({
      steps: [
        {
          name: 'both',
          type: 'parallel',
          tasks: [project.noting('good'), project.noting('bad', { fails_with: 'E_SCHEMA_MISMATCH' })],
        },
        { name: 'after', ...project.noting('after') },
      ],
      finally: [{ name: 'last', ...project.noting('ok ${workflow.ok}') }],
    });
    assert.deepEqual([code, end.state, end.code], [1, 'failed', 'E_SCHEMA_MISMATCH']);
    assert.deepEqual(project.done(), ['good', 'ok false']);
    const [error] = of('error');
    assert.match(String(error!.msg), /'both\.1' failed: as requested/);
    assert.deepEqual(
      (error!.failed as { task_id: string }[]).map(({ task_id }) => task_id),
      ['both.1'],
    );
  });

  it('continues after a failure where its rule allows it, and reports a partial success', async () => {
    using project = new WorkflowProject();
    const { code, of } = await project.flow({
      on_error: 'continue',
      steps: [
        { name: 'bad', ...project.noting('bad', { fails_with: 'E_DISK_FULL' }) },
        { name: 'after', ...project.noting('after ${steps.bad.ok} ${steps.bad.code}') },
      ],
    });
    const [result] = of('result');
    assert.deepEqual([code, result!.status, result!.failed_count], [0, 'partial', 1]);
    assert.deepEqual(project.done(), ['after false E_DISK_FULL']);
  });

  it('skips a step whose condition reads a skipped step, and runs one whose condition does not', async () => {
    using project = new WorkflowProject();
    const { code, events } = await project.flow({
      steps: [
        { name: 'never', when: '${1 == 2}', ...project.noting('never') },
        { name: 'reads', when: "${steps.never.state == 'skipped'}", ...project.noting('reads') },
        { name: 'anyway', needs: ['never'], when: '${1 == 1}', ...project.noting('anyway') },
      ],
    });
    assert.equal(code, 0);
    assert.deepEqual(endsOf(events).sort(), ['anyway ok', 'never skipped', 'reads skipped']);
    assert.deepEqual(project.done(), ['anyway']);
  });

  it('fails a list that is longer than max_items when the list is known only at run time', async () => {
    using project = new WorkflowProject();
    const flow = (max_items: number) => ({
      steps: [
        { name: 'first', foreach: ['x', 'y', 'z'], ...project.noting('${item}') },
        { name: 'next', foreach: '${steps.first.data}', max_items, ...project.noting('next') },
      ],
    });
    const { end, of } = await project.flow(flow(2));
    assert.deepEqual([end.state, end.code], ['failed', 'E_WORKFLOW_INVALID']);
    assert.match(String(of('error')[0]!.msg), /has 3 items; max_items allows 2/);
    assert.deepEqual(project.done(), ['x', 'y', 'z']);
    assert.equal((await project.flow(flow(3))).end.state, 'completed');
  });

  it('applies on_error of a parallel step to the tasks that set no rule of their own', async () => {
    using project = new WorkflowProject();
    const tasks = [project.noting('bad', { fails_with: 'E_DISK_FULL' }), project.noting('good')];
    const { code, of } = await project.flow({
      steps: [
        { name: 'both', type: 'parallel', on_error: 'continue', tasks },
        { name: 'after', needs: ['both'], ...project.noting('after') },
      ],
    });
    assert.deepEqual([code, of('result')[0]?.status], [0, 'partial']);
    assert.deepEqual(project.done(), ['after', 'good']);
  });

  it('starts no more items or tasks of a step after a failure that ends the workflow', async () => {
    using project = new WorkflowProject();
    const bad = (say: string) => project.noting(say, { fails_with: 'E_DISK_FULL' });
    for (const step of [
      { foreach: [1, 2, 3], max_concurrency: 1, ...bad('item ${item}') },
      { type: 'parallel', max_concurrency: 1, tasks: [bad('task 1'), bad('task 2')] },
    ]) {
      const { end } = await project.flow({ steps: [{ name: 'step', ...step }] });
      assert.deepEqual([end.state, end.code], ['failed', 'E_DISK_FULL']);
    }
    assert.deepEqual(project.notes(), ['begin item 1', 'begin task 1']);
  });

  it('retries a step for the errors that it names, by class or by code, and for no others', async () => {
    using project = new WorkflowProject();
    const flow = (on: string[]) => ({
      steps: [
        {
          name: 'shaky',
          ...project.noting('shaky', { fails_with: 'E_TRANSIENT_NET' }),
          retry: { max: 1, on, backoff_s: 0 },
        },
      ],
    });
    const began = () => project.notes().length;
    await project.flow(flow(['infra_error']));
    assert.equal(began(), 1);
    await project.flow(flow(['retryable']));
    assert.equal(began(), 3);
    const { of } = await project.flow(flow(['E_TRANSIENT_NET']));
    assert.equal(began(), 5);
    assert.deepEqual([of('task_submitted').length, of('task_done').length], [2, 1]);
  });

  it('ignores the task events of a child that is not a workflow, and warns in that child', async () => {
    using project = new WorkflowProject();
    project.write(
      'tools/forges/cli.sh',
      `#!/bin/bash
for type in task_submitted task_started task_done; do
  echo "{\\"type\\":\\"$type\\",\\"task_id\\":\\"after\\",\\"status\\":\\"ok\\",\\"child_run_id\\":\\"$RUN_ID\\"}"
done
echo "{\\"type\\":\\"task_action_required\\",\\"task_id\\":\\"after\\",\\"child_run_id\\":\\"$RUN_ID\\",\\"child_event\\":{\\"type\\":\\"action_required\\",\\"action\\":\\"x\\",\\"action_id\\":\\"a-1\\",\\"blocking\\":true}}"
echo '{"type":"result","status":"ok"}'
`,
      0o755,
    );
    const { code, events } = await project.flow({
      steps: [
        { name: 'forged', tool: 'forges' },
        { name: 'after', ...project.noting('after') },
      ],
    });
    assert.equal(code, 0);
    assert.deepEqual(project.done(), ['after']);
    assert.deepEqual(endsOf(events), ['forged ok', 'after ok']);
    assert.ok(events.every(({ type }) => type !== 'task_action_required'));
    const child = await project.child('forged');
    assert.ok(
      project.events(child).some(({ type, msg }) => type === 'runner_warning' && /task_/.test(String(msg))),
    );
    assert.deepEqual((await project.envelope(['show', child])).data.questions, []);
  });

  it('keeps to its number of concurrent runs, including those of nested workflows', async () => {
    using project = new WorkflowProject();
    const held = project.noting('in ${item}', { until: project.path('go') });
    project.workflow({ steps: [{ name: 'each', foreach: [1, 2], ...held }] }, 'inner.json');
    const running = project.startFlow({
      max_concurrency: 2,
      steps: ['a', 'b'].map((name) => ({ name, needs: [], workflow: './inner.json' })),
    });
    const isHeld = (id: string) =>
      project.events(id).some(({ msg }) => /max_concurrency of the workflow/.test(String(msg)));
    // A run with a record has a log.
    const waiting = () => project.runIds().filter((id) => project.record(id) !== undefined && isHeld(id));
    await until(() => waiting().length === 2 && project.notes().length === 2);
    project.write('go', '');
    assert.equal((await running.finished).code, 0);
    assert.equal(project.done().length, 4);
  });
});

function projectThatReads(): WorkflowProject {
  const project = new WorkflowProject();
  project.write('tools/reads/cli.sh', '#!/bin/sh\ncat "$2"\n', 0o755);
  const input = '{ name: from, type: path, access: read, required: true }';
  project.write('tools/reads/tool.yaml', `name: reads\ninputs: [${input}]\n`);
  return project;
}

describe('inputs of a workflow that a step cannot take', () => {
  it('are refused before anything starts, also in a dry run, where the step runs in any case', async () => {
    using project = projectThatReads();
    const flow = (first: Record<string, unknown>, rest: readonly Record<string, unknown>[] = []) =>
      project.workflow({
        inputs: { file: { type: 'path', required: true } },
        steps: [{ name: 'first', tool: 'reads', args: { from: '${inputs.file}' }, ...first }, ...rest],
      });
    const run = (path: string, file: string, ...more: readonly string[]) =>
      project.envelope(['workflow', 'run', path, '--no-stream', ...more, '--file', file]);
    for (const more of [[], ['--dry-run']]) {
      const gone = await run(flow({}), 'gone.txt', ...more);
      assert.equal(gone.error?.code, 'E_INPUT_NOT_FOUND');
      assert.match(gone.error.message, /step 'first': 'gone\.txt' for 'from' does not exist/);
      const outside = await run(flow({}), '/etc/hostname', ...more);
      assert.equal(outside.error?.code, 'E_PERMISSION');
    }
    assert.deepEqual(project.runIds(), []);
    project.write('there.txt', 'text');
    assert.equal((await run(flow({}), 'there.txt')).data?.state, 'completed', 'the control');
    // A step that comes later may find what the first one has made.
    const later = flow({ name: 'before', ...project.noting('x') }, [
      { name: 'second', tool: 'reads', args: { from: '${inputs.file}' } },
    ]);
    assert.equal((await run(later, 'gone.txt', '--dry-run')).ok, true);
    assert.equal((await run(flow({ when: '${workflow.ok}' }), 'gone.txt', '--dry-run')).ok, true);
    assert.equal((await run(flow({ on_error: 'continue' }), 'gone.txt', '--dry-run')).ok, true);
  });

  it('do not refuse a workflow that completes without the step or the task', async () => {
    using project = projectThatReads();
    const reads = { tool: 'reads', args: { from: '${inputs.file}' } };
    const one = { name: 'one', ...project.noting('one') };
    const run = (steps: readonly Record<string, unknown>[]) => {
      const path = project.workflow({ inputs: { file: { type: 'path', required: true } }, steps });
      return project.envelope(['workflow', 'run', path, '--no-stream', '--file', '/etc/hostname']);
    };
    for (const steps of [
      [
        { ...one, when: '${!workflow.ok}' },
        { name: 'two', ...reads },
      ],
      [one, { name: 'both', tasks: [{ ...reads, on_error: 'continue' }, project.noting('x')] }],
    ])
      assert.equal((await run(steps)).data?.state, 'completed');
    for (const two of [reads, { tasks: [reads] }])
      assert.equal((await run([one, { name: 'two', ...two }])).error.code, 'E_PERMISSION', 'the control');
  });
});

describe('a dry run of a workflow', () => {
  it('names what each step runs: its tool, those of its tasks and its pipe, and its workflow', async () => {
    using project = new WorkflowProject(['quick']);
    const inner = project.write(
      'workflows/inner.json',
      JSON.stringify({ name: 'inner', steps: [{ name: 'deep', ...project.noting('deep') }] }),
    );
    project.write(
      'workflows/outer.json',
      JSON.stringify({
        name: 'outer',
        steps: [
          { name: 'first', ...project.noting('first') },
          { name: 'both', type: 'parallel', tasks: [{ name: 'a', ...project.noting('a') }, 'quick'] },
          { name: 'sub', workflow: 'inner' },
        ],
        finally: [{ name: 'last', tool: 'quick' }],
      }),
    );
    const { data } = await project.envelope(['workflow', 'run', 'outer', '--dry-run']);
    const { tool } = project.noting('x');
    assert.deepEqual(
      data.steps.map(({ name, runs }: { name: string; runs: string[] }) => [name, runs]),
      [
        ['first', [tool]],
        ['both', [tool, 'quick']],
        ['sub', [inner]],
        ['last', ['quick']],
      ],
    );
  });
});

describe('verify of a workflow', () => {
  it('also verifies the runs of its steps, and those of a workflow within it', async () => {
    using project = new WorkflowProject();
    project.write(
      'workflows/inner.json',
      JSON.stringify({ name: 'inner', steps: [{ name: 'deep', ...project.noting('deep') }] }),
    );
    const { code, end } = await project.flow({
      steps: [
        { name: 'first', ...project.noting('first') },
        { name: 'sub', workflow: 'inner' },
      ],
    });
    assert.equal(code, 0, JSON.stringify(end));
    const runId = String(end.run_id);
    const whole = await project.envelope(['verify', runId]);
    assert.deepEqual([whole.ok, whole.data.counts.runs, whole.data.counts.artifacts], [true, 4, 2]);
    const { data } = await project.envelope(['artifacts', runId]);
    for (const { path, run_id } of data.artifacts) {
      const before = readFileSync(path);
      writeFileSync(path, 'changed');
      const { error } = await project.envelope(['verify', runId]);
      assert.equal(error?.code, 'E_INTEGRITY', path);
      assert.deepEqual(
        error.details.runs.flatMap(({ problems }: { problems: unknown[] }) => problems).map(placeOf),
        [[run_id, path]],
      );
      writeFileSync(path, before);
    }
  });
});

function placeOf({ run_id, path }: { run_id: string; path: string }): [string, string] {
  return [run_id, path];
}
