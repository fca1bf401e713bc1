import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { SERVERS } from '../../src/operations/command-forms.ts';
import { ROUTES } from '../../src/operations/index.ts';
import { cloneRuns } from '../support/cloned-runs.ts';
import { TestServer, TestStream, TOKEN } from '../support/http-server.ts';
import { processesOf, TestProject, until } from '../support/project.ts';

const HOSTILE = '"><script>alert(1)</script>\u001b[31m';

let project: TestProject;
let server: TestServer;
/** A server that allows everything. */
let open: TestServer;

before(async () => {
  project = new TestProject({ tools: ['quick', 'asks', 'many_events'] });
  project.write('tools/hangs/cli.sh', '#!/bin/bash\nsleep 600 & wait\n', 0o755);
  project.write(
    'tools/page/cli.sh',
    '#!/bin/bash\necho "<script>alert(1)</script>" > "$ARTIFACTS_DIR/a page (1).html"\necho \'{"type":"result","status":"ok"}\'\n',
    0o755,
  );
  [server, open] = await Promise.all([
    TestServer.start(project),
    TestServer.start(project, ['--http-allow', 'writes', '--http-allow', 'destroys']),
  ]);
});
after(async () => {
  await Promise.all([server.stop(), open.stop()]);
  await project.supervisorsExited();
  project[Symbol.dispose]();
});

/** Starts a run that waits for an answer, and returns its id. */
async function askingRun(): Promise<string> {
  const started = await open.call('run.start', { tool: 'asks', detach: true });
  const run: string = started.json.data.run_id;
  await until(() => project.record(run)?.state === 'waiting_ai');
  return run;
}

/** In Debian's package prometheus, which has 96 MB: `npm test` does not install it. */
const NO_PROMTOOL = spawnSync('promtool', ['--version']).status !== 0 && 'promtool is not installed';

