import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Event, readRun, TestProject } from '../support/project.ts';
import { TaskProject } from '../support/task-project.ts';

const QUICK = 'environment: { cancel_grace_s: 0.3 }';

/** A tool that reports what it spends in steps of a quarter dollar, as often as it is asked to, and then ends. */
const SPENDS = `#!/bin/bash
for i in $(seq 1 "$2"); do
  echo '{"type":"progress","msg":"step","metrics":{"cost_usd":'"$(awk "BEGIN{print $i*0.25}")"'}}'
done
[ "\${4:-}" != wait ] || exec sleep 600
echo '{"type":"result","status":"ok","metrics":{"cost_usd":'"$(awk "BEGIN{print $2*0.25}")"'}}'
`;
const MANIFEST = `name: spends
version: 1.0.0
idempotent: true
inputs: [{ name: steps, type: int, required: true }, { name: finally, default: end }]
cost: { per_run: 0.1 }
`;

function project(config: string): TestProject {
  const made = new TestProject({ config: `version: 1\n${QUICK}\n${config}\n` });
  made.write('tools/spends/tool.yaml', MANIFEST);
  made.write('tools/spends/cli.sh', SPENDS, 0o755);
  return made;
}

/** A tool that costs what its manifest says. */
function writePriced(made: TestProject): void {
  made.write('tools/priced/tool.yaml', 'name: priced\nversion: 1.0.0\ncost: { per_run: 0.1 }\n');
  made.write('tools/priced/cli.sh', `#!/bin/sh\necho '{"type":"result","status":"ok"}'\n`, 0o755);
}

const RAISE = 'Raise budget.max_workflow_cost_usd if more may be spent. Then resume the workflow.';

const warnings = (events: readonly Event[]) =>
  events.filter(({ type, code }) => type === 'runner_warning' && code === 'E_BUDGET').map(({ msg }) => msg);

