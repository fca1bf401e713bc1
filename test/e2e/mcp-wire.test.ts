import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { startHttp, TOKEN } from '../support/mcp-server.ts';
import { processesOf, type Running, TestProject, until } from '../support/project.ts';

const VERSION = '2026-07-28';
const TASKS = { 'io.modelcontextprotocol/tasks': {} };

const QUESTION = {
  type: 'action_required',
  action: 'go_on',
  action_id: 'q',
  audience: 'user',
  blocking: true,
  context: {},
  schema: { type: 'boolean' },
};

const progress = (pct: number, msg: string) => ({ type: 'progress', step: 'work', pct, msg });
const WORKS = [
  progress(10, 'part 10'),
  progress(40, 'part 40'),
  { type: 'heartbeat' },
  progress(20, 'back'),
  progress(90, 'part 90'),
  { type: 'result', status: 'ok' },
];

/** The fields of a request that describe the client, in the stateless revision. */
function meta(clientCapabilities: object) {
  return {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
  };
}

const TASK_CLIENT = meta({ elicitation: { form: {} }, extensions: TASKS });

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the answer holds
type Message = any;

/** `acor mcp` with bare pipes, so that a test can send any bytes. */
class Wire {
  readonly running: Running;
  readonly #answers = new Map<unknown, Message>();
  readonly lines: string[] = [];
  #rest = '';
  #id = 0;

  constructor(project: TestProject) {
    this.running = project.start(['mcp']);
    this.running.child.stdout!.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop()!;
      this.lines.push(...lines);
      for (const line of lines) this.#answers.set(JSON.parse(line).id, JSON.parse(line));
    });
  }

  write(text: string): void {
    this.running.child.stdin!.write(text);
  }

  async ask(method: string, params: object, client: object = TASK_CLIENT): Promise<Message> {
    const id = ++this.#id;
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: client } })}\n`);
    await until(() => this.#answers.has(id));
    return this.#answers.get(id);
  }

  /** Polls a task until it has reached a state. */
  async task(taskId: string, status: string): Promise<Message> {
    for (;;) {
      const { result } = await this.ask('tasks/get', { taskId });
      if (result.status === status) return result;
      assert.ok(['working', 'input_required'].includes(result.status), JSON.stringify(result));
    }
  }
}

let project: TestProject;

before(() => {
  project = new TestProject({ tools: ['quick', 'asks'] });
  project.write('tools/hangs/cli.sh', '#!/bin/bash\nsleep 600 & wait\n', 0o755);
  project.write(
    'tools/works/cli.sh',
    `#!/bin/bash\n${WORKS.map((line) => `echo '${JSON.stringify(line)}'\n`).join('')}`,
    0o755,
  );
  project.write('tools/asks_user/tool.yaml', 'name: asks_user\nversion: 1.0.0\nactions: [go_on]\n');
  project.write(
    'tools/asks_user/cli.sh',
    `#!/bin/bash\necho '${JSON.stringify(QUESTION)}'\nread -r answer\necho '{"type":"result","status":"ok","data":'"$answer"'}'\n`,
    0o755,
  );
});
after(() => project[Symbol.dispose]());