describe('acor serve', () => {
  it('limits requests without a token, and serves its clients meanwhile', async () => {
    const flooded = await TestServer.start(project);
    const socket = connect(flooded.port, '127.0.0.1');
    const refused = new Promise<void>((resolve) => {
      let seen = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        seen = seen.slice(-20) + chunk;
        if (seen.includes('HTTP/1.1 429')) resolve();
      });
    });
    const requests = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(100);
    const flood = setInterval(() => socket.write(requests), 50);
    try {
      await refused;
      clearInterval(flood);
      for (let call = 0; call < 20; call++) {
        socket.write(requests);
        assert.equal((await flooded.get('/api/v1/system.version')).status, 200);
      }
    } finally {
      clearInterval(flood);
      socket.destroy();
      await flooded.stop();
    }
  });

  it('serves only clients that send the token; a probe needs none and learns nothing', async () => {
    for (const path of [
      '/api/v1/version',
      '/metrics',
      '/openapi.json',
      '/api/v1/stream',
      '/api/v1/nothing',
    ]) {
      for (const Authorization of ['', 'Bearer wrong', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`]) {
        const { status, headers, json } = await server.get(path, { Authorization });
        assert.deepEqual(
          [status, headers['www-authenticate'], json.error.code],
          [401, 'Bearer', 'E_PERMISSION'],
        );
      }
    }
    const health = await server.get('/healthz', { Authorization: '' });
    assert.deepEqual([health.status, health.json], [200, { status: 'ok' }] as unknown[]);
    assert.equal((await server.get('/api/v1/system.version')).status, 200);
  });

  it('rejects a page of another site that a browser was lured to, also with the token', async () => {
    for (const header of [
      { Host: 'evil.example' },
      { Origin: 'https://evil.example' },
      { Origin: 'http://localhost:5173' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ]) {
      for (const path of ['/api/v1/system.version', '/healthz', '/'])
        assert.equal(
          (await server.get(path, header as Record<string, string>)).status,
          403,
          JSON.stringify(header),
        );
    }
    const { json } = await server.get('/healthz', { Host: 'evil.example' });
    const { error } = json as { error: { message: string; hint: string } };
    assert.match(error.message, /Host header must name this machine, and is "evil\.example"/);
    assert.match(error.hint, /^Send Host: 127\.0\.0\.1/);
    const own = { Origin: `http://127.0.0.1:${server.port}`, 'Sec-Fetch-Site': 'same-origin' };
    assert.equal((await server.get('/api/v1/system.version', own)).status, 200);
  });

  it('sends no page that runs, frames or reads anything of another site', async () => {
    for (const path of ['/api/v1/run.list', '/healthz', '/nothing', '/api/v1/nothing']) {
      const { headers } = await server.get(path);
      assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/);
      assert.deepEqual(
        [
          headers['x-content-type-options'],
          headers['referrer-policy'],
          headers['access-control-allow-origin'],
        ],
        ['nosniff', 'no-referrer', undefined],
      );
    }
  });

  it('rejects what is no call: another method, type, form or length', async () => {
    const json = { 'Content-Type': 'application/json' };
    const post = (body: string, headers: Record<string, string> = json) =>
      server.send('POST', '/api/v1/run.list', { headers, body });
    assert.equal((await post('x'.repeat(5_000_000))).status, 413);
    assert.equal((await post('{"a')).status, 400);
    assert.equal((await post('[]')).status, 400);
    assert.equal((await post('{}', { 'Content-Type': 'text/plain' })).status, 415);
    const deleted = await server.send('DELETE', '/api/v1/run.list');
    assert.deepEqual([deleted.status, deleted.headers['allow']], [405, 'GET, HEAD, POST']);
    const read = await server.get('/api/v1/run.cancel?run=last');
    assert.deepEqual([read.status, read.headers['allow']], [405, 'POST']);
    assert.equal((await server.send('POST', '/metrics')).status, 405);
    for (const { operation, hidden } of ROUTES) {
      if (hidden || SERVERS.some((each) => each === operation))
        assert.equal((await open.call(operation)).status, 404, operation);
    }
    assert.equal((await post('{}')).status, 200);
  });

  it('answers a client that sends the whole of a body that is too long before it reads', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const head = `POST /api/v1/run.list HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${TOKEN}\r\n`;
    const body = 'x'.repeat(40_000_000);
    const sent = Promise.withResolvers<void>();
    socket.on('error', sent.reject);
    socket.write(`${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`, () =>
      sent.resolve(),
    );
    await sent.promise;
    assert.match(await text(socket), /^HTTP\/1\.1 413 .*the body is longer than/s);
  });

  it('reports a port that is in use, and an unknown word of --http-allow', async () => {
    const taken = await project.envelope(['serve', '--port', String(server.port)]);
    assert.deepEqual([taken.code, taken.error.code], [1, 'E_USAGE']);
    const unknown = await project.envelope(['serve', '--http-allow', 'anser']);
    assert.equal(unknown.error.code, 'E_USAGE');
    assert.match(unknown.error.hint, /Did you mean answer/);
  });

  it('refuses two clients with one name or one token, and names both', async () => {
    for (const [flags, both] of [
      [
        ['--client', 'x=shared', '--client', 'y=shared'],
        ['--client x=shared', '--client y=shared'],
      ],
      [
        ['--token-file', 'shared', '--client', 'ci=shared'],
        ['--token-file shared', '--client ci=shared'],
      ],
      [
        ['--client', 'ci=one', '--client', 'ci=two'],
        ['--client ci=one', '--client ci=two'],
      ],
    ] as const) {
      const { code, error } = await project.envelope(['serve', '--port', String(server.port), ...flags]);
      assert.deepEqual([code, error.code], [1, 'E_USAGE']);
      for (const each of both) assert.ok(error.message.includes(each), error.message);
    }
    const files = ['--client', 'a=first-of-three', '--client', 'b=shared', '--client', 'c=shared'];
    assert.equal((await project.envelope(['serve', ...files])).error.code, 'E_USAGE');
    for (const file of ['shared', 'one', 'two', 'first-of-three'])
      assert.equal(existsSync(project.path(file)), false, file);
    // The control: two names, each with a token of its own.
    const own = await TestServer.start(project, ['--client', 'ci=one', '--client', 'cd=two']);
    await own.stop();
    assert.equal(existsSync(project.path('two')), true);
  });
});

