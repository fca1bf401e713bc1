import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../support/project.ts';
import { WorkflowProject } from '../support/workflow-project.ts';

const decision = (more: Record<string, unknown> = {}) => ({
  name: 'choose',
  type: 'ai_decision',
  decision_type: 'pick_way',
  instruction: 'Which way?',
  context: { from: '${workflow.run_id}' },
  options: [{ id: 'left' }, { id: 'right' }],
  ...more,
});

describe('a question of a workflow', () => {
  it('is asked with its context, stays open after an invalid answer, and its answer is data for later steps', async () => {
    using project = new WorkflowProject();
    const running = project.startFlow({
      steps: [
        decision(),
        { name: 'l', when: "${steps.choose.answer == 'left'}", ...project.noting('left') },
        {
          name: 'r',
          needs: ['choose'],
          when: "${steps.choose.answer == 'right'}",
          ...project.noting('right'),
        },
      ],
    });
    const { code, stderr } = await running.finished;
    const flow = project.flowId();
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`acor answer ${flow} choose --choice left`));
    const { data } = await project.envelope(['show', flow]);
    assert.equal(data.state, 'waiting_ai');
    const [question] = data.questions;
    assert.deepEqual(
      [question.action, question.msg, question.context],
      ['pick_way', 'Which way?', { from: flow }],
    );
    const wrong = await project.envelope(['answer', flow, '--choice', 'up']);
    assert.equal(wrong.error.code, 'E_BAD_ANSWER');
    await project.envelope(['answer', flow, '--choice', 'right']);
    const waited = await project.envelope(['wait', flow]);
    assert.deepEqual([waited.code, waited.data.state], [0, 'completed']);
    assert.deepEqual(project.done(), ['right']);
  });

  it('is answered by the name of its step, which its id need not be, also from a workflow around it', async () => {
    using project = new WorkflowProject();
    const path = project.workflow({ steps: [decision({ name: 'Links?' })] });
    const outer = project.workflow({ steps: [{ name: 'sub', workflow: path }] }, 'outer.json');
    for (const [file, name] of [
      [path, 'Links?'],
      [outer, 'sub:Links?'],
    ] as const) {
      const asked = await project.envelope(['workflow', 'run', file, '--no-stream']);
      const { run_id: flow } = asked.error.details as { run_id: string };
      const other = await project.envelope(['answer', flow, 'Links', '--choice', 'left']);
      assert.match(other.error.message, /has not asked 'Links'/, 'the control');
      const answered = await project.envelope(['answer', flow, name, '--choice', 'left']);
      assert.match(String(answered.data.action_id), /^(sub:)?q-Links_-[0-9a-f]{8}$/);
      assert.equal((await project.envelope(['wait', flow])).data.state, 'completed');
    }
    const given = await project.envelope(['workflow', 'run', path, '--no-stream', '--answer', 'Links?=left']);
    assert.deepEqual([given.data.state, given.meta.warnings], ['completed', undefined]);
  });

  it('keeps its answer through a kill, and is asked again when its step is run again', async () => {
    using project = new WorkflowProject();
    const running = project.startFlow(
      {
        steps: [
          decision(),
          { name: 'work', ...project.noting('went ${steps.choose.answer}', { until: project.path('go') }) },
        ],
      },
      ['--answer', 'pick_way=left'],
    );
    await project.noted('begin went left');
    const flow = project.flowId();
    await project.killSupervisor(flow);
    await running.finished;
    project.write('go', '');
    const resumed = await project.envelope(['resume', flow, '--no-stream']);
    assert.equal(resumed.code, 0);
    assert.deepEqual(project.done(), ['went left']);
    await project.envelope(['workflow', 'resume', flow, '--from', 'choose', '--detach']);
    await until(() => project.record(flow)!.state === 'waiting_ai');
    assert.equal((await project.envelope(['answer', flow, '--choice', 'right'])).code, 0);
    assert.equal((await project.envelope(['wait', flow])).code, 0);
    assert.deepEqual(project.done(), ['went left', 'went right']);
  });

  it('uses its default without an answer, and fails the step when it has none', async () => {
    using project = new WorkflowProject();
    const flow = (more: Record<string, unknown>) => ({
      steps: [decision({ timeout_s: 0.2, ...more })],
      outputs: { way: '${steps.choose.answer}' },
    });
    await project.acor(['workflow', 'run', project.workflow(flow({ default: 'left' })), '--detach']);
    const first = await project.envelope(['wait', project.runIds()[0]!, '--until', 'ending']);
    assert.deepEqual(first.data.result.data, { way: 'left' });
    await project.acor(['workflow', 'run', project.workflow(flow({})), '--detach']);
    const second = await project.envelope(['wait', project.runIds()[1]!, '--until', 'ending']);
    assert.deepEqual([second.error.details.state, second.error.code], ['failed', 'E_ACTION_TIMEOUT']);
  });
});