describe('what a run costs', () => {
  it('is in runner_end, the record and the index: once for each run, and for its workflow as a sum', async () => {
    using made = project('');
    writePriced(made);
    const steps = [
      { name: 'one', tool: 'spends', args: { steps: 2 } },
      { name: 'two', tool: 'priced' },
    ];
    made.write('workflows/both.json', JSON.stringify({ name: 'both', steps }));
    const { end } = readRun(await made.acor(['workflow', 'run', 'both', '--stream']));
    assert.deepEqual(end.cost, { usd: null, source: null, children_usd: 0.6 });
    const costs = await made.envelope(['cost']);
    assert.deepEqual(
      costs.data.costs.map(({ of, runs, usd }: Record<string, unknown>) => [of, runs, usd]),
      [
        ['spends', 1, 0.5],
        ['priced', 1, 0.1],
      ],
    );
    assert.deepEqual([costs.data.usd, costs.data.today_usd, costs.data.day_limit_usd], [0.6, 0.6, null]);
    const [, child] = made.runIds();
    const shown = await made.envelope(['show', child!]);
    assert.deepEqual(shown.data.cost, { usd: 0.5, source: 'reported' });
    assert.equal(shown.data.cost_usd, 0.5);
    assert.deepEqual(made.events(child!).at(-1)!.cost, { usd: 0.5, source: 'reported' });
  });

  it('is that of the manifest where the tool reports what is no amount, with a warning', async () => {
    using made = project('');
    for (const [metrics, ...wrong] of [
      ['{"cost_usd":-3}', 'metrics.cost_usd'],
      ['{"cost_usd":"3"}', 'metrics.cost_usd'],
      ['{"input_tokens":"5","cost_usd":0.1}', 'metrics.input_tokens'],
      ['{"cost_usd":0.1,"model":"x","other":-1}'],
    ] as const) {
      const result = `{"type":"result","status":"ok","metrics":${metrics}}`;
      made.write('tools/spends/cli.sh', `#!/bin/sh\necho '${result}'\n`, 0o755);
      const run = readRun(await made.acor(['run', 'spends', '--steps', '1', '--stream']));
      assert.deepEqual([run.end.state, (run.end.cost as { usd: number }).usd], ['completed', 0.1]);
      const warned = run.of('runner_warning').filter(({ code }) => code === 'E_PROTOCOL');
      assert.deepEqual(
        warned.map(({ field }) => field),
        wrong,
      );
    }
  });

  it('ends a run at its limit while it works, after a warning at 80 %, and exits with 2', async () => {
    using made = project('budget: { max_cost_usd: 1 }');
    const run = readRun(
      await made.acor(['run', 'spends', '--steps', '4', '--finally', 'wait', '--timeout', '30', '--stream']),
    );
    assert.equal(run.code, 2, run.stdout);
    assert.deepEqual([run.end.state, run.end.code], ['failed', 'E_BUDGET']);
    assert.deepEqual((run.end.cost as { usd: number }).usd, 1);
    assert.deepEqual(warnings(run.events), []);
    assert.match(String(run.of('runner_error')[0]!.msg), /has cost 1 USD; budget.max_cost_usd allows 1$/);

    const near = readRun(await made.acor(['run', 'spends', '--steps', '3', '--stream']));
    assert.equal(near.end.state, 'completed');
    assert.deepEqual(warnings(near.events), []);
    using low = project('budget: { max_cost_usd: 0.9 }');
    const warned = readRun(await low.acor(['run', 'spends', '--steps', '3', '--stream']));
    assert.equal(warned.end.state, 'completed', 'a warning ends nothing');
    assert.deepEqual(warnings(warned.events), ['the run has cost 0.75 of 0.9 USD (budget.max_cost_usd)']);
  });

  it('refuses runs that may cost when the money of the day is spent, and lets others run', async () => {
    using made = project('budget: { max_day_cost_usd: 1 }');
    made.write('tools/free/cli.sh', `#!/bin/sh\necho '{"type":"result","status":"ok"}'\n`, 0o755);
    const first = readRun(await made.acor(['run', 'spends', '--steps', '3', '--stream']));
    assert.equal(first.end.state, 'completed', first.stdout);
    const second = readRun(
      await made.acor(['run', 'spends', '--steps', '9', '--finally', 'wait', '--timeout', '30', '--stream']),
    );
    assert.equal(second.end.code, 'E_BUDGET', 'it may only spend what is left');
    assert.match(String(second.of('runner_error')[0]!.msg), /budget.max_day_cost_usd allows 0.25$/);
    const third = await made.envelope(['run', 'spends', '--steps', '1', '--no-stream']);
    assert.equal(third.error.code, 'E_BUDGET');
    assert.deepEqual(third.meta.next, ['acor cost --by day']);
    assert.equal(third.error.details.run_id, undefined, 'it did not start');
    const free = await made.envelope(['run', 'free', '--no-stream']);
    assert.equal(free.ok, true);
  });

  it('refuses a tool that has cost money today, also when its manifest does not say so', async () => {
    using made = project('budget: { max_day_cost_usd: 1 }');
    made.write(
      'tools/quiet/cli.sh',
      `#!/bin/sh\necho '{"type":"result","status":"ok","metrics":{"cost_usd":1.5}}'\n`,
      0o755,
    );
    const first = await made.envelope(['run', 'quiet', '--no-stream']);
    assert.equal(first.ok, true);
    const second = await made.envelope(['run', 'quiet', '--no-stream']);
    assert.equal(second.error.code, 'E_BUDGET');
    assert.equal(second.error.details.run_id, undefined, 'it did not start');
  });

  it('counts removed runs: `clean` frees no money of the day', async () => {
    using made = project('budget: { max_day_cost_usd: 1 }');
    for (const rule of [
      ['runs', 'rm', 'last'],
      ['clean', '--keep', '0'],
    ]) {
      readRun(await made.acor(['run', 'spends', '--steps', '2', '--stream']));
      const removed = await made.envelope(rule);
      assert.equal(removed.data.removed.length, 1, JSON.stringify(removed));
    }
    const refused = await made.envelope(['run', 'spends', '--steps', '1', '--no-stream']);
    assert.equal(refused.error.code, 'E_BUDGET');
    const { data } = await made.envelope(['cost']);
    assert.deepEqual([data.usd, data.today_usd], [1, 1]);
    assert.deepEqual(
      data.costs.map(({ of, runs, usd }: Record<string, unknown>) => [of, runs, usd]),
      [['spends', 2, 1]],
    );
  });

  it('gives the steps of a workflow parts of its money, so that steps at once cannot exceed it', async () => {
    using made = project('budget: { max_workflow_cost_usd: 1.1, max_cost_usd: 0.5 }');
    const step = { name: 'all', tool: 'spends', foreach: [1, 2, 3, 4], args: { steps: 2 } };
    made.write('workflows/many.json', JSON.stringify({ name: 'many', max_concurrency: 4, steps: [step] }));
    const run = readRun(await made.acor(['workflow', 'run', 'many', '--stream']));
    assert.equal(run.end.code, 'E_BUDGET', run.stdout);
    const { children_usd } = run.end.cost as { children_usd: number };
    assert.ok(children_usd <= 1.1 + 0.5, `${children_usd} USD`);
    const begun = run.of('task_started').length;
    assert.equal(begun < 4, true, `${begun} of 4 steps began`);
    assert.match(warnings(run.events).join(), /the workflow has cost 1 of 1.1 USD/);
  });

  it('returns with the question at the limit of a workflow, also from a resume, and continues after the answer', async () => {
    using made = project('budget: { max_workflow_cost_usd: 0.1, on_cost_limit: ask }');
    writePriced(made);
    const steps = ['one', 'two'].map((name) => ({ name, tool: 'priced' }));
    made.write('workflows/two.json', JSON.stringify({ name: 'two', steps }));
    const asked = await made.envelope(['workflow', 'run', 'two', '--no-stream']);
    assert.equal(asked.error.code, 'E_ACTION_REQUIRED', JSON.stringify(asked));
    const { run_id: runId } = asked.error.details;
    await made.envelope(['answer', runId, 'budget-0.1', '--choice', 'stop']);
    const stopped = await made.envelope(['wait', runId]);
    assert.equal(stopped.error.code, 'E_BUDGET', JSON.stringify(stopped));
    const again = await made.envelope(['workflow', 'resume', runId, '--no-stream']);
    assert.equal(again.error.code, 'E_ACTION_REQUIRED', JSON.stringify(again));
    await made.envelope(['answer', runId, 'budget-0.1.again-2', '--choice', 'continue']);
    const ended = await made.envelope(['wait', runId]);
    assert.equal(ended.data.state, 'completed', JSON.stringify(ended));
  });

  it('asks when a step reaches the limit of its workflow while it works, and runs the step again when it may spend more', async () => {
    using made = project('budget: { max_workflow_cost_usd: 1, on_cost_limit: ask }');
    const steps = [
      { name: 'one', tool: 'spends', args: { steps: 1 } },
      { name: 'two', tool: 'spends', args: { steps: 4, finally: 'wait' }, needs: ['one'] },
    ];
    made.write('workflows/two.json', JSON.stringify({ name: 'two', steps }));
    const asked = await made.envelope(['workflow', 'run', 'two', '--no-stream']);
    assert.equal(asked.error.code, 'E_ACTION_REQUIRED', JSON.stringify(asked));
    const { run_id: runId } = asked.error.details;
    assert.match(asked.meta.warnings.join(), /'two' was stopped at the limit of cost.* it runs again/);
    assert.equal(made.runIds().length, 3);
    await made.envelope(['answer', runId, 'budget-1', '--choice', 'continue']);
    const again = await made.envelope(['wait', runId]);
    assert.equal(again.error.code, 'E_ACTION_REQUIRED', JSON.stringify(again));
    assert.equal(made.runIds().length, 4);
    await made.envelope(['answer', runId, '--choice', 'stop']);
    const ended = await made.envelope(['wait', runId]);
    assert.deepEqual([ended.error.code, ended.error.hint], ['E_BUDGET', RAISE]);
    const resumes = ended.meta.next.filter((step: string) => step.startsWith('acor workflow resume'));
    assert.equal(resumes.length, 1, 'it asks again');
    assert.equal(ended.error.details.failed_run, made.runIds().at(-1));
    const args = ['--answer', 'budget=continue', '--no-stream'];
    const beforehand = await made.envelope(['workflow', 'run', 'two', ...args]);
    assert.deepEqual([beforehand.error.code, beforehand.error.hint], ['E_BUDGET', RAISE]);
    assert.equal(made.runIds().length, 7);
  });

  it('names the setting to raise when a step is stopped at the limit of its workflow', async () => {
    using made = project('budget: { max_workflow_cost_usd: 0.5 }');
    const steps = [{ name: 'one', tool: 'spends', args: { steps: 2, finally: 'wait' } }];
    made.write('workflows/one.json', JSON.stringify({ steps }));
    const { error, meta } = await made.envelope(['workflow', 'run', 'one', '--no-stream']);
    assert.deepEqual([error.code, error.hint], ['E_BUDGET', RAISE]);
    const [, failed] = made.runIds();
    assert.equal(error.details.failed_run, failed);
    assert.deepEqual(meta.next, [`acor logs ${failed}`, 'acor cost --by day'], 'a resume would stop at once');
    made.write('.acor/config.yaml', `version: 1\n${QUICK}\nbudget: { max_cost_usd: 0.5 }\n`);
    const ofRun = await made.envelope(['workflow', 'run', 'one', '--no-stream']);
    assert.match(ofRun.error.message, /budget.max_cost_usd allows 0.5/);
    assert.match(ofRun.error.hint, /^Raise the limit of the budget that the message names/);
  });
});

