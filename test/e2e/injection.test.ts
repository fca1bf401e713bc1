import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { placesOf } from '../support/places-of.ts';
import { type RunOfTool, TestProject } from '../support/project.ts';
import { RUNS_SCRIPT, runScript, SCRIPT_INPUT } from '../support/script-tool.ts';
import { TlsService } from '../support/tls-service.ts';

const VALUE = 'sk-the-real-value-0815-of-the-key';
const PLACEHOLDER = 'acor-injects-API_TOKEN';

const BUN = process.versions['bun'] === undefined ? undefined : process.execPath;
const GIT_FOLDER = printed('git', '--exec-path');
const COMMANDS = [
  ...[
    'curl',
    'python3',
    'node',
    'git',
    `${GIT_FOLDER}/git`,
    `${GIT_FOLDER}/git-remote-https`,
    'hcloud',
    'java',
    'cat',
    'grep',
    'head',
    'ls',
    'tr',
    'wc',
  ],
  ...(BUN === undefined ? [] : [BUN]),
];
/** The folder of a Python's packages that has `requests`: of any Python on the PATH. */
const PACKAGES =
  process.env
    .PATH!.split(':')
    .map((folder) => join(folder, 'python3'))
    .filter((python) => existsSync(python))
    .map((python) =>
      printed(
        python,
        '-c',
        'import os, requests; print(os.path.dirname(os.path.dirname(requests.__file__)))',
      ),
    )
    .find((folder) => folder !== '') ?? '';

const probe = await bubblewrap.probe();