describe('a browser', () => {
  const page = { 'X-Acor-Client': '1', Authorization: '' };

  it('is signed in by the link once, and stays so over a restart with the same token', async () => {
    const own = await TestServer.start(project, ['--http-allow', 'cancel']);
    const { pathname, search } = new URL(own.link);
    const first = await own.get(pathname + search, { Authorization: '' });
    const cookie = String(first.headers['set-cookie']);
    assert.match(
      cookie,
      new RegExp(`^acor_${own.port}=[^;]+; Path=/; Max-Age=\\d+; HttpOnly; SameSite=Strict$`),
    );
    for (const path of [pathname + search, '/?code=', '/?code=x', '/'])
      assert.equal((await own.get(path, { Authorization: '' })).headers['set-cookie'], undefined, path);
    const Cookie = `other=1; ${cookie.split(';', 1)[0]}`;
    await own.stop();
    const again = await TestServer.start(project, ['--http-allow', 'cancel'], own.port);
    assert.equal((await again.get('/api/v1/run.list', { ...page, Cookie })).status, 200);
    // No form and no link of another site can send the header.
    const form = { Authorization: '', Cookie };
    assert.equal((await again.call('run.cancel', { run: 'last' }, form)).status, 403);
    assert.equal(
      (await again.call('run.cancel', { run: 'r-0000000000000000' }, { ...form, ...page })).status,
      404,
    );
    assert.equal(
      (await again.get('/api/v1/run.list', { ...form, 'Sec-Fetch-Site': 'cross-site' })).status,
      403,
    );
    const [name, until, signature] = Cookie.split(/[=.]/).slice(-3);
    for (const forged of [
      `${Number(until) + 1}.${signature}`,
      `${until}.`,
      `${until}`,
      '',
      `.${signature}`,
      `NaN.${signature}`,
    ])
      assert.equal(
        (await again.get('/api/v1/run.list', { ...page, Cookie: `${name}=${forged}` })).status,
        401,
        forged,
      );
    // The control of the forged ones, and the cookie of another server.
    assert.equal(
      (await again.get('/api/v1/run.list', { ...page, Cookie: `acor_${again.port}=${until}.${signature}` }))
        .status,
      200,
    );
    assert.equal((await server.get('/api/v1/run.list', { ...page, Cookie })).status, 401);
    await again.stop();
  });

  it('gets the files of the dashboard, which hold nothing of the project, and no others', async () => {
    for (const path of ['/', '/index.html', '/app.js', '/stream-worker.js', '/style.css']) {
      const { status, text } = await server.get(path, { Authorization: '' });
      assert.deepEqual(
        [status, text.includes(project.root), text.includes(TOKEN)],
        [200, false, false],
        path,
      );
    }
    for (const path of [
      '/../package.json',
      '/%2e%2e/%2e%2e/package.json',
      '/constructor',
      '/app.js/x',
      '/favicon.ico',
    ])
      assert.equal((await server.get(path, { Authorization: '' })).status, 404, path);
    assert.equal((await server.send('POST', '/')).status, 405);
  });
});