/** A turn of Claude Code that uses tokens, and asks or ends. */
function turn(text: string, usage: object, more: object = {}) {
  return [
    { type: 'system', subtype: 'init', session_id: 's-1', tools: [], model: 'claude-sonnet-4-5' },
    {
      type: 'assistant',
      message: { id: `m-${text.length}`, content: [{ type: 'text', text }], usage },
      session_id: 's-1',
    },
    {
      ...{
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: text,
        session_id: 's-1',
        num_turns: 1,
      },
      ...{ usage, ...more },
    },
  ];
}

describe('what a task costs', () => {
  it('counts cached tokens at their price, and stops Claude while it works', async () => {
    const usage = { input_tokens: 1000, cache_read_input_tokens: 1_000_000, output_tokens: 1000 };
    const { 0: init, 1: message } = turn('Working.', usage);
    using made = new TaskProject(
      'claude',
      [{ prints: [init!, message!], does: 'cat turns/1.out; exec sleep 600' }],
      'task: { executor: claude, max_cost_usd: 0.2 }',
    );
    const run = readRun(
      await made.acor(['task', 'form', 'Write it', '--timeout', '30', '--stream'], { env: made.env }),
    );
    assert.equal(run.end.code, 'E_BUDGET', run.stdout);
    const { usd, input_tokens, cache_read_tokens, source, model } = run.end.cost as Record<string, unknown>;
    // 1,000 × 3 + 1,000,000 × 0.3 + 1,000 × 15 for a million.
    assert.deepEqual([usd, source, model], [0.318, 'priced', 'claude-sonnet-4-5']);
    assert.deepEqual([input_tokens, cache_read_tokens], [1_001_000, 1_000_000]);
    assert.ok(made.call(1).join(' ').endsWith('--max-budget-usd 0.2'));
  });

  it('asks before it goes on, and does so in the same conversation when it may', async () => {
    const asks = '[QUESTION] Which one?\nOptions:\n1. A - first\n2. B - second\n';
    using made = new TaskProject(
      'claude',
      [
        { prints: turn(asks, { input_tokens: 1, output_tokens: 1 }, { total_cost_usd: 0.3 }) },
        { prints: turn('Done.', { input_tokens: 1, output_tokens: 1 }, { total_cost_usd: 0.1 }) },
      ],
      'task: { executor: claude, max_cost_usd: 0.2 }\nbudget: { on_cost_limit: ask }',
    );
    const args = ['task', 'form', 'Write it', '--answer', 'question="1"', '--stream'];
    const asked = await made.acor(args, { env: made.env });
    assert.equal(asked.code, 2, asked.stdout);
    const [runId] = made.runIds();
    const question = made.events(runId!).find(({ action }) => action === 'budget')!;
    assert.match(String(question.msg), /has cost 0.3 USD; task.max_cost_usd allows 0.2/);
    const answered = await made.envelope(
      ['answer', runId!, String(question.action_id), '--choice', 'continue'],
      { env: made.env },
    );
    assert.equal(answered.ok, true, JSON.stringify(answered));
    const ended = await made.envelope(['wait', runId!], { env: made.env });
    assert.equal(ended.data.state, 'completed', JSON.stringify(ended));
    assert.deepEqual(made.events(runId!).at(-1)!.cost, {
      ...{ usd: 0.4, source: 'reported', model: 'claude-sonnet-4-5', input_tokens: 2, cache_read_tokens: 0 },
      ...{ cache_write_tokens: 0, output_tokens: 2, reasoning_tokens: 0 },
    });
    const costs = await made.envelope(['cost', '--by', 'task'], { env: made.env });
    assert.deepEqual([costs.data.costs[0].of, costs.data.costs[0].usd], ['form', 0.4]);
  });

  it('counts of Codex, which reports totals of a conversation, what each run has added', async () => {
    const codex = (input: number) => [
      { type: 'thread.started', thread_id: 'th-1' },
      { type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'Done.' } },
      {
        type: 'turn.completed',
        usage: { input_tokens: input, cached_input_tokens: input / 2, output_tokens: 10 },
      },
    ];
    using made = new TaskProject(
      'codex',
      [{ prints: codex(1000) }, { prints: codex(3000) }],
      'task: { executor: codex, price: { input: 10, output: 0, cache_read: 1 } }',
    );
    for (const words of ['First', 'Then'])
      assert.equal((await made.acor(['task', 't', words], { env: made.env })).code, 0);
    const costs = made.runIds().map((runId) => made.events(runId).at(-1)!.cost as Record<string, number>);
    assert.deepEqual(
      costs.map(({ input_tokens, usd }) => [input_tokens, usd]),
      [
        [1000, 0.0055],
        [2000, 0.011],
      ],
    );
  });
});
