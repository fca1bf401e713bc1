import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EgressRig, listen } from '../../../../test/support/egress-rig.ts';
import { processesOf, until } from '../../../../test/support/project.ts';
import type { RigOptions, SandboxRig } from '../../../../test/support/sandbox-rig.ts';
import { bubblewrap } from '../backends/bubblewrap.ts';
import { none } from '../backends/none.ts';

const probe = await bubblewrap.probe();
const isRoot = process.getuid?.() === 0;
const ownAddress = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

describe(`a tool that names its hosts, for ${isRoot ? 'root' : 'an ordinary user'}`, {
  skip: !probe.available && `bubblewrap is not available here (${probe.detail})`,
}, () => {
  let egress: EgressRig;
  let rig: SandboxRig;
  let port: number;
  let otherPort: number;
  before(async () => {
    egress = await EgressRig.make();
    ({ rig, port, otherPort } = egress);
  });
  after(() => {
    egress.closeServers();
    rig.remove();
  });

  const allowing: EgressRig['allowing'] = (...asked) => egress.allowing(...asked);
  const python: EgressRig['python'] = (...code) => egress.python(...code);

  /** A payload that must come to nothing, and does not where there is no sandbox. */
  async function assertHeld(code: string, options: RigOptions = {}) {
    const inside = await python(bubblewrap, code, options);
    assert.deepEqual(
      inside.lines.filter((line) => line === 'harm'),
      [],
      inside.lines.join('\n'),
    );
    const control = await python(none, code, options);
    assert.ok(control.lines.includes('harm'), `the control did no harm: ${control.lines}${control.stderr}`);
    return inside;
  }

  it('reaches a host by its name, which the log records', async () => {
    const { lines, notes } = await python(bubblewrap, `reach('api.test', ${port}, 'reached')`);
    assert.deepEqual(lines, ['reached']);
    const [first, total] = notes;
    assert.deepEqual(first, {
      kind: 'allowed',
      msg: `network: connected to api.test:${port} (127.0.0.1)`,
      host: 'api.test',
      port,
      address: '127.0.0.1',
    });
    assert.equal(total?.kind, 'total');
    assert.deepEqual(total?.kind === 'total' && [total.allowed, total.denied, total.failed], [1, 0, 0]);
  });

  it('gets all of an answer that comes after it has said its last word', async () => {
    const { lines } = await python(
      bubblewrap,
      `
s = socket.create_connection(('api.test', ${port}))
sent = b'x' * 3000000
import threading
def send():
    s.sendall(sent); s.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
got = b''
while True:
    part = s.recv(1 << 20)
    if not part: break
    got += part
say(got == b'hello\\n' + sent + b'end\\n')`,
    );
    assert.deepEqual(lines, ['True']);
  });

  it('reaches an address that it names, and none beside it', { skip: !ownAddress }, async () => {
    const beside = ownAddress!.replace(/\d+$/, (last) => String(Number(last) ^ 1));
    const { lines } = await python(
      bubblewrap,
      `reach('${ownAddress}', ${port}, 'reached'); reach('${ownAddress}', ${otherPort}); reach('${beside}', ${port}); reach('localhost', ${port}, 'reached')`,
      { request: allowing([`${ownAddress}:${port}`, `localhost:${port}`]) },
    );
    assert.deepEqual(lines, ['reached', 'ECONNREFUSED', 'ENETUNREACH', 'reached']);
  });

  it('names an IPv6 address, and reaches it', { skip: !existsSync('/proc/net/if_inet6') }, async () => {
    const six = createServer((socket) => socket.end('six\n'));
    const sixPort = await listen(six, '::1');
    try {
      const { lines } = await python(
        bubblewrap,
        `reach('::1', ${sixPort}, 'reached'); reach('2600::1', 443)`,
        {
          request: allowing([`[::1]:${sixPort}`, '[2600::2]:443']),
        },
      );
      assert.deepEqual(lines, ['reached', 'ENETUNREACH']);
    } finally {
      six.close();
    }
  });

  it('has the network of the machine where that is given', async () => {
    const { lines } = await python(bubblewrap, `reach('127.0.0.1', ${port}, 'reached')`, {
      request: { network: 'host' },
    });
    assert.deepEqual(lines, ['reached']);
  });

  describe('does not reach', () => {
    it('what listens on this machine', async () => {
      const { lines } = await assertHeld(`reach('127.0.0.1', ${port}); reach('127.0.0.1', ${otherPort})`);
      assert.deepEqual(lines, ['ECONNREFUSED', 'ECONNREFUSED']);
    });

    it('any address outside, nor the one where clouds keep their keys', { skip: !ownAddress }, async () => {
      const held = await assertHeld(`reach('${ownAddress}', ${port})`);
      const { lines } = await python(
        bubblewrap,
        `for at in ['192.0.2.1', '169.254.169.254', 'fd00:ec2::254', '2600::1']: reach(at, 80)`,
      );
      assert.deepEqual([...held.lines, ...lines], new Array(5).fill('ENETUNREACH'));
    });

    it('anything by datagrams, and so no name server', async () => {
      const received: string[] = [];
      const socket = createSocket('udp4').on('message', (message) => received.push(String(message)));
      await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
      const code = (word: string) => `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for to in ['127.0.0.1', '127.1.0.1', '192.0.2.1']:
    try: s.sendto(b'${word}', (to, ${socket.address().port}))
    except OSError as e: say(errno.errorcode[e.errno])`;
      try {
        const { lines } = await python(bubblewrap, code('inside'));
        assert.deepEqual(lines, ['ENETUNREACH']);
        await python(none, code('control'));
        await until(() => received.length > 0);
        assert.deepEqual([...new Set(received)], ['control']);
      } finally {
        socket.close();
      }
    });

    it('a name server through the names that it looks up, and the log names the line that would allow them', async () => {
      const { lines, notes } = await python(
        bubblewrap,
        `
for name in ['the-secret.evil.test', 'The-Secret.EVIL.test', 'evil.test']: reach(name, 443)`,
      );
      assert.deepEqual(lines, new Array(3).fill('no such name'));
      const denied = notes.filter(({ kind }) => kind === 'denied');
      assert.deepEqual(
        denied.map((note) => note.kind === 'denied' && [note.host, note.allow?.line]),
        [
          ['the-secret.evil.test', '- the-secret.evil.test:443'],
          ['evil.test', '- evil.test:443'],
        ],
      );
    });
  });

  describe('at the proxy', () => {
    const wild = () => ({ request: allowing([`*.wild.test:${port}`, `api.test:${port}`]) });

    it('gets a tunnel to the hosts of a wildcard, and what it sends after its request is no request', async () => {
      const { lines, notes } = await python(
        bubblewrap,
        `
second = b'CONNECT other.test:${otherPort} HTTP/1.1\\r\\n\\r\\n'
for host in [b'www.wild.test', b'WWW.Wild.TEST', b'api.test']:
    say(repr(ask(b'CONNECT ' + host + b':${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n', second)))`,
        wild(),
      );
      for (const line of lines)
        assert.match(
          line,
          /^'HTTP\/1.1 200 [^\\]*\\r\\n\\r\\nhello\\nCONNECT other.test:\d+ HTTP\/1.1\\r\\n\\r\\nend\\n'$/,
        );
      const hosts = notes.flatMap((note) => (note.kind === 'allowed' ? [note.host] : []));
      assert.deepEqual([lines.length, hosts], [3, ['www.wild.test', 'api.test']]);
    });

    it('is found there by programs that heed HTTP_PROXY', async () => {
      const web = createServer((socket) =>
        socket.once('data', (data) =>
          socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${data.length}\r\n\r\n${data}`),
        ),
      );
      const webPort = await listen(web);
      try {
        const { lines } = await python(
          bubblewrap,
          `
import urllib.request, urllib.error
say(repr(urllib.request.urlopen('http://www.wild.test:${webPort}/path?q=1').read().decode().split('\\r\\n')[:2]))
try: urllib.request.urlopen('http://other.test:${webPort}/')
except urllib.error.HTTPError as e: say(e.code, e.read().decode())`,
          { request: allowing([`*.wild.test:${webPort}`]) },
        );
        assert.deepEqual(lines.slice(0, 2), [
          `['GET /path?q=1 HTTP/1.1', 'Host: www.wild.test:${webPort}']`,
          `403 other.test:${webPort} is not allowed. In tool.yaml, under permissions.network.egress_allow, write: - other.test:${webPort}`,
        ]);
      } finally {
        web.close();
      }
    });

    it('gains nothing by passing it over', async () => {
      const env = {
        HTTP_PROXY: '',
        HTTPS_PROXY: '',
        http_proxy: '',
        https_proxy: '',
        NO_PROXY: '*',
        no_proxy: '*',
      };
      await assertHeld(
        `
import urllib.request
try: urllib.request.urlopen('http://127.0.0.1:${otherPort}/', timeout=10)
except urllib.error.URLError as e: say(e.reason)
except Exception as e: say('harm')`,
        { ...wild(), env },
      );
    });
  });

  it('is asked to end, and ended, like any other', async () => {
    const request = allowing([`api.test:${port}`]);
    const asked = await rig.start(
      bubblewrap,
      'trap "echo asked; exit 9" TERM; echo ready; while :; do sleep 0.01; done',
      { request },
    );
    await until(() => asked.stdout() === 'ready\n');
    asked.tree.signal('SIGTERM');
    assert.deepEqual([(await asked.ended).exit.rc, asked.stdout()], [9, 'ready\nasked\n']);
    const deaf = await rig.start(bubblewrap, "trap '' TERM; (setsid sleep 600 &); echo ready; sleep 600", {
      request,
    });
    await until(() => deaf.stdout() === 'ready\n');
    assert.deepEqual(await deaf.tree.kill(), []);
    assert.equal((await deaf.ended).exit.signal, 'SIGKILL');
    assert.deepEqual(processesOf(rig.runId), []);
  });

  it('is cut off when the host cuts it off', async () => {
    const rude = createServer((socket) => socket.write('hello\n', () => socket.resetAndDestroy()));
    const rudePort = await listen(rude);
    try {
      const { lines } = await python(
        bubblewrap,
        `
try:
    s = socket.create_connection(('api.test', ${rudePort}), timeout=30)
    while s.recv(100): pass
    say('end')
except ConnectionResetError: say('reset')`,
        { request: allowing([`api.test:${rudePort}`]) },
      );
      // An end would make a half of an answer look like the whole.
      assert.deepEqual(lines, ['reset']);
    } finally {
      rude.close();
    }
  });

  it('leaves no socket behind, whatever the host does', async () => {
    const open = new Set<Socket>();
    const stubborn = createServer({ allowHalfOpen: true }, (socket) => {
      open.add(socket.on('error', () => {}).resume());
      socket.once('close', () => open.delete(socket));
      socket.write('hello\n');
    });
    const stubbornPort = await listen(stubborn);
    const sockets = () => readdirSync('/proc/self/fd').filter(isSocket).length;
    const before = sockets();
    try {
      const { lines } = await python(
        bubblewrap,
        `s = socket.create_connection(('api.test', ${stubbornPort})); say(s.recv(6)); os._exit(0)`,
        { request: allowing([`api.test:${stubbornPort}`]) },
      );
      assert.deepEqual(lines, ["b'hello\\n'"]);
      // The host is in this process, too, and keeps its half open.
      await until(() => sockets() <= before + open.size);
    } finally {
      for (const socket of open) socket.destroy();
      stubborn.close();
    }
  });

  it('is not started when no supervisor takes its listening sockets', async () => {
    const trace = join(rig.writable, 'trace');
    const run = rig.bash(bubblewrap, `touch ${trace}`, {
      request: allowing([`api.test:${port}`]),
      isDeaf: true,
    });
    await assert.rejects(run, { code: 'E_SANDBOX_UNAVAILABLE' });
    assert.equal(existsSync(trace), false);
  });
});

function isSocket(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
  } catch {
    return false;
  }
}