describe('an operation by HTTP', () => {
  it('answers with the envelope of the command line, by GET and by POST', async () => {
    const { run_id } = (await project.envelope(['run', 'quick', '--no-stream'])).data;
    for (const [operation, words, input] of [
      ['run.list', ['runs', '--tool', 'quick', '--limit', '1'], { tool: 'quick' }],
      ['tool.list', ['list', '--fields', 'name,version'], {}],
      ['run.show', ['show', run_id], { run: run_id }],
      [
        'run.logs',
        ['logs', run_id, '--type', 'result', '--type', 'runner_end'],
        { run: run_id, type: ['result', 'runner_end'] },
      ],
      ['system.errors', ['errors', 'E_USAGE'], { code: 'E_USAGE' }],
    ] as const) {
      const { code, ...command } = await project.envelope(words);
      const part = words.flatMap((word, at) =>
        /^--(limit|fields)$/.test(word) ? [[word.slice(2), words[at + 1]!]] : [],
      );
      const query = Object.entries(input).flatMap(([key, value]) =>
        [value].flat().map((each) => [key, each]),
      );
      const byGet = await server.get(
        `/api/v1/${operation}?${new URLSearchParams([...query, ...part] as [string, string][])}`,
      );
      const byPost = await server.send(
        'POST',
        `/api/v1/${operation}?${new URLSearchParams(part as [string, string][])}`,
        {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(input),
        },
      );
      for (const { status, json } of [byGet, byPost]) {
        assert.deepEqual([code, status], [0, 200]);
        assert.deepEqual(json.data, command.data, operation);
        const { elapsed: _, next: __, ...meta } = json.meta;
        const { elapsed: ___, next: ____, ...expected } = command.meta;
        assert.deepEqual(meta, expected, operation);
      }
    }
  });

  it('fails with the error of the command line, and the status of its class', async () => {
    for (const [operation, words, input, status] of [
      ['run.show', ['show', 'r-0000000000000000'], { run: 'r-0000000000000000' }, 404],
      ['tool.describe', ['describe', 'nothing'], { tool: 'nothing' }, 404],
      ['run.list', ['runs', '--state', 'x'], { state: 'x' }, 400],
      ['run.verify', ['verify', '../..'], { run: '../..' }, 404],
    ] as const) {
      const { error } = await project.envelope(words);
      const answer = await server.call(operation, input);
      assert.deepEqual([answer.status, answer.json.error.code], [status, error.code], answer.text);
      assert.equal(answer.json.error.class, error.class);
    }
    const unknown = await server.call('run.list', { nothing: 1 });
    assert.deepEqual([unknown.status, unknown.json.error.code], [400, 'E_USAGE']);
    assert.match(unknown.json.error.message, /nothing/);
    const broken = await server.get('/api/v1/run.list?limit=-1&offset=x');
    assert.match(broken.json.error.message, /2 problems/);
  });

  it('changes nothing unless the server was started with --http-allow for it', async () => {
    const before = project.runIds();
    for (const { operation, hidden, load } of ROUTES) {
      if (hidden || SERVERS.some((each) => each === operation)) continue;
      const op = await load();
      if (op.effect === 'reads' || op.readsWithout !== undefined) continue;
      const needed = Object.entries(op.input.shape).filter(
        ([, field]) => !field.safeParse(undefined).success,
      );
      const input = Object.fromEntries(
        needed.map(([key, field]) => [
          key,
          ['x', 'bash', ['x', 'y']].find((each) => field.safeParse(each).success),
        ]),
      );
      const { status, json } = await server.call(operation, input);
      assert.deepEqual(
        [status, json.error?.code],
        [403, 'E_PERMISSION'],
        `${operation}: ${JSON.stringify(json)}`,
      );
    }
    assert.equal((await server.call('system.health')).status, 200);
    for (const input of [{ fix: true }, { deep: true }])
      assert.equal((await server.call('system.health', input)).status, 403);
    assert.deepEqual(project.runIds(), before);
    const some = await TestServer.start(project, ['--http-allow', 'cancel', '--http-allow', 'run.answer']);
    const run = await askingRun();
    assert.equal((await some.call('run.start', { tool: 'quick' })).status, 403);
    assert.equal((await some.call('run.answer', { run, choice: 'fast' })).status, 200);
    assert.equal((await some.call('run.cancel', { run })).status, 200);
    await some.stop();
  });

  it('has next steps that are requests where the server allows them, and commands where not', async () => {
    const run = await askingRun();
    const allowed = await open.get(`/api/v1/run.show?run=${run}`);
    const [answer] = allowed.json.meta.next;
    assert.deepEqual([answer.method, answer.path], ['POST', '/api/v1/run.answer']);
    assert.match(answer.command, new RegExp(`^acor answer ${run} a-1 --choice slow$`));
    const refused = await server.get(`/api/v1/run.show?run=${run}`);
    assert.deepEqual(refused.json.meta.next[0], { command: answer.command, why: answer.why });
    assert.equal((await open.call('run.answer', answer.body)).status, 200);
    await until(() => project.record(run)?.state === 'completed');
    assert.deepEqual(project.events(run).find(({ type }) => type === 'action_answered')?.['source'], 'http');
  });

  it('has the next step of a dry run with all that was asked, also by the header', async () => {
    const asked = { tool: 'asks', detach: true, answer: ['choose_speed=fast'], timeout: 77, retries: 2 };
    const dry = { ...asked, dry_run: true };
    const { json } = await open.call('run.start', dry, { 'Idempotency-Key': 'of-http' });
    const { plan, ...body } = json.meta.next[0].body;
    assert.deepEqual([plan, body], [json.data.token, { ...asked, args: [], idempotency_key: 'of-http' }]);
  });

  it('starts a run that outlives the server and a client that has left', async () => {
    const own = await TestServer.start(project, ['--http-allow', 'run']);
    const before = project.runIds();
    void own.call('run.start', { tool: 'hangs' }).catch(() => {});
    const started = () => project.runIds().find((id) => !before.includes(id));
    // The launcher of its tool is there before the run has started.
    await until(() => started() !== undefined && project.record(started()!)?.state === 'running');
    await until(() => processesOf(started()!).length > 0);
    own.running.child.kill('SIGKILL');
    await own.running.finished;
    assert.equal((await project.envelope(['show', started()!])).data.state, 'running');
    assert.equal((await open.call('run.cancel', { run: started() })).json.data.state, 'cancelled');
    assert.deepEqual(processesOf(started()!), []);
  });

  it('writes no file that an input names unless the server was started with --http-allow for it', async () => {
    project.write('notes.txt', 'precious');
    const notes = () => readFileSync(project.path('notes.txt'), 'utf8');
    for (const { operation, hidden, load } of ROUTES) {
      const op = await load();
      if (hidden || (op.effect !== 'reads' && op.readsWithout === undefined)) continue;
      for (const [key, field] of Object.entries(op.input.shape)) {
        const value = ['notes.txt', ['notes.txt']].find((each) => field.safeParse(each).success);
        if (value === undefined) continue;
        await server.call(operation, { [key]: value });
        assert.equal(notes(), 'precious', `${operation} ${key}`);
      }
    }
    const report = { junit: 'notes.txt' };
    const refused = await server.call('project.validate', report);
    assert.deepEqual([refused.status, refused.json.error.code], [403, 'E_PERMISSION']);
    assert.equal((await server.call('project.validate')).status, 200);
    // The control: a server that allows it writes the file, where no other one is.
    const other = await open.call('project.validate', report);
    assert.deepEqual([other.json.error.code, notes()], ['E_USAGE', 'precious']);
    rmSync(project.path('notes.txt'));
    await open.call('project.validate', report);
    assert.match(notes(), /<testsuites/);
    rmSync(project.path('notes.txt'));
  });

  it('is done once for an idempotency key', async () => {
    const before = project.runIds().length;
    const start = (tool: string) =>
      open.call('run.start', { tool, detach: true }, { 'Idempotency-Key': 'one' });
    const [first, second] = await Promise.all([start('quick'), start('quick')]);
    assert.equal(first.json.data.run_id, second.json.data.run_id);
    assert.equal(project.runIds().length, before + 1);
    assert.equal((await start('page')).status, 400);
    const run = await askingRun();
    const answer = (choice: string) => open.call('run.answer', { run, choice }, { 'Idempotency-Key': 'two' });
    const [one, two] = await Promise.all([answer('fast'), answer('fast')]);
    assert.deepEqual([one.status, two.status, one.json], [200, 200, two.json]);
    assert.equal((await answer('slow')).status, 422);
    // The control: without the key the second answer is refused.
    assert.equal((await open.call('run.answer', { run, choice: 'fast' })).status, 400);
  });

  it('is the same for an idempotency key in any order of keys', async () => {
    const run = await askingRun();
    const answer = (value: object) => open.call('run.answer', value, { 'Idempotency-Key': 'order' });
    const given = await answer({ run, choice: 'fast', reason: 'quick' });
    assert.equal(given.status, 200, given.text);
    assert.deepEqual((await answer({ reason: 'quick', choice: 'fast', run })).json, given.json);
  });

  it('is done again for an idempotency key when it only reads', async () => {
    const tools = async () => {
      const { status, json } = await server.call('tool.list', {}, { 'Idempotency-Key': 'reads' });
      return [status, json.data.tools.length];
    };
    const [, before] = await tools();
    project.write('tools/added/cli.sh', 'true\n');
    assert.deepEqual(await tools(), [200, before + 1]);
    rmSync(project.path('tools/added'), { recursive: true });
    // The control: an answer of another operation is kept.
    const check = async () =>
      (await server.call('project.validate', {}, { 'Idempotency-Key': 'checks' })).json.meta.elapsed;
    assert.equal(await check(), await check());
  });

  it('is refused for an idempotency key that another part of the answer was asked with', async () => {
    const list = (query: string) =>
      open.send('POST', `/api/v1/project.validate?${query}`, { headers: { 'Idempotency-Key': 'part' } });
    const whole = await list('fields=errors');
    assert.deepEqual((await list('fields=errors')).json, whole.json);
    for (const other of ['fields=tools', 'fields=errors&limit=1', 'fields=errors&strict=true', '']) {
      const { status, json } = await list(other);
      assert.deepEqual([other, status, json.error?.code], [other, 422, 'E_USAGE']);
      assert.match(json.error.message, /belongs to another request/);
    }
  });

  it('is not sent again to a client that has the answer', async () => {
    const { headers } = await server.get('/api/v1/tool.list');
    const again = await server.get('/api/v1/tool.list', { 'If-None-Match': String(headers['etag']) });
    assert.deepEqual([again.status, again.text], [304, '']);
    const other = await server.get('/api/v1/tool.list?limit=1', { 'If-None-Match': String(headers['etag']) });
    assert.equal(other.status, 200);
  });

  it('pages through the runs by a cursor that new runs do not shift', async () => {
    for (let count = 0; count < 4; count++) await project.run(['quick']);
    const all = (await server.get('/api/v1/run.list?limit=4')).json.data.runs.map(
      ({ run_id }: { run_id: string }) => run_id,
    );
    const first = (await server.get('/api/v1/run.list?limit=2')).json.data.runs;
    await project.run(['quick']);
    const second = (await server.get(`/api/v1/run.list?limit=2&before=${first[1].run_id}`)).json.data.runs;
    assert.deepEqual(
      [...first, ...second].map(({ run_id }) => run_id),
      all,
    );
  });

  it('answers with 100 of many runs to a client that names no limit', async () => {
    await cloneRuns(project.runsDir, 120);
    const { data, meta } = (await server.get('/api/v1/run.list')).json;
    assert.deepEqual([data.runs.length, meta.hasMore, meta.total > 120], [100, true, true]);
    assert.equal((await server.get('/api/v1/run.list?limit=110')).json.data.runs.length, 110);
  });
});