describe('a question of a child', () => {
  for (const where of ['workflow', 'child'] as const) {
    it(`is answered at the ${where}, and both continue`, async () => {
      using project = new WorkflowProject(['asks']);
      project.workflow({ steps: [{ name: 'ask', foreach: [1], tool: 'asks' }] }, 'inner.json');
      const running = project.startFlow({
        steps: [{ name: 'sub', workflow: './inner.json' }],
      });
      const { code, stderr } = await running.finished;
      const flow = project.flowId();
      assert.equal(code, 2);
      assert.ok(stderr.includes(`acor answer ${flow} 'sub/ask[0]:a-1' --choice slow`), stderr);
      const wrong = await project.envelope(['answer', flow, '--choice', 'up']);
      assert.equal(wrong.error.code, 'E_BAD_ANSWER');
      const at = where === 'workflow' ? [flow, 'sub/ask[0]:a-1'] : [await project.child('ask[0]'), 'a-1'];
      assert.equal((await project.envelope(['answer', ...at, '--choice', 'fast', '--by', 'me'])).code, 0);
      assert.equal((await project.envelope(['wait', flow])).data.state, 'completed');
      const [decision] = (await project.envelope(['decisions', flow])).data.decisions;
      assert.deepEqual([decision.state, decision.answer, decision.by], ['answered', 'fast', 'me']);
      assert.equal((await project.envelope(['decisions'])).data.decisions.length, 1);
    });
  }

  it('is not shown as open once the child has its answer, although the workflow has not taken notice of it', async () => {
    using project = new WorkflowProject(['asks']);
    await project.startFlow({ steps: [{ name: 'ask', tool: 'asks' }] }).finished;
    const flow = project.flowId();
    const { pid } = project.record(flow)!;
    process.kill(pid, 'SIGSTOP');
    await project.envelope(['answer', flow, '--choice', 'fast']);
    assert.deepEqual((await project.envelope(['show', flow])).data.questions, []);
    const { data } = await project.envelope(['wait', flow, '--timeout', '0.2']);
    assert.deepEqual([data.waited, data.state], ['timeout', 'waiting_ai']);
    process.kill(pid, 'SIGCONT');
    assert.equal((await project.envelope(['wait', flow])).data.state, 'completed');
  });

  it('is answered in advance by answers of the workflow', async () => {
    using project = new WorkflowProject(['asks']);
    const { code } = await project.flow({ steps: [{ name: 'ask', tool: 'asks' }] }, [
      '--answer',
      'choose_speed=fast',
    ]);
    assert.equal(code, 0);
  });
});

describe('a step that asks how to handle its failure', () => {
  const failing = (project: WorkflowProject, code: string) => ({
    steps: [
      {
        name: 'bad',
        on_error: 'ask',
        ...project.noting('bad', { fails_with: code, unless: project.path('repaired') }),
      },
      { name: 'after', ...project.noting('after ${steps.bad.ok}') },
    ],
  });

  it('is retried, or left as it is, as the answer says', async () => {
    using project = new WorkflowProject();
    await project.startFlow(failing(project, 'E_DISK_FULL')).finished;
    const flow = project.flowId();
    const [question] = (await project.envelope(['show', flow])).data.questions;
    assert.deepEqual([question.action, question.context.code], ['step_failed', 'E_DISK_FULL']);
    project.write('repaired', '');
    await project.envelope(['answer', flow, '--choice', 'retry']);
    assert.equal((await project.envelope(['wait', flow])).data.state, 'completed');
    assert.deepEqual(project.done(), ['after true', 'bad']);
  });

  it('is retried three times by an answer that was given in advance or by a rule, and not without end', async () => {
    using project = new WorkflowProject();
    const { steps } = failing(project, 'E_DISK_FULL');
    const flow = {
      steps: [{ ...steps[0]!, retry: { on: ['E_TRANSIENT_NET'], max: 1, backoff_s: 0.01 } }, steps[1]!],
    };
    const rule = '{ action: step_failed, answer: retry, reason: try again }';
    for (const given of [['--answer', 'step_failed=retry'], []]) {
      if (given.length === 0)
        project.write(
          '.acor/config.yaml',
          `version: 1\nsecurity: { isolation: 'off' }\nanswers: [${rule}]\n`,
        );
      const { code } = await project.flow(flow, given);
      assert.equal(code, 1);
      const run = project
        .runIds()
        .filter((id) => project.whole(id).kind === 'workflow')
        .at(-1)!;
      const events = project.events(run);
      assert.equal(events.filter(({ type }) => type === 'task_submitted').length, 4);
      const warning = events.find(({ type }) => type === 'runner_warning');
      assert.match(String(warning?.msg), /'bad' failed 4 times.*holds for 3 retries of a step/);
    }
  });

  it('does what the error table recommends without an answer', async () => {
    using project = new WorkflowProject();
    project.write(
      '.acor/config.yaml',
      "version: 1\nsecurity: { isolation: 'off' }\nenvironment: { answer_timeout_s: 0.3 }\n",
    );
    for (const [code, state] of [
      ['E_TRANSIENT_NET', 'failed'],
      ['E_DISK_FULL', 'failed'],
    ] as const) {
      await project.acor(['workflow', 'run', project.workflow(failing(project, code)), '--detach']);
      const flow = project
        .runIds()
        .filter((id) => project.whole(id).kind === 'workflow')
        .at(-1)!;
      const ended = await project.envelope(['wait', flow, '--until', 'ending']);
      assert.equal((ended.data ?? ended.error.details).state, state);
      const tries = project.events(flow).filter(({ type }) => type === 'task_submitted').length;
      assert.equal(tries, code === 'E_TRANSIENT_NET' ? 4 : 1);
    }
  });
});