describe('runs as tasks', () => {
  let wire: Wire;
  before(() => {
    wire = new Wire(project);
  });
  after(async () => {
    wire.running.child.stdin!.end();
    assert.equal((await wire.running.finished).code, 0);
  });

  it('are the result of a long call for a client that accepts tasks; the run is the task, and ends with it', async () => {
    const { result } = await wire.ask('tools/call', { name: 'hangs', arguments: {} });
    assert.deepEqual([result.resultType, result.status], ['task', 'working']);
    assert.equal(project.record(result.taskId)?.state, 'running');
    const cancelled = await wire.ask('tasks/cancel', { taskId: result.taskId });
    assert.equal(cancelled.result.resultType, 'complete');
    await wire.task(result.taskId, 'cancelled');
    assert.deepEqual(processesOf(result.taskId), []);
  });

  it('ask the user by their state, accept the answer, and carry the result of the call', async () => {
    const { result } = await wire.ask('tools/call', { name: 'asks_user', arguments: {} });
    const waiting = await wire.task(result.taskId, 'input_required');
    assert.equal(waiting.inputRequests.q.method, 'elicitation/create');
    const inputResponses = { q: { action: 'accept', content: { answer: true } } };
    await wire.ask('tasks/update', { taskId: result.taskId, inputResponses });
    const done = await wire.task(result.taskId, 'completed');
    assert.equal(done.result.structuredContent.data.answer, true);
  });

  it('end with the question when the user declines it, and the run keeps waiting', async () => {
    const { result } = await wire.ask('tools/call', { name: 'asks_user', arguments: {} });
    const { taskId } = result;
    await wire.task(taskId, 'input_required');
    await wire.ask('tasks/update', { taskId, inputResponses: { q: { action: 'decline' } } });
    const done = await wire.task(taskId, 'completed');
    assert.equal(done.result.structuredContent.state, 'waiting_ai');
    assert.ok(processesOf(taskId).length > 0);
    await wire.ask('tools/call', { name: 'acor_cancel', arguments: { run: taskId } });
    assert.deepEqual(processesOf(taskId), []);
  });

  it('are rejected for a client that does not accept them, and for an unknown run', async () => {
    const plain = await wire.ask('tasks/get', { taskId: 'r-0000000000000000' }, meta({}));
    assert.equal(plain.error.code, -32021);
    for (const taskId of ['r-0000000000000000', '../../etc'])
      assert.equal((await wire.ask('tasks/get', { taskId })).error.code, -32602);
  });

  it('are neither offered nor served to a client with a handshake, whose requests cannot declare the extension', async () => {
    const legacy = new Wire(project);
    const clientInfo = { name: 'wire', version: '1' };
    const hello = { protocolVersion: '2025-11-25', capabilities: { extensions: TASKS }, clientInfo };
    const { result } = await legacy.ask('initialize', hello, {});
    assert.ok(!('io.modelcontextprotocol/tasks' in result.capabilities.extensions), JSON.stringify(result));
    const get = await legacy.ask('tasks/get', { taskId: 'r-0000000000000000' }, {});
    assert.equal(get.error.code, -32601);
    legacy.running.child.stdin!.end();
    await legacy.running.finished;
    // The control: they are offered to a client that declares it in each request.
    const { capabilities } = (await wire.ask('server/discover', {})).result;
    assert.ok('io.modelcontextprotocol/tasks' in capabilities.extensions);
  });

  it('end with a question to the model that was not asked before the task existed', async () => {
    const { result } = await wire.ask('tools/call', { name: 'asks', arguments: {} });
    const isTask = result.resultType === 'task';
    const answer = isTask ? (await wire.task(result.taskId, 'completed')).result : result;
    assert.equal(answer.structuredContent.state, 'waiting_ai');
    await wire.ask('tools/call', {
      name: 'acor_cancel',
      arguments: { run: answer.structuredContent.run_id },
    });
  });
});

describe('progress', () => {
  it('is reported before the answer, always rising, with the last message of the tool', async () => {
    const wire = new Wire(project);
    const client = { ...meta({}), progressToken: 'token' };
    const { result } = await wire.ask('tools/call', { name: 'works', arguments: {} }, client);
    assert.equal(result.structuredContent.state, 'completed');
    const messages = wire.lines.map((line) => JSON.parse(line));
    assert.equal(messages.at(-1).result.structuredContent.run_id, result.structuredContent.run_id);
    const notifications = messages.slice(0, -1).map(({ method, params }) => {
      assert.deepEqual([method, params.progressToken], ['notifications/progress', 'token']);
      return [params.progress, params.total, params.message];
    });
    assert.deepEqual(notifications.slice(0, 2), [
      [10, 100, 'part 10'],
      [40, 100, 'part 40'],
    ]);
    // Neither a heartbeat nor a tool that goes back lowers it.
    assert.ok(
      notifications[2]![0] > 40 && notifications[2]![0] < 41 && notifications[2]![2] === 'part 40',
      String(notifications[2]),
    );
    assert.ok(
      notifications[3]![0] > notifications[2]![0] && notifications[3]![2] === 'back',
      String(notifications[3]),
    );
    assert.deepEqual(notifications.slice(4), [[90, 100, 'part 90']]);
    wire.running.child.stdin!.end();
    await wire.running.finished;
  });
});