describe('the OpenAPI document', () => {
  it('is valid in both versions, and has one path for each operation', async () => {
    for (const [query, version] of [
      ['', '3.2'],
      ['?version=3.1', '3.1'],
    ]) {
      const { json } = await server.get(`/openapi.json${query}`);
      const validator = new Validator();
      const result = await validator.validate(json as unknown as Record<string, unknown>);
      assert.deepEqual(
        [result.valid, validator.version],
        [true, version],
        JSON.stringify(result.errors)?.slice(0, 2000),
      );
      const paths = Object.keys((json as unknown as { paths: object }).paths);
      const offered = ROUTES.filter(
        ({ operation, hidden }) => !hidden && !SERVERS.some((each) => each === operation),
      );
      for (const { operation } of offered) assert.ok(paths.includes(`/api/v1/${operation}`), operation);
      assert.equal(paths.length, offered.length + 3);
      assert.doesNotMatch(JSON.stringify(json), /"\$ref":"#\/\$defs/);
    }
    assert.equal((await server.get('/openapi.json?version=2')).status, 400);
  });
});

describe('the events of a run by HTTP', () => {
  it('are its log, as JSON lines or as server-sent events, from any seq on', async () => {
    const { end } = await project.run(['many_events', '2500']);
    const run = String(end['run_id']);
    const stored = project.events(run);
    const lines = await server.get(`/api/v1/runs/${run}/events`);
    assert.equal(lines.headers['content-type'], 'application/jsonl');
    assert.deepEqual(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      stored,
    );
    const stream = new TestStream(server, `/api/v1/runs/${run}/events`, { 'Last-Event-ID': '100' });
    await until(() => stream.messages.at(-1)?.event === 'end');
    const events = stream.messages.slice(0, -1);
    assert.deepEqual(
      events.map(({ data }) => data),
      stored.slice(100),
    );
    assert.deepEqual(
      events.map(({ id }) => Number(id)),
      stored.slice(100).map(({ seq }) => seq),
    );
    for (const wrong of ['r-0000000000000000', '..%2f..%2fetc', 'x'])
      assert.equal((await server.get(`/api/v1/runs/${wrong}/events`)).status, 404, wrong);
    for (const [address, name] of [
      [`runs/${run}/events?since=x`, 'since'],
      [`runs/${run}/events?follow=maybe`, 'follow'],
      [`runs/${run}/events?follow=true&follow=false`, 'follow'],
      [`runs/${run}/events?folow=true`, 'folow'],
      [`runs/${run}/artifacts/1?part=2`, 'part'],
      ['stream?since=1', 'since'],
      [`run.show?run=${run}&run=last`, 'run'],
      [`run.logs?follow=maybe&run=${run}`, 'follow'],
    ] as const) {
      const { status, json } = await open.get(`/api/v1/${address}`);
      assert.deepEqual([status, json.error.code], [400, 'E_USAGE'], address);
      assert.match(json.error.message, new RegExp(name), address);
    }
    assert.equal((await server.get(`/api/v1/runs/${run}/events?since=1&follow=false`)).status, 200);
  });

  it('arrive while the run works', async () => {
    const run = await askingRun();
    const stream = new TestStream(server, `/api/v1/runs/${run}/events`);
    const has = (type: string) =>
      stream.messages.some(({ data }) => (data as { type: string }).type === type);
    await until(() => has('action_required'));
    await open.call('run.answer', { run, choice: 'slow' });
    await until(() => has('runner_end'));
    stream.leave();
  });

  it('are waited for by run.logs with follow, until the run asks or ends, and next leads on', async () => {
    const { json } = await open.call('run.start', { tool: 'asks', detach: true });
    const run: string = json.data.run_id;
    const asked = (await open.call('run.logs', { run, follow: true })).json;
    const stored = project.events(run);
    assert.deepEqual(asked.data, { run_id: run, events: stored, last_seq: stored.length });
    const [answer, follow] = [asked.meta.next[0], asked.meta.next.at(-1)];
    assert.equal(follow.path, '/api/v1/run.logs');
    assert.deepEqual(follow.body, { run, since: stored.length, follow: true });
    // While the question is open, the same request has nothing to wait for.
    const same = await server.get(`/api/v1/run.logs?run=${run}&follow=true&since=${stored.length}`);
    assert.deepEqual(same.json.data.events, []);
    assert.equal((await open.call(answer.path.slice('/api/v1/'.length), answer.body)).status, 200);
    const { data, meta } = (await open.call('run.logs', follow.body)).json;
    assert.deepEqual(data.events, project.events(run).slice(stored.length));
    assert.deepEqual([data.events.at(-1).type, meta.next], ['runner_end', undefined]);
    const text = (await open.call('run.logs', { run, follow: true, format: 'text', type: ['result'] })).json;
    assert.deepEqual([text.data.events.length, text.data.events[0].type], [1, 'result']);
  });

  it('are searched and cut into windows on the server', async () => {
    const { end } = await project.run(['many_events', '2500']);
    const run = end['run_id'];
    const all = project.events(String(run));
    const found = (await server.call('run.logs', { run, text: '"PCT":50,' })).json.data;
    assert.deepEqual(
      [found.events.length > 0, found.events.length < 10, found.last_seq],
      [true, true, all.length],
    );
    for (const { pct } of found.events) assert.equal(pct, 50);
    const page = (await server.get(`/api/v1/run.logs?run=${run}&since=1200&limit=3`)).json.data;
    assert.deepEqual(page.events, all.slice(1200, 1203));
    assert.equal(page.last_seq, 1203);
  });
});

describe('the stream of changes', () => {
  type Runs = { runs: { run_id: string; state: string; seq: number }[]; removed: string[] };
  const seenIn = (stream: TestStream, run: string) =>
    stream.messages.flatMap(({ data }) => (data as Runs).runs).filter(({ run_id }) => run_id === run);

  it('reports each run that starts, asks, ends or is removed', async () => {
    const stream = new TestStream(server, '/api/v1/stream');
    await until(() => stream.messages.length > 0);
    const run = await askingRun();
    await until(() => seenIn(stream, run).some(({ state }) => state === 'waiting_ai'));
    await open.call('run.answer', { run, choice: 'slow' });
    await until(() => seenIn(stream, run).some(({ state }) => state === 'completed'));
    // Its supervisor has the lease for a moment longer.
    while ((await open.call('run.remove', { run })).status !== 200);
    await until(() => stream.messages.some(({ data }) => (data as Runs).removed.includes(run)));
    stream.leave();
  });

  it('goes on after a restart of the server where it was: nothing is missing, nothing comes twice', async () => {
    const first = await TestServer.start(project);
    const before = new TestStream(first, '/api/v1/stream');
    await until(() => before.messages.length > 0);
    const waiting = await askingRun();
    await until(() => seenIn(before, waiting).some(({ state }) => state === 'waiting_ai'));
    const cursor = before.messages.at(-1)!.id;
    first.running.child.kill('SIGKILL');
    await first.running.finished;
    const missed = String((await project.run(['quick'])).end['run_id']);
    await project.envelope(['answer', waiting, '--choice', 'fast']);
    await until(() => project.record(waiting)?.state === 'completed');
    const second = await TestServer.start(project, [], first.port);
    const after = new TestStream(second, '/api/v1/stream', { 'Last-Event-ID': cursor });
    await until(() => seenIn(after, missed).length > 0 && seenIn(after, waiting).length > 0);
    const later = String((await project.run(['quick'])).end['run_id']);
    await until(() => seenIn(after, later).some(({ state }) => state === 'completed'));
    assert.deepEqual(
      seenIn(after, missed).map(({ state }) => state),
      ['completed'],
    );
    assert.deepEqual(
      seenIn(after, waiting).map(({ state }) => state),
      ['completed'],
    );
    const versions = after.messages
      .flatMap(({ data }) => (data as Runs).runs)
      .map(({ run_id, seq, state }) => `${run_id} ${seq} ${state}`);
    assert.equal(new Set(versions).size, versions.length, versions.join('\n'));
    after.leave();
    await second.stop();
  });

  it('brings readers to the same cursor, whenever they came, and sends each of them everything once', async () => {
    const early = new TestStream(server, '/api/v1/stream');
    await until(() => early.messages.length > 0);
    const run = await askingRun();
    await until(() => seenIn(early, run).some(({ state }) => state === 'waiting_ai'));
    const late = new TestStream(server, '/api/v1/stream', { 'Last-Event-ID': early.messages[0]!.id });
    await until(() => seenIn(late, run).length > 0);
    await open.call('run.answer', { run, choice: 'slow' });
    const streams = [early, late];
    await until(() =>
      streams.every((stream) => seenIn(stream, run).some(({ state }) => state === 'completed')),
    );
    const other = String((await project.run(['quick'])).end['run_id']);
    await until(() =>
      streams.every((stream) => seenIn(stream, other).some(({ state }) => state === 'completed')),
    );
    assert.equal(early.messages.at(-1)!.id, late.messages.at(-1)!.id);
    for (const stream of streams) {
      const versions = [...seenIn(stream, run), ...seenIn(stream, other)].map(
        ({ run_id, seq, state }) => `${run_id} ${seq} ${state}`,
      );
      assert.equal(new Set(versions).size, versions.length, versions.join('\n'));
      stream.leave();
    }
  });

  it('refuses an invalid cursor, and reports one that is too old', async () => {
    assert.equal((await server.get('/api/v1/stream?cursor=nonsense')).status, 400);
    const old = Buffer.from(JSON.stringify({ ledger: '{"segment":99,"offset":0,"prev":"x"}', seen: {} }));
    const stream = new TestStream(server, `/api/v1/stream?cursor=${old.toString('base64url')}`);
    await until(() => stream.messages.length > 0);
    assert.equal(stream.messages[0]!.event, 'reset');
    stream.leave();
  });
});

describe('what a tool writes, by HTTP', () => {
  it('is never a page: an artifact is a file to save, whatever its name and type', async () => {
    const run = (await project.run(['page'])).end['run_id'];
    const { status, headers, text } = await server.get(`/api/v1/runs/${run}/artifacts/1`);
    assert.deepEqual([status, text], [200, '<script>alert(1)</script>\n']);
    assert.equal(headers['content-type'], 'application/octet-stream');
    assert.equal(headers['content-disposition'], "attachment; filename*=UTF-8''a%20page%20%281%29.html");
    assert.equal(headers['content-security-policy'], "default-src 'none'; sandbox");
    assert.equal((await server.get(`/api/v1/runs/${run}/artifacts/2`)).status, 404);
  });

  it('has no mark in the name of a file to save that shows another ending of it', async () => {
    project.write(
      'tools/marked/cli.sh',
      '#!/bin/bash\nset -e\necho x > "$ARTIFACTS_DIR/"$\'\\u202egnp.exe\'\n',
      0o755,
    );
    project.write('tools/marked/tool.yaml', 'name: marked\nversion: 1.0.0\nadapter: plain\n');
    const run = (await project.run(['marked'], { env: { LC_ALL: 'C.UTF-8' } })).end['run_id'];
    const { status, headers } = await server.get(`/api/v1/runs/${run}/artifacts/1`);
    assert.equal(status, 200);
    assert.equal(headers['content-disposition'], "attachment; filename*=UTF-8''%5Cu202egnp.exe");
  });

  it('reaches a terminal as text: an answer has no character that controls one', async () => {
    const { json, text } = await server.call('run.show', { run: `\u009b31m${HOSTILE}` });
    assert.equal(json.error.code, 'E_RUN_NOT_FOUND');
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});

describe('the metrics', () => {
  it('pass the check of Prometheus', { skip: NO_PROMTOOL }, async () => {
    await project.run(['quick']);
    const { text } = await server.get('/metrics');
    const check = (metrics: string) =>
      spawnSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8' });
    const { status, stdout, stderr } = check(text);
    assert.deepEqual([status, stdout, stderr], [0, '', '']);
    // The control: a counter without its suffix.
    assert.notEqual(check('# TYPE acor_runs counter\nacor_runs 1\n').status, 0);
  });

  it('do not fall when runs are removed', async () => {
    await project.run(['quick']);
    const counters = async () => {
      const { text } = await server.get('/metrics');
      const lines = text.split('\n').filter((line) => /_(total|bucket|count|sum)\{/.test(line));
      return new Map(lines.map((line) => line.split(/ (?=[^ ]+$)/) as [string, string]));
    };
    const before = await counters();
    const { data } = await project.envelope(['clean', '--keep', '0']);
    assert.ok(data.removed.length > 0, JSON.stringify(data));
    const after = await counters();
    assert.ok([...before.keys()].some((name) => name.startsWith('acor_runs_total{tool="quick"')));
    for (const [name, value] of before) assert.ok(Number(after.get(name)) >= Number(value) - 1e-9, name);
  });

  it('count the runs by tool and state, and name no run', async () => {
    const { text, headers } = await server.get('/metrics');
    assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
    assert.match(text, /^acor_runs_total\{tool="quick",state="completed"\} \d+$/m);
    assert.match(text, /^acor_run_duration_seconds_bucket\{tool="quick",le="\+Inf"\} \d+$/m);
    assert.doesNotMatch(text, /r-[0-9a-f]{16}/);
    assert.equal(
      (await project.acor(['metrics'])).stdout.replaceAll(/ [\d.e-]+$/gm, ''),
      text.replaceAll(/ [\d.e-]+$/gm, ''),
    );
    for (const line of text.trimEnd().split('\n'))
      assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="([^"\\]|\\.)*",?)+\})? [-\d.e+]+)$/);
  });
});
