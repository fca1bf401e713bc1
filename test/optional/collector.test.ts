import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { TestProject, until } from '../support/project.ts';

/** The folder in which `npm run test:collector` has installed the collector. */
const INSTALLED = process.env['ACOR_TEST_COLLECTOR'];
const skip = INSTALLED === undefined && 'needs @genkit-ai/telemetry-server: npm run test:collector';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

const SERVER = `
const [root, port] = process.argv.slice(1);
const { LocalFileLogStore, LocalFileTraceStore, startTelemetryServer } = require('@genkit-ai/telemetry-server');
const place = { storeRoot: root, indexRoot: root };
startTelemetryServer({ port: Number(port), traceStore: new LocalFileTraceStore(place), logStore: new LocalFileLogStore(place) });
`;

/** A span as the collector has stored it. Times are milliseconds. */
interface StoredSpan {
  spanId: string;
  parentSpanId?: string;
  displayName: string;
  startTime: number;
  endTime: number;
  attributes: Record<string, unknown>;
  status?: { code: number; message?: string };
}

/** The trace collector of Genkit, in a process of its own: it takes OTLP over HTTP below /api/otlp, and stores the spans. */
class Collector implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'acor-collector-'));
  readonly #url: string;
  readonly #child: ChildProcess;

  private constructor(port: number) {
    this.#url = `http://127.0.0.1:${port}`;
    const node = join(process.cwd(), 'node_modules/.bin/node');
    this.#child = spawn(node, ['-e', SERVER, this.#folder, String(port)], {
      cwd: INSTALLED,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector(await freePort());
    await until(async () => (await collector.#get('/api/__health'))?.ok === true);
    return collector;
  }

  get endpoint(): string {
    return `${this.#url}/api/otlp`;
  }

  async spansOf(traceId: string): Promise<StoredSpan[]> {
    const answer = await this.#get(`/api/traces/${traceId}`);
    // The answer has no body until the collector has a span of the trace.
    const text = (await answer?.text()) || '{}';
    return Object.values((JSON.parse(text) as { spans?: Record<string, StoredSpan> }).spans ?? {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await exited;
    rmSync(this.#folder, { recursive: true });
  }

  #get(path: string): Promise<Response | undefined> {
    return fetch(`${this.#url}${path}`).catch(() => undefined);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('a collector from a package', { skip }, () => {
  let project: TestProject;
  afterEach(async () => {
    await project.supervisorsExited();
    await until(() => !existsSync(project.path('.runs/outbox/deliver.lock')));
    project[Symbol.dispose]();
  });

  it('stores the spans of a workflow, its steps, their attempts and the waiting for an answer', async () => {
    await using collector = await Collector.start();
    const config = { version: 1, telemetry: { endpoint: collector.endpoint } };
    project = new TestProject({ tools: ['asks', 'exits_with'], config: JSON.stringify(config) });
    const steps = [
      { name: 'first', tool: 'asks' },
      { name: 'second', tool: 'exits_with', args: ['30'], on_error: 'continue' },
    ];
    project.write('.acor/workflows/both.yaml', JSON.stringify({ steps }));
    const env = { TRACEPARENT: `00-${TRACE}-${PARENT}-01` };
    const { data } = await project.envelope(['workflow', 'run', 'both', '--detach'], { env });
    await until(() => project.record(data.run_id)?.state === 'waiting_ai');
    await project.envelope(['answer', data.run_id, '--choice', 'fast', '--by', 'ada']);
    await project.envelope(['wait', data.run_id]);

    let spans: StoredSpan[] = [];
    const named = (name: string) => spans.filter(({ displayName }) => displayName === name);
    await until(async () => {
      spans = await collector.spansOf(TRACE);
      return named('invoke_workflow workflow:both').length > 0 && named('execute_tool exits_with').length > 0;
    });
    const [workflow] = named('invoke_workflow workflow:both');
    const [first] = named('execute_tool asks');
    const [second] = named('execute_tool exits_with');
    assert.equal(workflow!.parentSpanId, PARENT);
    for (const step of [first, second]) assert.equal(step!.parentSpanId, workflow!.spanId);
    const attempts = named('attempt').map(({ parentSpanId }) => parentSpanId);
    for (const run of [workflow, first, second]) assert.ok(attempts.includes(run!.spanId));
    assert.ok(named('wait_for_answer').some(({ attributes }) => attributes['acor.answered_by'] === 'ada'));
    assert.deepEqual(
      [first, second].map((step) => [step!.attributes['acor.run.state'], step!.status!.code]),
      [
        ['completed', 1],
        ['failed', 2],
      ],
    );
    for (const { startTime, endTime } of spans) assert.ok(startTime > 0 && endTime >= startTime);
    for (const step of [first, second]) {
      assert.ok(step!.startTime >= workflow!.startTime && step!.endTime <= workflow!.endTime);
    }
  });
});
