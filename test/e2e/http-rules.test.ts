import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { TestProject } from '../support/project.ts';
import { RUNS_SCRIPT, runScript, SCRIPT_INPUT } from '../support/script-tool.ts';
import { TlsService } from '../support/tls-service.ts';

const probe = await bubblewrap.probe();

describe('rules for the requests of a tool', {
  skip: !probe.available && `bubblewrap is not available here (${probe.detail})`,
}, () => {
  let project: TestProject;
  let service: TlsService;
  let other: TlsService;
  /** A host that speaks HTTP/2. */
  let streams: Http2SecureServer;
  let url: string;
  before(async () => {
    project = new TestProject();
    service = await TlsService.start('api.test');
    other = await TlsService.start('other.test', { authority: service.authority });
    url = `https://api.test:${service.port}`;
    streams = createSecureServer(service.authority.identityOf({ kind: 'name', name: 'h2.test' }));
    streams.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      let bytes = 0;
      stream.on('error', () => {});
      stream.on('data', (data) => {
        bytes += data.length;
      });
      stream.on('end', () => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(`${headers[':method']} ${headers[':path']} ${bytes}`);
      });
    });
    await new Promise<void>((resolve) => streams.listen(0, '127.0.0.1', resolve));
    const authority = service.writeAuthority(project.path('authority.pem'));
    project.write(
      '.acor/config.yaml',
      `version: 1
environment: { cancel_grace_s: 0.3 }
security:
  allow_private_egress: ['*.test:*', '127.0.0.1:*']
  allow_network_egress: true
  egress_hosts: { api.test: 127.0.0.1, other.test: 127.0.0.1, alias.test: 127.0.0.1, h2.test: 127.0.0.1 }
  egress_authorities: ['${authority}']
`,
    );
    const host = `api.test:${service.port}`;
    tool(
      'reads',
      `{ host: '${host}', methods: [GET], paths: [/, /v1/**] }, { host: '${host}', methods: [POST], paths: [/v1/notes], max_upload: 5000 }`,
    );
    tool('plain', `'${host}'`);
    tool('wide', `{ host: '*.test:${service.port}', methods: [GET] }`);
    const reads = (port: number) => `{ host: 'api.test:${port}', methods: [GET] }`;
    tool('beside', `${reads(service.port)}, '*:${service.port}'`);
    tool('elsewhere', `${reads(other.port)}, '*:${other.port}', '*:${service.port}'`);
    tool('open', `'*:${service.port}'`);
  });
  after(() => {
    service.close();
    other.close();
    streams.close();
    project[Symbol.dispose]();
  });

  /** A tool that runs the bash script of its argument. */
  function tool(name: string, hosts: string): void {
    project.write(
      `tools/${name}/tool.yaml`,
      `name: ${name}
version: 1.0.0
adapter: plain
permissions:
  commands: [curl, head, node, printf, python3]
  network: { egress_allow: [${hosts}] }
${SCRIPT_INPUT}`,
    );
    project.write(`tools/${name}/cli.sh`, RUNS_SCRIPT);
  }

  const calls = (script: string, name = 'reads') => runScript(project, name, script);

  const STATUS = `curl -sS -o /dev/null -w '%{http_code}\\n'`;

  it('let through what they name, and answer the rest with the rule that would allow it', async () => {
    const before = service.requests.length;
    const run = await calls(
      `${STATUS} ${url}/; ${STATUS} -d x ${url}/v1/notes; ${STATUS} ${url}/admin; ${STATUS} -X DELETE ${url}/v1/x; curl -sS -d x ${url}/v1/other`,
    );
    const why = 'permissions.network.egress_allow of tool.yaml allows GET on /, /v1/**; POST on /v1/notes';
    const rule = `- { host: "api.test:${service.port}", methods: ["POST"], paths: ["/v1/other"] }`;
    const body = `POST /v1/other is not allowed: ${why}. In tool.yaml, under permissions.network.egress_allow, write: ${rule}`;
    assert.deepEqual(run.lines, ['200', '404', '403', '403', body]);
    assert.deepEqual(
      service.requests.slice(before).map(({ method, url: path }) => `${method} ${path}`),
      ['GET /', 'POST /v1/notes'],
    );
    const denied = run.of('runner_warning');
    assert.deepEqual(
      denied.map(({ code, host, msg }) => [code, host, String(msg).split(': ')[2]!.split(' is ')[0]]),
      ['GET /admin', 'DELETE /v1/x', 'POST /v1/other'].map((request) => [
        'E_POLICY_DENIED',
        'api.test',
        request,
      ]),
    );
    assert.equal((denied.at(-1)!.allow as { line: string }).line, rule);
    // The control.
    const { lines } = await calls(`${STATUS} -k -X DELETE ${url}/v1/x`, 'plain');
    assert.deepEqual([lines, service.last.method], [['404'], 'DELETE']);
  });

  it('send no body that the host could read as a request of its own', async () => {
    const before = service.requests.length;
    const run = await calls(
      `${STATUS} -X GET -d x ${url}/v1/x; ${STATUS} -d x ${url}/v1/notes -o /dev/null ${url}/v1/notes; ${STATUS} ${url}/`,
    );
    assert.deepEqual(run.lines, ['400', '404', '404', '200'], run.stderr);
    const served = service.requests.slice(before);
    assert.deepEqual(
      served.map(({ method, headers }) => [method, headers['connection']]),
      [
        ['POST', 'close'],
        ['POST', 'close'],
        ['GET', undefined],
      ],
    );
    // A control.
    const { lines } = await calls(`${STATUS} -k -X GET -d x ${url}/v1/x`, 'plain');
    assert.deepEqual([lines, service.last.body], [['404'], 'x']);
  });

  it('hold for every name below a domain', async () => {
    const { lines } = await calls(`${STATUS} ${url}/; ${STATUS} -d x ${url}/`, 'wide');
    assert.deepEqual(lines, ['200', '403']);
  });

  it('hold where an entry with a wildcard admits the server of the host under another name or by its address', async () => {
    const { port } = service;
    const before = service.requests.length;
    const send = `${STATUS} -k -X DELETE --max-time 20 --noproxy ''`;
    // The name in TLS, the name in the request, and both.
    const attempts = [
      `${send} --connect-to api.test:${port}:alias.test:${port} ${url}/v1/x`,
      `${send} --connect-to api.test:${port}:127.0.0.1:${port} ${url}/v1/x`,
      `${send} -H 'Host: api.test:${port}' https://alias.test:${port}/v1/x`,
      `${send} -H 'Host: api.test:${port}' https://127.0.0.1:${port}/v1/x`,
      `${send} https://alias.test:${port}/v1/x`,
      `${send} https://127.0.0.1:${port}/v1/x`,
    ].join('; ');
    const { lines } = await calls(attempts, 'beside');
    assert.deepEqual(lines, ['000', '000', '421', '421', '502', '502']);
    assert.equal(service.requests.length, before);
    // The control: without the rule every one of them gets there.
    assert.deepEqual((await calls(attempts, 'open')).lines, Array(6).fill('404'));
    // A body of it must not be read as a request for the host with rules.
    const inside = `DELETE /v1/x HTTP/1.1\\r\\nHost: api.test:${other.port}\\r\\n\\r\\n`;
    const smuggled = `printf '${inside}' > body; ${STATUS} -X GET --data-binary @body https://other.test:${other.port}/; ${STATUS} --data-binary @body https://other.test:${other.port}/`;
    assert.deepEqual((await calls(smuggled, 'elsewhere')).lines, ['400', '200']);
    assert.deepEqual([other.last.method, other.last.headers['connection']], ['POST', 'close']);
    // A host that only the wildcard admits is served, also at a port without rules.
    const outer = `${STATUS} -X DELETE https://other.test:${other.port}/x`;
    assert.deepEqual((await calls(`${outer}; ${send} ${url}/v1/x`, 'elsewhere')).lines, ['404', '404']);
    assert.equal(other.last.method, 'DELETE');
  });

  it('limit what is sent, however it is announced, over all requests of an attempt', async () => {
    const before = service.requests.length;
    const post = (bytes: number, more = '') =>
      `head -c ${bytes} /dev/zero > body; ${STATUS} ${more} -H Expect: -H 'Content-Type: x' --data-binary @body ${url}/v1/notes`;
    const chunked = `-H 'Transfer-Encoding: chunked'`;
    const run = await calls(`${post(2000)}; ${post(9000)}; ${post(9000, chunked)}; ${post(10)}`);
    assert.deepEqual(run.lines.slice(0, 3), ['404', '413', '413'], run.stderr);
    const served = service.requests.slice(before).map(({ body }) => body.length);
    assert.equal(served[0], 2000);
    // What was cut off was never a whole request.
    assert.ok(
      served.every((bytes) => bytes < 5000),
      String(served),
    );
    const spent = await calls(`${post(4000)}; ${post(1)}; ${post(1, chunked)}; ${post(900)}`);
    assert.deepEqual([spent.lines[0], spent.lines.at(-1)], ['404', '413']);
    const [warning] = run.of('runner_warning');
    assert.match(
      String(warning!.msg),
      /it sends more than max_upload allows, which is 5000 bytes in one attempt/,
    );
  });

  it('need HTTP: a program that speaks both versions falls back to HTTP/1.1, and of one that speaks neither the run says why it fails', async () => {
    const offering = (...protocols: string[]) => `python3 -c '
import os, socket, ssl
context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
context.set_alpn_protocols(${JSON.stringify(protocols)})
try: print(context.wrap_socket(socket.create_connection(("api.test", ${service.port})), server_hostname="api.test").selected_alpn_protocol())
except ssl.SSLError as error: print("failed")
'`;
    const curl = `curl -sS --http2 -o /dev/null -w '%{http_version}\n' ${url}/`;
    const fine = await calls(`${curl}; ${offering('h2', 'http/1.1')}`);
    assert.deepEqual([fine.lines, fine.of('runner_warning')], [['1.1', 'http/1.1'], []], fine.stderr);
    const alone = await calls(`${offering('h2')}; ${offering('spdy/1')}`);
    assert.deepEqual(alone.lines, ['h2', 'failed']);
    const [warning] = alone.of('runner_warning');
    assert.match(String(warning?.msg), /the program offers neither HTTP\/1\.1 nor HTTP\/2/);
    assert.deepEqual([warning!.code, warning!.host], ['E_POLICY_DENIED', 'api.test']);
  });

  it('hold for each request of a program that speaks HTTP/2 alone', {
    skip: spawnSync('node', ['--version']).status !== 0 && 'Node is not installed',
  }, async () => {
    const code = `const http2 = require("node:http2");
const session = http2.connect("https://h2.test:${portOf(streams)}");
session.on("error", (error) => { console.log(error.code); process.exit(); });
const call = (method, path, body) => new Promise((resolve) => {
  const stream = session.request({ ":method": method, ":path": path });
  let status, text = "", grpc;
  stream.on("response", (head) => { status = head[":status"]; });
  stream.on("trailers", (head) => { grpc = head["grpc-status"]; });
  stream.on("data", (data) => { text += data; });
  stream.on("error", () => {});
  stream.on("close", () => resolve([status, grpc, text.slice(0, 20)]));
  stream.end(body);
});
(async () => {
  const all = await Promise.all([call("GET", "/v1/a"), call("POST", "/v1/notes", "x".repeat(2000)), call("GET", "/v2"), call("DELETE", "/v1/a")]);
  for (const each of all) console.log(JSON.stringify(each));
  session.close();
})();`;
    tool(
      'streams',
      `{ host: 'h2.test:${portOf(streams)}', methods: [GET], paths: [/v1/**] }, { host: 'h2.test:${portOf(streams)}', methods: [POST], paths: [/v1/notes], max_upload: 5000 }`,
    );
    const run = await runScript(project, 'streams', `node -e '${code}'`);
    assert.deepEqual(
      run.lines,
      [
        '[200,"0","GET /v1/a 0"]',
        '[200,"0","POST /v1/notes 2000"]',
        '[403,null,"GET /v2 is not allow"]',
        '[403,null,"DELETE /v1/a is not "]',
      ],
      run.stderr,
    );
  });

  it('are shown before a run, described, and validated', async () => {
    const host = `api.test:${service.port}`;
    const { data } = await project.envelope(['run', 'reads', 'true', '--dry-run']);
    assert.deepEqual(data.isolation.requests, [
      { host, methods: ['GET'], paths: ['/', '/v1/**'] },
      { host, methods: ['POST'], paths: ['/v1/notes'], max_upload: 5000 },
    ]);
    assert.deepEqual(data.isolation.egress, [host]);
    const { words } = (await project.envelope(['describe', 'reads', '--permissions'])).data;
    assert.ok(
      words.includes(
        `Its requests to ${host} are limited, and ACOR reads them: POST; /v1/notes; at most 5000 bytes sent.`,
      ),
      words.join('\n'),
    );
    using own = new TestProject();
    own.write(
      'tools/t/tool.yaml',
      `name: t
version: 1.0.0
permissions:
  level: privileged
  network:
    egress_allow:
      - { host: a.test, methods: [GET] }
      - a.test:443
`,
    );
    own.write('tools/t/cli.sh', '#!/bin/bash\n');
    const found = JSON.stringify(await own.envelope(['validate', 't']));
    for (const rule of ['rules-need-gateway', 'host-without-rules'])
      assert.ok(found.includes(rule), `${rule}: ${found}`);
    own.write(
      'tools/u/tool.yaml',
      `name: u\nversion: 1.0.0\npermissions: { network: { egress_allow: [{ host: a.test, methods: [get] }, { host: a.test, paths: ['/a*'] }] } }\n`,
    );
    own.write('tools/u/cli.sh', '#!/bin/bash\n');
    const { error } = await own.envelope(['validate', 'u']);
    assert.deepEqual([error.code, error.details.errors], ['E_MANIFEST_INVALID', 2]);
  });
});

function portOf(server: { address(): unknown }): number {
  return (server.address() as { port: number }).port;
}