describe('invalid input of a client of acor mcp', () => {
  it('neither stops the server nor makes it print anything but JSON-RPC', async () => {
    const wire = new Wire(project);
    for (const nonsense of [
      'nonsense\n',
      '{"jsonrpc":"2.0"\n',
      '[]\n',
      '{"jsonrpc":"2.0","id":"x","result":{}}\n',
      '\u0000\n',
    ])
      wire.write(nonsense);
    const unknown = await wire.ask('no/such/method', {});
    assert.equal(unknown.error.code, -32601);
    const wrong = await wire.ask('tools/call', { name: 7 });
    assert.ok(wrong.error);
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    wire.write(`{"jsonrpc":"2.0","id":"deep","method":"tools/list","params":{"x":${deep}}}\n`);
    const big = 'x'.repeat(2_000_000);
    const called = await wire.ask('tools/call', { name: 'quick', arguments: { nope: big } });
    assert.equal(called.result.structuredContent.error.code, 'E_USAGE');
    for (const [name, given] of [
      ['acor_wait', { run: big }],
      ['acor_explain', { topic: big }],
      ['acor_run', { tool: big }],
      ['acor_answer', { run: big, choice: big }],
    ] as const) {
      const { content, structuredContent } = (await wire.ask('tools/call', { name, arguments: given }))
        .result;
      assert.equal(typeof structuredContent.error.message, 'string', name);
      const texts = [content[0].text, JSON.stringify(structuredContent)];
      assert.ok(
        texts.every((text) => text.length < 20_000),
        `${name}: ${texts.map(({ length }) => length)}`,
      );
    }
    // A number for a text, and one text for a list, cannot be meant otherwise: only the run is wrong.
    for (const [name, given] of [
      ['acor_logs', { type: 'error' }],
      ['acor_artifact_read', { artifact: 1 }],
    ] as const) {
      const { result } = await wire.ask('tools/call', {
        name,
        arguments: { run: 'r-0000000000000000', ...given },
      });
      assert.equal(result.structuredContent.error.code, 'E_RUN_NOT_FOUND', name);
    }
    const forged = await wire.ask('tools/call', { name: 'asks_user', arguments: {}, requestState: 'v1.x.y' });
    assert.equal(forged.error.code, -32602);
    assert.ok(wire.lines.every((line) => JSON.parse(line).jsonrpc === '2.0'));
    wire.running.child.stdin!.end();
    assert.equal((await wire.running.finished).code, 0);
  });

  it('is refused when the requestState of one tool is sent with another', async () => {
    const wire = new Wire(project);
    const client = meta({ elicitation: { form: {} } });
    const asked = await wire.ask('tools/call', { name: 'asks_user', arguments: {} }, client);
    const { resultType, requestState } = asked.result;
    assert.deepEqual([resultType, typeof requestState], ['input_required', 'string']);
    const inputResponses = { q: { action: 'accept', content: { answer: true } } };
    const go = { arguments: {}, requestState, inputResponses };
    const other = await wire.ask('tools/call', { name: 'asks', ...go }, client);
    assert.equal(other.error?.code, -32602, JSON.stringify(other));
    assert.match(other.error.message, /belongs to another tool/);
    // The control: the same request with its own tool.
    const own = await wire.ask('tools/call', { name: 'asks_user', ...go }, client);
    assert.equal(own.result?.structuredContent.state, 'completed', JSON.stringify(own));
    wire.running.child.stdin!.end();
    await wire.running.finished;
  });

  it('is answered with an error of JSON-RPC, and each valid request around it, alone or in a batch', async () => {
    const wire = new Wire(project);
    const ask = (id: unknown, method: string, params?: object) => ({ jsonrpc: '2.0', id, method, params });
    const clientInfo = { name: 'wire', version: '1' };
    const hello = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
    const sent = [
      ask(1, 'initialize', hello),
      [ask(2, 'ping')],
      'garbage',
      ask(3, 'tools/list', { _meta: { progressToken: null } }),
      [ask('four', 'ping'), 'x', ask(5, 'tools/list', { _meta: 7 })],
      [],
      { jsonrpc: '1.0', id: {}, method: 'ping' },
      // Neither is a request, so neither has an answer.
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: 7 },
      { jsonrpc: '2.0', id: 1, error: 'x' },
      ask(6, 'ping'),
    ];
    for (const each of sent) wire.write(`${typeof each === 'string' ? each : JSON.stringify(each)}\n`);
    const twice = [
      '{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}',
      '{"jsonrpc":"2.0","id":"nine","method":"tools/call","params":{"name":"quick","name":"asks","arguments":{}}}',
    ];
    for (const each of twice) wire.write(`${each}\n`);
    await until(() => wire.lines.length >= 11);
    const answers = wire.lines.map((line) => JSON.parse(line));
    const codesOf = (id: unknown) => answers.filter((each) => each.id === id).map(({ error }) => error?.code);
    for (const id of [1, 2, 'four', 6]) assert.deepEqual(codesOf(id), [undefined], String(id));
    for (const id of [3, 5]) assert.deepEqual(codesOf(id), [-32600], String(id));
    assert.deepEqual(codesOf(null), [-32700, -32600, -32600, -32600, -32600]);
    const refused = answers.filter((each) => /twice/.test(each.error?.message));
    assert.deepEqual(
      refused.map(({ id, error }) => [id, /'(\w+)'/.exec(error.message)?.[1]]),
      [
        [null, 'id'],
        ['nine', 'name'],
      ],
    );
    for (const id of [7, 8]) assert.deepEqual(codesOf(id), [], String(id));
    wire.running.child.stdin!.end();
    assert.equal((await wire.running.finished).code, 0);
    assert.equal(wire.lines.length, 12);
  });

  it('is refused where a line is longer than 10 MiB, and calls in flight and later ones are answered', async () => {
    const wire = new Wire(project);
    const { result } = await wire.ask('tools/call', { name: 'hangs', arguments: {} });
    const inFlight = wire.ask(
      'tools/call',
      { name: 'acor_wait', arguments: { run: result.taskId } },
      meta({}),
    );
    const long = 'x'.repeat(11 * 1024 * 1024);
    const params = { name: 'quick', arguments: { nope: long, id: 7 } };
    const call = { jsonrpc: '2.0', method: 'tools/call' };
    // Clients write the id before or after the parameters.
    for (const each of [{ ...call, id: 'first', params }, { ...call, params, id: 'last' }, { params }])
      wire.write(`${JSON.stringify(each)}\n`);
    wire.write(long);
    wire.write('\n');
    await until(() => wire.lines.length >= 5);
    const refused = wire.lines.slice(1).map((line) => JSON.parse(line));
    assert.deepEqual(
      refused.map(({ id, error }) => [id, error.code]),
      [
        ['first', -32600],
        ['last', -32600],
        [null, -32600],
        [null, -32600],
      ],
    );
    assert.match(refused[0].error.message, /at most 10 MiB\. Pass the path of a file/);
    assert.equal((await wire.ask('tools/call', { name: 'acor_explain' })).error, undefined);
    await wire.ask('tools/call', { name: 'acor_cancel', arguments: { run: result.taskId } });
    assert.equal((await inFlight).result.structuredContent.state, 'cancelled');
    // The control: the end of the input ends the server, also in the middle of a line.
    wire.write(long);
    wire.running.child.stdin!.end();
    assert.equal((await wire.running.finished).code, 0);
  });
});

