import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { OtlpCollector, spansIn } from '../support/otlp-collector.ts';
import { TestProject, until } from '../support/project.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

let project: TestProject;
let collector: OtlpCollector | undefined;
afterEach(async () => {
  await project.supervisorsExited();
  await until(() => !existsSync(project.path('.runs/outbox/deliver.lock')));
  await collector?.stop();
  collector = undefined;
  project[Symbol.dispose]();
});

/** Every run has left the outbox: what it had to say is delivered. */
async function delivered(): Promise<void> {
  await until(() => readdirSync(project.path('.runs/outbox')).every((name) => !name.startsWith('r-')));
}

function projectWith(telemetry: object): void {
  project = new TestProject({ tools: ['asks', 'quick', 'needs_three_tries', 'shows_environment'] });
  configure(telemetry);
}

function configure(telemetry: object): void {
  const config = { version: 1, environment: { cancel_grace_s: 0.3 }, telemetry };
  project.write('.acor/config.yaml', JSON.stringify(config));
}

describe('telemetry', () => {
  it("sends the spans of a workflow, its steps and its waiting, in the caller's trace", async () => {
    collector = await OtlpCollector.start();
    projectWith({ endpoint: collector.endpoint, authorization: 'OTLP' });
    await project.acor(['secret', 'set', 'OTLP'], { stdin: 'Bearer of-tests' });
    project.write('.acor/workflows/one.yaml', 'steps: [{ name: only, tool: asks }]\n');
    const env = { TRACEPARENT: `00-${TRACE}-${PARENT}-01`, AI_AGENT: 'planner' };
    const { data } = await project.envelope(['workflow', 'run', 'one', '--detach'], { env });
    await until(() => project.record(data.run_id)?.state === 'waiting_ai');
    assert.deepEqual(collector.spans, []);
    await project.envelope(['answer', data.run_id, '--choice', 'fast', '--by', 'ada']);
    await project.envelope(['wait', data.run_id]);
    await delivered();
    const [workflow] = collector.named('invoke_workflow workflow:one');
    const [step] = collector.named('execute_tool asks');
    assert.deepEqual([workflow!.traceId, workflow!.parentSpanId], [TRACE, PARENT]);
    assert.deepEqual([step!.traceId, step!.parentSpanId], [TRACE, workflow!.spanId]);
    assert.deepEqual(
      [
        workflow!.attributes['acor.caller'],
        step!.attributes['acor.task.id'],
        step!.attributes['acor.run.state'],
      ],
      ['agent:planner', 'only', 'completed'],
    );
    const waits = collector.named('wait_for_answer');
    assert.deepEqual(
      waits.map(({ parentSpanId }) => parentSpanId).sort(),
      [workflow!.spanId, step!.spanId].sort(),
    );
    assert.ok(waits.every(({ attributes }) => attributes['acor.answered_by'] === 'ada'));
    assert.deepEqual(collector.problems, []);
    assert.ok(collector.authorizations.every((each) => each === 'Bearer of-tests'));
    assert.equal(new Set(collector.spans.map(({ spanId }) => spanId)).size, collector.spans.length);
  });

  it('passes the state and the flag of the trace on, and sends no spans of a trace that the caller does not record', async () => {
    collector = await OtlpCollector.start();
    projectWith({ endpoint: collector.endpoint });
    project.write('.acor/workflows/one.yaml', 'steps: [{ name: only, tool: shows_environment }]\n');
    for (const flags of ['00', '01']) {
      const env = { TRACEPARENT: `00-${TRACE}-${PARENT}-${flags}`, TRACESTATE: 'congo=t61,rojo=1' };
      const { data } = await project.envelope(['workflow', 'run', 'one', '--no-stream'], { env });
      const [step] = project.runIds().filter((run) => run > data.run_id);
      const shown = project.events(step!).map(({ msg }) => String(msg));
      assert.ok(shown.includes('TRACESTATE=congo=t61,rojo=1'));
      assert.ok(
        shown.some((line) => new RegExp(`^TRACEPARENT=00-${TRACE}-[0-9a-f]{16}-${flags}$`).test(line)),
      );
    }
    await delivered();
    // A workflow, its step and the attempts of both, of the second one only.
    assert.deepEqual(collector.spans.map(({ name }) => name).sort(), [
      'attempt',
      'attempt',
      'execute_tool shows_environment',
      'invoke_workflow workflow:one',
    ]);
    assert.ok(collector.spans.every(({ traceState }) => traceState === 'congo=t61,rojo=1'));
    // Without a trace of the caller there is no state.
    const { events } = await project.run(['shows_environment'], { env: { TRACESTATE: 'congo=t61' } });
    assert.ok(!events.some(({ msg }) => String(msg).startsWith('TRACESTATE')));
  });

  it('makes a span of each attempt, with the error of those that failed', async () => {
    collector = await OtlpCollector.start();
    projectWith({ endpoint: collector.endpoint });
    const { end } = await project.run(['needs_three_tries', '--retries', '3']);
    await delivered();
    const attempts = collector
      .named('attempt')
      .sort((a, b) => (a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1));
    assert.deepEqual(
      attempts.map(({ attributes }) => attributes['acor.attempt']),
      [1, 2, 3],
    );
    const failed = attempts.map(({ status }) => status.code);
    assert.deepEqual(failed, [2, 2, end.state === 'completed' ? 1 : 2]);
  });

  it('makes spans of each supervisor of a run: of the killed one too, when the run was resumed', async () => {
    collector = await OtlpCollector.start();
    projectWith({ endpoint: collector.endpoint });
    const { data } = await project.envelope(['run', 'asks', '--detach']);
    await until(() => project.record(data.run_id)?.state === 'waiting_ai');
    await project.killSupervisor(data.run_id);
    await project.envelope(['resume', data.run_id, '--force', '--detach']);
    await until(() => project.record(data.run_id)?.state === 'waiting_ai');
    await project.envelope(['answer', data.run_id, '--choice', 'fast']);
    await project.envelope(['wait', data.run_id]);
    await delivered();
    const byTime = (a: { startTimeUnixNano: string }, b: { startTimeUnixNano: string }) =>
      a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1;
    const runs = collector.named('execute_tool asks').sort(byTime);
    assert.deepEqual(
      runs.map(({ attributes, status }) => [
        attributes['acor.run.state'],
        attributes['error.type'],
        status.code,
      ]),
      [
        ['failed', 'E_RUNNER_LOST', 2],
        ['completed', undefined, 1],
      ],
    );
    const attempts = collector.named('attempt').sort(byTime);
    assert.deepEqual(
      attempts.map(({ attributes, parentSpanId }) => [attributes['acor.attempt'], parentSpanId]),
      runs.map(({ spanId }, at) => [at + 1, spanId]),
    );
    assert.deepEqual(collector.problems, []);
  });

  it('loses no span while the collector is dead, and costs the run nothing', async () => {
    collector = await OtlpCollector.start();
    collector.status = 503;
    projectWith({ endpoint: collector.endpoint });
    const { end, code } = await project.run(['quick']);
    assert.deepEqual([end.state, code], ['completed', 0]);
    await until(() => existsSync(project.path('.runs/outbox/receivers.json')));
    assert.deepEqual(collector.spans, []);
    const { meta } = await project.envelope(['outbox']);
    assert.deepEqual(meta.warnings, [
      'another process delivers the messages of this project; it tries again now',
    ]);
    collector.status = 200;
    await delivered();
    assert.equal(collector.named('execute_tool quick').length, 1);
  });

  it('reaches the collector of a changed configuration, though a process still tries to deliver to the earlier one', async () => {
    const dead = await OtlpCollector.start();
    projectWith({ endpoint: dead.endpoint });
    await dead.stop();
    await project.run(['quick']);
    await until(() => existsSync(project.path('.runs/outbox/receivers.json')));
    collector = await OtlpCollector.start();
    configure({ endpoint: collector.endpoint });
    await project.envelope(['outbox']);
    await delivered();
    assert.equal(collector.named('execute_tool quick').length, 1);
  });

  it('is tested by `outbox --test`: a collector and a file get a request without spans, and a collector that takes none is named', async () => {
    collector = await OtlpCollector.start();
    projectWith({ endpoint: collector.endpoint, file: '.runs/traces.jsonl', authorization: 'OTLP' });
    await project.acor(['secret', 'set', 'OTLP'], { stdin: 'Bearer of-tests' });
    const { data } = await project.envelope(['outbox', '--test']);
    assert.deepEqual(
      data.sent.map(({ type, error }: { type: string; error: string | null }) => [type, error]),
      [
        ['test', null],
        ['test', null],
      ],
    );
    assert.deepEqual([collector.authorizations, collector.problems], [['Bearer of-tests'], []]);
    assert.deepEqual(spansIn(readFileSync(project.path('.runs/traces.jsonl'), 'utf8')), []);
    collector.status = 401;
    const { error } = await project.envelope(['outbox', '--test']);
    assert.deepEqual(
      [error.code, error.message],
      ['E_NOT_READY', `${collector.endpoint} did not take the test: it answered 401`],
    );
  });

  it('appends the same requests to a file', async () => {
    projectWith({ file: '.runs/traces.jsonl' });
    await project.run(['quick']);
    await project.run(['quick']);
    await delivered();
    const lines = readFileSync(project.path('.runs/traces.jsonl'), 'utf8').trim().split('\n');
    const names = lines.flatMap((line) => spansIn(line).map(({ name }) => name));
    assert.equal(names.filter((name) => name === 'execute_tool quick').length, 2);
  });
});