describe('a secret that is put into the requests of a tool', {
  skip: !probe.available && `bubblewrap is not available here (${probe.detail})`,
}, () => {
  let project: TestProject;
  let service: TlsService;
  let other: TlsService;
  let url: string;
  before(async () => {
    project = new TestProject();
    service = await TlsService.start('api.test', { files: project.path('served') });
    other = await TlsService.start('other.test', { authority: service.authority });
    const hosts = [`api.test:${service.port}`, `other.test:${other.port}`];
    url = `https://api.test:${service.port}`;
    const authority = service.writeAuthority(project.path('authority.pem'));
    project.write(
      '.acor/config.yaml',
      `version: 1
environment: { cancel_grace_s: 0.3 }
security:
  allow_private_egress: [${hosts.map((host) => `'${host}'`).join(', ')}]
  egress_hosts: { api.test: 127.0.0.1, other.test: 127.0.0.1 }
  egress_authorities: ['${authority}']
`,
    );
    tool('calls', { inject: `{ hosts: ['api.test:${service.port}'] }` });
    await project.acor(['secret', 'set', 'API_TOKEN'], { stdin: VALUE });
  });
  after(() => {
    service.close();
    other.close();
    project[Symbol.dispose]();
  });

  /** A tool that runs the bash script of its argument. */
  function tool(
    name: string,
    { inject, delivery = `as: env, inject: ${inject}` }: { inject?: string; delivery?: string },
  ) {
    project.write(
      `tools/${name}/tool.yaml`,
      `name: ${name}
version: 1.0.0
adapter: plain
secrets: [{ name: API_TOKEN, ${delivery} }]
permissions:
  commands: ${JSON.stringify(COMMANDS)}
${BUN === undefined ? '' : `  filesystem: { read: ['${dirname(BUN)}/**'] }\n`}  network: { egress_allow: ['other.test:${other.port}'] }
${SCRIPT_INPUT}`,
    );
    project.write(`tools/${name}/cli.sh`, RUNS_SCRIPT);
  }

  const calls = (script: string, name = 'calls') => runScript(project, name, script);

  it('reaches the host, and the tool has a placeholder', async () => {
    const run = await calls(`echo "$API_TOKEN $(cat "$SECRETS_DIR/API_TOKEN")"; curl -sS ${url}/`);
    assert.deepEqual(run.lines, [`${PLACEHOLDER} ${PLACEHOLDER}`, 'served'], run.stderr);
    assert.equal(service.last.headers['authorization'], `Bearer ${VALUE}`);
    const { isolation } = run.of('runner_start')[0]! as { isolation?: { injected?: unknown } };
    assert.deepEqual(isolation?.injected, [
      { secret: 'API_TOKEN', host: `api.test:${service.port}`, header: 'Authorization' },
    ]);
    assert.deepEqual(await placesOf([VALUE], project, run.stdout + run.stderr), []);
  });

  describe('works with', () => {
    const expectRequest = (run: RunOfTool & { lines: unknown[] }, path: string) => {
      assert.deepEqual([run.end.state, run.lines], ['completed', ['served']], saidBy(run));
      assert.deepEqual(
        [service.last.url, service.last.headers['authorization'], service.last.headers['host']],
        [path, `Bearer ${VALUE}`, `api.test:${service.port}`],
      );
    };

    it('curl, also through the proxy', async () => {
      expectRequest(await calls(`curl -sS ${url}/curl?x=1 -o /dev/null -w served`), '/curl?x=1');
      const proxied = `NO_PROXY= no_proxy= curl -sS --proxy "$HTTPS_PROXY" ${url}/proxied -o /dev/null -w served`;
      expectRequest(await calls(proxied), '/proxied');
    });

    it('urllib of Python', async () => {
      const code = `import urllib.request as r; print(r.urlopen("${url}/?urllib").read().decode(), end="")`;
      expectRequest(await calls(`python3 -c '${code}'`), '/?urllib');
    });

    it('urllib of a Python that checks certificates strictly', async () => {
      const code = `import ssl, urllib.request as r
c = ssl.create_default_context(); c.verify_flags |= ssl.VERIFY_X509_STRICT
print(r.urlopen("${url}/?strict", context=c).read().decode(), end="")`;
      expectRequest(await calls(`python3 -c '${code}'`), '/?strict');
    });

    it('requests of Python', { skip: PACKAGES === '' && 'requests is not installed' }, async () => {
      const site = project.path('tools/calls/site');
      for (const name of ['requests', 'urllib3', 'idna', 'certifi', 'charset_normalizer'])
        cpSync(`${PACKAGES}/${name}`, `${site}/${name}`, { recursive: true });
      const code = `import sys; sys.path.insert(0, "${site}"); import requests; print(requests.get("${url}/?requests").text, end="")`;
      expectRequest(await calls(`python3 -c '${code}'`), '/?requests');
    });

    it('fetch of Node', {
      skip: printed('node', '--version') === '' && 'Node is not installed',
    }, async () => {
      const code = `fetch("${url}/?node").then((r) => r.text()).then((text) => process.stdout.write(text))`;
      expectRequest(await calls(`node -e '${code}'`), '/?node');
    });

    it('fetch of Bun', { skip: BUN === undefined && 'this is not Bun' }, async () => {
      const code = `fetch("${url}/?bun").then((r) => r.text()).then((text) => process.stdout.write(text))`;
      expectRequest(await calls(`${BUN} -e '${code}'`), '/?bun');
    });

    it('Go', { skip: printed('go', 'version') === '' && 'Go is not installed' }, async () => {
      const source = project.path('get.go');
      project.write(
        'get.go',
        `package main\nimport ("io"; "net/http"; "os")\nfunc main() { r, err := http.Get(os.Args[1]); if err != nil { panic(err) }; io.Copy(os.Stdout, r.Body) }\n`,
      );
      // Built outside of the sandbox, in which the compiler of Go may not start its own programs.
      const build = spawnSync('go', ['build', '-o', project.path('tools/calls/get'), source], {
        encoding: 'utf8',
        env: { ...process.env, HOME: project.path('go'), GOCACHE: project.path('go/cache') },
      });
      assert.equal(build.status, 0, build.stderr);
      const get = project.path('tools/calls/get');
      expectRequest(await calls(`${get} ${url}/?go`), '/?go');
      // The control: Go does not trust the run's authority by itself.
      const untrusting = await calls(`SSL_CERT_FILE= SSL_CERT_DIR= ${get} ${url}/?untrusting`);
      assert.notEqual(untrusting.end.state, 'completed');
      assert.match(saidBy(untrusting), /certificate signed by unknown authority/);
      assert.equal(service.last.url, '/?go');
    });

    it('a program in Go that Debian has (hcloud), with the placeholder as its token', {
      skip: printed('hcloud', 'version') === '' && 'hcloud is not installed',
    }, async () => {
      project.write(
        'served/datacenters',
        '{"datacenters":[{"id":1,"name":"dc1","description":"served","location":{"id":1}}]}',
      );
      const run = await calls(
        `HOME="$WORKSPACE" HCLOUD_TOKEN="$API_TOKEN" HCLOUD_ENDPOINT=${url} hcloud datacenter list -o noheader -o columns=description`,
      );
      assert.match(service.last.url, /^\/datacenters\?/);
      expectRequest(run, service.last.url);
    });

    it('Java, in both of its clients', {
      skip: printed('javac', '--version') === '' && 'a compiler for Java is not installed',
    }, async () => {
      project.write(
        'java/Get.java',
        `import java.net.*; import java.net.http.*;
class Get {
  public static void main(String[] args) throws Exception {
    if (args[0].equals("old")) System.out.write(new URL(args[1]).openStream().readAllBytes());
    else System.out.print(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(args[1])).build(), HttpResponse.BodyHandlers.ofString()).body());
    System.out.flush();
  }
}
`,
      );
      const folder = project.path('tools/calls');
      const built = spawnSync('javac', ['-nowarn', '-d', folder, project.path('java/Get.java')], {
        encoding: 'utf8',
      });
      assert.equal(built.status, 0, built.stderr);
      expectRequest(await calls(`java -cp ${folder} Get new ${url}/?java`), '/?java');
      expectRequest(await calls(`java -cp ${folder} Get old ${url}/?java-old`), '/?java-old');
      // The control: Java does not trust the run's authority by itself.
      const untrusting = await calls(
        `unset JAVA_TOOL_OPTIONS; java -cp ${folder} Get new ${url}/?untrusting`,
      );
      assert.notEqual(untrusting.end.state, 'completed');
      assert.match(saidBy(untrusting), /unable to find valid certification path/);
      assert.equal(service.last.url, '/?java-old');
    });

    it('git', async () => {
      const made = spawnSync(
        'sh',
        [
          '-c',
          `git init -q --bare "$1/repo.git" && git init -q "$1/w" && cd "$1/w" && echo hello > file && git add file &&
           git -c user.name=a -c user.email=a@a.test commit -qm first && git push -q ../repo.git HEAD:refs/heads/main &&
           cd ../repo.git && git symbolic-ref HEAD refs/heads/main && git update-server-info`,
          'sh',
          project.path('served'),
        ],
        { encoding: 'utf8' },
      );
      assert.equal(made.status, 0, made.stderr);
      const run = await calls(`git clone -q ${url}/repo.git cloned && cat cloned/file`);
      assert.deepEqual(run.lines, ['hello'], saidBy(run));
      const fetched = service.requests.filter(({ url: path }) => path.startsWith('/repo.git/'));
      assert.ok(
        fetched.length > 3 && fetched.every(({ headers }) => headers['authorization'] === `Bearer ${VALUE}`),
      );
    });

    it('a WebSocket', { skip: BUN === undefined && 'this is not Bun' }, async () => {
      const code = `const s = new WebSocket("wss://api.test:${service.port}/socket");
let count = 0;
s.onmessage = ({ data }) => { console.log(data); if (count++ === 0) s.send("ping"); else s.close(); };
s.onerror = ({ message }) => console.log("error", message);`;
      const run = await calls(`${BUN} -e '${code}'`);
      assert.deepEqual(
        run.lines,
        ['*'.repeat(VALUE.length + 'Bearer '.length).replace(/^\*{7}/, 'Bearer '), 'ping'],
        saidBy(run),
      );
      assert.equal(service.last.headers['authorization'], `Bearer ${VALUE}`);
    });

    it('many requests on one connection, and bodies of any size in both directions', async () => {
      project.write('served/large', 'x'.repeat(5_000_000));
      const run = await calls(`head -c 3000000 /dev/zero | tr '\\0' y > body
curl -sS -w '%{num_connects} ' -o /dev/null ${url}/ -o got ${url}/large -o /dev/null ${url}/; echo; wc -c < got
curl -sS --data-binary @body -o /dev/null ${url}/; curl -sS -H 'Transfer-Encoding: chunked' --data-binary @body -o /dev/null ${url}/`);
      assert.deepEqual(run.lines, ['1 0 0 ', '5000000'], run.stderr);
      const bodies = service.requests.slice(-2).map(({ body }) => body === 'y'.repeat(3_000_000));
      assert.deepEqual(bodies, [true, true]);
    });
  });

  it('is overwritten in what the host answers', async () => {
    const run = await calls(
      `curl -sS -i --compressed ${url}/echo | tr -d '\\r' | grep -iE 'x-echo|authorization'; curl -sS ${url}/echo-in-pieces`,
    );
    const covered = `Bearer ${'*'.repeat(VALUE.length)}`;
    const [header, ...bodies] = run.lines.map(String);
    assert.match(header!, /^x-echo: /i);
    assert.deepEqual(
      [header!.slice('x-echo: '.length), ...bodies],
      [covered, JSON.stringify({ authorization: covered, body: '' }), covered],
    );
  });

  it('replaces whatever the tool sends in its header, in any spelling, and stays out of every other place', async () => {
    const headers = [
      'authorization: Bearer own',
      'AUTHORIZATION: Bearer other',
      `X-Copy: ${PLACEHOLDER}`,
      'Connection: authorization',
    ];
    const run = await calls(
      `curl -sS -o /dev/null ${headers.map((each) => `-H '${each}'`).join(' ')} --data "$API_TOKEN" "${url}/?key=$API_TOKEN"`,
    );
    assert.equal(run.end.state, 'completed', run.stderr);
    const { headers: got, body, url: path } = service.last;
    assert.deepEqual(
      [got['authorization'], got['x-copy'], body, path],
      [`Bearer ${VALUE}`, PLACEHOLDER, PLACEHOLDER, `/?key=${PLACEHOLDER}`],
    );
  });

  it('is encoded as the scheme Basic requires, and in a header of another name', async () => {
    const host = `['api.test:${service.port}']`;
    tool('basic', { inject: `{ hosts: ${host}, format: 'Basic user:{}' }` });
    tool('key', { inject: `{ hosts: ${host}, header: X-Api-Key, placeholder: sk-looks-right }` });
    await calls(`curl -sS ${url}/`, 'basic');
    assert.equal(
      service.last.headers['authorization'],
      `Basic ${Buffer.from(`user:${VALUE}`).toString('base64')}`,
    );
    const { lines } = await calls(
      `echo $API_TOKEN; curl -sS -o /dev/null -H 'X_Api_Key: own' -H "Authorization: own" ${url}/`,
      'key',
    );
    const { headers } = service.last;
    assert.deepEqual(
      [lines, headers['x-api-key'], headers['x_api_key'], headers['authorization']],
      [['sk-looks-right'], VALUE, undefined, 'own'],
    );
  });

  describe('does not reach', () => {
    /** Python that sends bytes by TLS and prints the first line of each answer, or how the connection ended. */
    const raw = (requests: readonly string[], { sni = 'api.test', then = '' } = {}) => `python3 - <<'END'
import ssl, socket
context = ssl.create_default_context()
context.check_hostname = False
def send(data):
    try:
        with socket.create_connection(('api.test', ${service.port}), timeout=30) as s:
            with context.wrap_socket(s, server_hostname='${sni}') as t:
                t.sendall(data)
                got = b''
                while True:
                    part = t.recv(65536)
                    if not part: break
                    got += part
                    if got.endswith(b'served\\n'): break
                print(got.split(b'\\r\\n')[0].decode() or 'cut off', flush=True)
    except OSError as e: print('cut off', flush=True)
${requests.map((request) => `send(${JSON.stringify(request)}.encode('latin1'))`).join('\n')}
${then}
END`;
    const host = () => `Host: api.test:${service.port}\r\n`;

    it('a host that is not declared, whose TLS stays its own', async () => {
      const script = `curl -sS --cacert ${project.path('tools/calls/other.pem')} -H "Authorization: Bearer $API_TOKEN" https://other.test:${other.port}/echo`;
      project.write('tools/calls/other.pem', other.authority.certificate);
      const { lines } = await calls(script);
      assert.deepEqual(lines, [JSON.stringify({ authorization: `Bearer ${PLACEHOLDER}`, body: '' })]);
      const ended = await calls(`curl -sS -o /dev/null https://other.test:${other.port}/ || echo refused`);
      assert.deepEqual(ended.lines, ['refused'], 'the run trusts no more authorities than it did');
    });

    it('another host through the ended TLS', async () => {
      const before = service.requests.length;
      const run = await calls(raw(['GET / HTTP/1.1\r\nHost: api.test\r\n\r\n'], { sni: 'other.test' }));
      assert.deepEqual(run.lines, ['cut off']);
      const named = [
        'Host: other.test\r\n',
        `Host: other.test:${other.port}\r\n`,
        `Host: api.test:${service.port}.other.test\r\n`,
      ];
      const targets = [
        `https://other.test:${other.port}/`,
        `http://other.test/`,
        '//other.test/ HTTP/1.1\r\nHost: x',
      ];
      const refused = await calls(
        raw([
          ...named.map((each) => `GET / HTTP/1.1\r\n${each}\r\n`),
          `GET / HTTP/1.1\r\n${host()}Host: other.test\r\n\r\n`,
          'GET / HTTP/1.1\r\n\r\n',
          ...targets.slice(0, 2).map((target) => `GET ${target} HTTP/1.1\r\n${host()}\r\n`),
          `CONNECT other.test:${other.port} HTTP/1.1\r\n${host()}\r\n`,
          `TRACE / HTTP/1.1\r\n${host()}\r\n`,
        ]),
      );
      assert.deepEqual(
        refused.lines.map((line) => String(line).split(' ')[1]),
        ['421', '421', '421', '421', '421', '400', '400', '405', '405'],
      );
      assert.equal(service.requests.length, before);
      const denied = refused.of('runner_warning').map(({ host: name, port }) => [name, port]);
      assert.deepEqual([...new Set(denied.map(String))], [`api.test,${service.port}`]);
      // The control: the same bytes with the right names.
      const { lines } = await calls(raw([`GET / HTTP/1.1\r\n${host()}Connection: close\r\n\r\n`]));
      assert.deepEqual(lines, ['HTTP/1.1 200 OK']);
    });

    it('a request that two programs could read in two ways', async () => {
      const before = service.requests.length;
      const post = `POST / HTTP/1.1\r\n${host()}`;
      const run = await calls(
        raw([
          `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
          `${post}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`,
          `${post}Content-Length: +4\r\n\r\nabcd`,
          `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
          `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
          `GET / HTTP/1.1\r\n${host()}X: a\r\n Authorization: b\r\n\r\n`,
          `GET / HTTP/1.1\r\n${host()}X: a\nAuthorization: b\r\n\r\n`,
          `GET / HTTP/1.0\r\n${host()}\r\n`,
          `GET /\tx HTTP/1.1\r\n${host()}\r\n`,
          `GET / HTTP/1.1\r\n${host()}X: ${'x'.repeat(70_000)}\r\n\r\n`,
        ]),
      );
      assert.deepEqual(
        run.lines.map((line) => String(line).split(' ')[1]),
        ['400', '400', '400', '400', '400', '400', '400', '505', '400', '400'],
      );
      assert.equal(service.requests.length, before);
      // A body that is malformed later on is cut off there, and so is its answer.
      const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;
      const { lines } = await calls(
        raw([`${chunked}zz\r\n\r\n`, `${chunked}3\r\nabcdGET / HTTP/1.1\r\n\r\n`]),
      );
      assert.deepEqual(
        lines.filter((line) => /200/.test(String(line))),
        [],
      );
      assert.equal(service.requests.length, before);
    });

    it('the tool, which finds no key of the authority and no value', async () => {
      const script = `trust=$SSL_CERT_FILE
grep -c 'BEGIN CERTIFICATE' "$trust" > /dev/null && echo certificates
# A pattern that does not find itself in the arguments. Programs such as Bun have the words in them.
grep -l --exclude-dir=node_modules -e 'PRIVATE [K]EY' -e '${VALUE.slice(0, 20)}[${VALUE[20]}]' -r "$trust" "$SECRETS_DIR" "$WORKSPACE" /etc /tmp /run /dev/shm /proc/self/environ /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2> /dev/null
echo x >> "$trust" || echo unchangeable
ls -l /proc/self/fd | grep -c socket`;
      const { lines } = await calls(script);
      assert.deepEqual(lines, ['certificates', 'unchangeable', '0']);
      // The control: a tool that gets the value itself.
      tool('given', { delivery: 'as: env' });
      const given = (await calls(script, 'given')).lines.map(String);
      assert.ok(
        given.includes('/proc/self/environ') && given.some((line) => line.endsWith('/API_TOKEN')),
        given.join('\n'),
      );
    });

    it('a host that cannot prove its name', async () => {
      using foreign = new TestProject();
      const untrustedHost = await TlsService.start('api.test');
      const imposter = await TlsService.start('other.test', { authority: service.authority });
      const own = service.writeAuthority(foreign.path('authority.pem'));
      for (const [port, name] of [
        [untrustedHost.port, 'untrusted'],
        [imposter.port, 'misnamed'],
      ] as const) {
        foreign.write(
          `tools/${name}/tool.yaml`,
          `name: ${name}\nversion: 1.0.0\nadapter: plain\nsecrets: [{ name: API_TOKEN, inject: { hosts: ['api.test:${port}'] } }]\npermissions: { commands: [curl] }\n`,
        );
        foreign.write(`tools/${name}/cli.sh`, `#!/bin/bash\ncurl -sS https://api.test:${port}/\n`);
      }
      foreign.write(
        '.acor/config.yaml',
        `version: 1\nsecurity: { allow_private_egress: ['api.test:*'], egress_hosts: { api.test: 127.0.0.1 }, egress_authorities: ['${own}'] }\n`,
      );
      await foreign.acor(['secret', 'set', 'API_TOKEN'], { stdin: VALUE });
      try {
        for (const name of ['untrusted', 'misnamed']) {
          const run = await foreign.run([name]);
          const [said] = run.of('log').map(({ msg }) => String(msg));
          assert.match(said!, /^api\.test:\d+: its TLS was refused: /, run.stderr);
          assert.ok(run.of('runner_warning').some(({ msg }) => /its TLS was refused/.test(String(msg))));
        }
        assert.deepEqual([untrustedHost.requests, imposter.requests], [[], []]);
      } finally {
        untrustedHost.close();
        imposter.close();
      }
    });
  });

  it('needs a sandbox that can do it, and a value that fits', async () => {
    const off = await project.envelope(['run', 'calls', 'true', '--no-stream'], {
      env: { ACOR_SECURITY_ISOLATION: 'off' },
    });
    assert.deepEqual([off.code, off.error.code], [2, 'E_SANDBOX_UNAVAILABLE']);
    assert.match(
      off.error.message,
      /has secrets or rules for its requests, which ACOR cannot read without a sandbox/,
    );
    using own = new TestProject();
    own.write(
      'tools/t/tool.yaml',
      'name: t\nversion: 1.0.0\nsecrets: [{ name: LONG, inject: { hosts: [a.test] } }]\n',
    );
    own.write('tools/t/cli.sh', '#!/bin/bash\n');
    await own.acor(['secret', 'set', 'LONG'], { stdin: 'first line of it\nsecond line of it' });
    const { code, error, meta } = await own.envelope(['run', 't', '--no-stream']);
    assert.deepEqual([code, error.code], [2, 'E_ENV_MISSING']);
    assert.match(error.message, /'LONG' cannot be put into the header Authorization/);
    assert.deepEqual(meta.next, ['acor secret set LONG']);
  });

  it('is described, and validated', async () => {
    const { words } = (await project.envelope(['describe', 'calls', '--permissions'])).data;
    assert.ok(
      words.includes(
        `It never gets the value of API_TOKEN: ACOR reads its requests to api.test:${service.port} and puts the value into the header Authorization.`,
      ),
      words.join('\n'),
    );
    using own = new TestProject();
    own.write(
      'tools/t/tool.yaml',
      `name: t
version: 1.0.0
permissions: { level: privileged }
secrets:
  - KEY
  - { name: KEY, inject: { hosts: [a.test] } }
  - { name: TOKEN, inject: { hosts: ['*.a.test'] } }
  - { name: OTHER, inject: { hosts: [a.test], header: Host } }
  - { name: THIRD, variable: X, inject: { hosts: [A.test], format: 'x {} {}' } }
  - { name: FOURTH, inject: { hosts: ['a.test:443'] } }
`,
    );
    own.write('tools/t/cli.sh', '#!/bin/bash\n');
    const { data, error } = await own.envelope(['validate', 't']);
    const found = JSON.stringify(data ?? error);
    for (const rule of ['injected-or-given', 'inject-needs-gateway', 'inject-header', 'inject-twice'])
      assert.ok(found.includes(rule), `${rule}: ${found}`);
  });
});

/** What a program of this machine prints; empty when it is missing or fails. */
function printed(program: string, ...args: string[]): string {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

function saidBy(run: RunOfTool): string {
  return run
    .of('diagnostic')
    .map(({ line }) => line)
    .join('\n');
}