describe('acor mcp --http', () => {
  let running: Running;
  let port: number;
  before(async () => {
    ({ running, port } = await startHttp(project));
  });
  after(async () => {
    running.child.kill();
    await running.finished;
  });

  function post(headers: Record<string, string>, body: object | string, path = '/mcp') {
    return new Promise<{ status: number; text: string; session: string | undefined }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode!,
            text,
            session: answer.headers['mcp-session-id']?.toString(),
          }),
        );
      });
      sent.on('error', reject);
      sent.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  }

  const KNOWN = {
    Authorization: `Bearer ${TOKEN}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  const HELLO = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'wire', version: '1' },
  };
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO };

  it('serves only clients that send the token', async () => {
    assert.equal((await post(KNOWN, initialize)).status, 200);
    const { Authorization: _, ...unknown } = KNOWN;
    assert.equal((await post(unknown, initialize)).status, 401);
    assert.equal((await post({ ...unknown, Authorization: `Bearer ${TOKEN}x` }, initialize)).status, 401);
    assert.equal((await post(KNOWN, initialize, '/')).status, 404);
  });

  it('rejects a page that a browser was lured to, also with the token', async () => {
    for (const header of [{ Host: 'evil.example' }, { Origin: 'https://evil.example' }])
      assert.equal((await post({ ...KNOWN, ...header }, initialize)).status, 403);
    assert.equal((await post({ ...KNOWN, Origin: 'http://localhost:5173' }, initialize)).status, 200);
  });

  it('rejects a request that is too long, invalid JSON, and a key twice', async () => {
    assert.equal((await post(KNOWN, 'x'.repeat(5_000_000))).status, 413);
    assert.equal((await post(KNOWN, '{"jsonrpc')).status, 400);
    const twice = await post(KNOWN, JSON.stringify(initialize).replace('"id":1', '"id":1,"id":2'));
    assert.deepEqual([twice.status, /'id' twice/.test(twice.text)], [400, true]);
    assert.equal((await post(KNOWN, initialize)).status, 200);
  });

  it('cancels the run of a call whose response the client closed, in the stateless revision', async () => {
    const before = project.runIds();
    const headers = {
      ...KNOWN,
      'MCP-Protocol-Version': VERSION,
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'hangs',
    };
    const params = { name: 'hangs', arguments: {}, _meta: meta({}) };
    const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers });
    sent.on('error', () => {});
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    const started = () => project.runIds().filter((id) => !before.includes(id))[0];
    await until(() => started() !== undefined && processesOf(started()!).length > 0);
    sent.destroy();
    await until(() => project.record(started()!)?.state === 'cancelled');
    assert.deepEqual(processesOf(started()!), []);
  });

  it('drops no session with an open request, however many others begin', async () => {
    const before = project.runIds();
    const { session } = await post(KNOWN, initialize);
    const params = { name: 'hangs', arguments: {} };
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
    const answer = post({ ...KNOWN, 'Mcp-Session-Id': session! }, call);
    const started = () => project.runIds().filter((id) => !before.includes(id))[0];
    await until(() => started() !== undefined && processesOf(started()!).length > 0);
    const idle = await post(KNOWN, initialize);
    for (let count = 0; count < 80; count++) await post(KNOWN, initialize);
    await project.envelope(['cancel', started()!]);
    assert.match((await answer).text, /"state":"cancelled"/);
    // The control: a session without an open request is dropped.
    assert.equal((await post({ ...KNOWN, 'Mcp-Session-Id': idle.session! }, initialize)).status, 404);
  });

  it('replaces the stream of notifications that a client had, at once, and notifies of what it may have missed', async () => {
    const { session } = await post(KNOWN, {
      ...initialize,
      params: { ...HELLO, protocolVersion: '2025-11-25' },
    });
    const headers = { ...KNOWN, 'Mcp-Session-Id': session! };
    await post(headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
    const uri = 'acor://runs/r-0123456789abcdef';
    await post(headers, { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri } });
    const listen = () =>
      new Promise<{ answer: IncomingMessage; text: () => string }>((resolve, reject) => {
        const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'GET', headers });
        sent.on('error', reject).on('response', (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          answer.on('error', () => {});
          resolve({ answer, text: () => text });
        });
        sent.end();
      });
    // It gets its headers without an event.
    const first = await listen();
    assert.equal(first.answer.statusCode, 200);
    const second = await listen();
    assert.equal(second.answer.statusCode, 200);
    await until(() => first.answer.complete);
    assert.equal(first.text().replaceAll(/[:\n]/g, ''), '');
    await until(() => second.text().includes(uri));
    for (const list of ['tools', 'prompts'])
      assert.ok(second.text().includes(`"notifications/${list}/list_changed"`), second.text());
    // The control: what cannot be a stream leaves the one that there is.
    const { status } = await new Promise<{ status: number | undefined }>((resolve, reject) => {
      const plain = { ...headers, Accept: 'application/json' };
      request({ host: '127.0.0.1', port, path: '/mcp', method: 'GET', headers: plain })
        .on('error', reject)
        .on('response', (answer) => resolve({ status: answer.resume().statusCode }))
        .end();
    });
    assert.deepEqual([status, second.answer.complete], [406, false]);
    second.answer.destroy();
  });

  it('does not touch the run of an ended session, and accepts no more requests for it', async () => {
    const before = project.runIds();
    const { session } = await post(KNOWN, initialize);
    const headers = { ...KNOWN, 'Mcp-Session-Id': session! };
    const params = { name: 'hangs', arguments: {} };
    const answer = post(headers, { jsonrpc: '2.0', id: 2, method: 'tools/call', params }).catch(() => {});
    const started = () => project.runIds().filter((id) => !before.includes(id))[0];
    await until(() => started() !== undefined && processesOf(started()!).length > 0);
    const bye = request({ host: '127.0.0.1', port, path: '/mcp', method: 'DELETE', headers });
    await new Promise((resolve) => bye.on('response', resolve).end());
    await answer;
    assert.equal((await post(headers, initialize)).status, 404);
    assert.equal((await project.envelope(['show', started()!])).data.state, 'running');
    assert.ok(!existsSync(project.path('.runs', started()!, 'control', 'CANCEL')));
    await project.envelope(['cancel', started()!]);
  });

  it('keeps its token in a file for its owner only, creates it once, and rejects a file that others can read', async () => {
    const file = project.path('private', 'token');
    const start = () => project.start(['mcp', '--http', '--port', '0', '--token-file', file]);
    const first = start();
    await until(() => statSync(file, { throwIfNoEntry: false }) !== undefined);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    first.child.kill();
    assert.doesNotMatch((await first.finished).stdout, /token"/);
    project.write('open-token', 'a-token-that-others-can-read\n', 0o644);
    const refused = await project.envelope(['mcp', '--http', '--token-file', 'open-token']);
    assert.deepEqual([refused.code, refused.error.code], [1, 'E_USAGE']);
    assert.match(refused.error.hint, /chmod 600/);
  });

  it('names a file that is not a token as such, with a fix that changes no mode and shows no content', async () => {
    project.write('notes', 'the first note\nthe second note\n', 0o644);
    for (const file of ['notes', '.', '/dev/zero'])
      for (const server of [
        ['mcp', '--http', '--token-file', file],
        ['serve', '--port', '0', '--token-file', file],
        ['serve', '--port', '0', '--client', `ci=${file}`],
      ]) {
        const { error } = await project.envelope(server);
        assert.match(error.message, /is not a token/, JSON.stringify(error));
        assert.match(error.hint, /where there is no file/);
        assert.doesNotMatch(JSON.stringify(error), /chmod|second note/);
      }
  });

  it('reports a port that is in use', async () => {
    const { code, error } = await project.envelope(['mcp', '--http', '--port', String(port)]);
    assert.deepEqual([code, error.code], [1, 'E_USAGE']);
    assert.match(error.hint, /--port/);
  });
});
