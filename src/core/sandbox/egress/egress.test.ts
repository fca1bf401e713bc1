import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { processesOf, until } from '../../../../test/support/project.ts';
import { type RigOptions, SandboxRig } from '../../../../test/support/sandbox-rig.ts';
import { bubblewrap } from '../backends/bubblewrap.ts';
import { none } from '../backends/none.ts';
import type { SandboxBackend } from '../sandbox.ts';
import { planEgress } from './egress-plan.ts';
import type { EgressNote } from './journal.ts';

/** What the payloads share: they say `harm`, or the name of what kept them from it. */
const PRELUDE = `
import socket, sys, os, errno
def say(*words): print(*words, flush=True)
def reach(host, port, what='harm'):
    try:
        with socket.create_connection((host, port), timeout=10) as s:
            word = s.recv(100).decode()
            say(what if word else 'nothing')
    except socket.gaierror: say('no such name')
    except OSError as e: say(errno.errorcode.get(e.errno, str(e)))
def ask(request, then=b''):
    try:
        with socket.create_connection(('127.0.0.1', 3128), timeout=10) as s:
            s.sendall(request)
            got = s.recv(65536) if then else b''
            s.sendall(then); s.shutdown(socket.SHUT_WR)
            while True:
                part = s.recv(65536)
                if not part: return got.decode('latin1')
                got += part
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
`;

const probe = await bubblewrap.probe();
const isRoot = process.getuid?.() === 0;
const ownAddress = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

describe(`a tool that names its hosts, for ${isRoot ? 'root' : 'an ordinary user'}`, {
  skip: !probe.available && `bubblewrap is not to be had here (${probe.detail})`,
}, () => {
  let rig: SandboxRig;
  /** The one that is allowed, and one beside it, both on every address of the machine. */
  let server: Server;
  let other: Server;
  let port: number;
  let otherPort: number;
  let heard = 0;
  before(async () => {
    rig = await SandboxRig.make();
    server = createServer({ allowHalfOpen: true }, (socket) => {
      heard++;
      socket.on('error', () => {});
      socket.on('data', (data) => socket.write(data));
      socket.once('end', () => socket.end('end\n'));
      socket.write('hello\n');
    });
    other = createServer((socket) => socket.on('error', () => {}).end('other\n'));
    [port, otherPort] = await Promise.all([listen(server), listen(other)]);
  });
  after(() => {
    server.close();
    other.close();
    rig.remove();
  });

  /** What is allowed where a test does not say: one name, which leads to this machine. */
  const allowing = (asked: string[], { opened = asked } = {}) => ({
    network: 'listed' as const,
    egress: planEgress('rig', asked, {
      allow_private_egress: opened,
      egress_hosts: { 'api.test': '127.0.0.1', 'www.wild.test': '127.0.0.1', 'other.test': '127.0.0.1' },
    }),
  });

  async function python(backend: SandboxBackend, code: string, options: RigOptions = {}) {
    const notes: EgressNote[] = [];
    const script = `python3 - <<'END_OF_CODE'\n${PRELUDE}${code}\nEND_OF_CODE`;
    const network = options.request?.network === undefined ? allowing([`api.test:${port}`]) : {};
    const request = { ...network, ...options.request, commands: ['python3'] };
    const tellOfEgress = (note: EgressNote) => notes.push(note);
    const { stdout, stderr } = await rig.bash(backend, script, { ...options, request, tellOfEgress });
    assert.doesNotMatch(stderr, /Traceback/, stderr);
    return { lines: stdout.split('\n').slice(0, -1), notes, stderr };
  }

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

  it('reaches a host by its name, and is told apart in what is recorded', async () => {
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

    it('another port of a host that it names, nor another host at the same port', async () => {
      const { lines } = await python(
        bubblewrap,
        `reach('api.test', ${otherPort}); reach('other.test', ${port}); reach('127.1.0.2', ${port}); reach('api.test', ${port}, 'reached')`,
      );
      assert.deepEqual(lines, ['ECONNREFUSED', 'no such name', 'ECONNREFUSED', 'reached']);
      const both = allowing([`api.test:${port}`, `api.test:${otherPort}`, `other.test:${port}`]);
      const control = await python(
        bubblewrap,
        `reach('api.test', ${otherPort}); reach('other.test', ${port})`,
        { request: both },
      );
      assert.deepEqual(control.lines, ['harm', 'harm']);
    });

    it('sockets with a path or an abstract name', async () => {
      const path = join(rig.readable, 'socket');
      const servers = [path, '\0acor-egress-test'].map((at) =>
        createServer((socket) => socket.end('unix\n')).listen(at),
      );
      try {
        await assertHeld(`
for at in ['${path}', '\\0acor-egress-test']:
    try:
        s = socket.socket(socket.AF_UNIX); s.connect(at); s.recv(10); say('harm')
    except OSError as e: say(errno.errorcode[e.errno])`);
      } finally {
        for (const each of servers) each.close();
      }
    });

    it('the network by other kinds of sockets', async () => {
      await assertHeld(`
for family, kind, protocol in [(40, 1, 0), (17, 3, 768), (2, 3, 1), (10, 3, 58), (38, 5, 0), (16, 3, 12), (16, 3, 9), (1, 1, 0)]:
    try:
        socket.socket(family, kind, protocol); say('harm')
    except OSError as e: say(errno.errorcode[e.errno])`);
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

    it('a name server through the names that it looks up, and is told which line would allow them', async () => {
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

    it('this machine by a name that leads here, unless the configuration opens it', async () => {
      const before = heard;
      const request = allowing([`api.test:${port}`], { opened: [] });
      const { lines, notes } = await python(bubblewrap, `reach('api.test', ${port})`, { request });
      assert.deepEqual([lines.includes('harm'), heard], [false, before]);
      const [denied] = notes;
      assert.equal(
        denied?.msg,
        `network: api.test:${port} was refused: it leads to 127.0.0.1, which is not public (loopback). In .acor/config.yaml, under security.allow_private_egress, write: - api.test:${port}`,
      );
      const control = await python(bubblewrap, `reach('api.test', ${port})`);
      assert.deepEqual([control.lines, heard], [['harm'], before + 1]);
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

    it('reaches nothing else, however it is written', async () => {
      const hosts = [
        ...['other.test', 'wild.test', 'xwild.test', 'www.wild.test.', 'www.wild.test.evil.test'],
        ...['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0177.0.0.1', '127.1'],
        ...[
          'user@www.wild.test',
          'evil.test\\x00.wild.test',
          'evil.test%00.wild.test',
          'evil.test\\t.wild.test',
        ],
        ...['evil.test#.wild.test', 'evil.test/.wild.test', '[fe80::1%25lo]', '..wild.test', ''],
      ];
      const { lines, notes } = await python(
        bubblewrap,
        `
for host in [${hosts.map((host) => `b'${host}'`).join(', ')}]:
    say(ask(b'CONNECT ' + host + b':${port} HTTP/1.1\\r\\n\\r\\n')[:12])
    say(ask(b'GET http://' + host + b':${port}/ HTTP/1.0\\r\\n\\r\\n')[:12])
say(ask(b'GET http://www.wild.test:${port}/ HTTP/1.1\\r\\nHost: other.test:${port}\\r\\n\\r\\n')[:12])
say(ask(b'CONNECT www.wild.test:0${port} HTTP/1.1\\r\\n\\r\\n')[:12])
say(ask(b'CONNECT www.wild.test:${otherPort} HTTP/1.1\\r\\n\\r\\n')[:12])
say(ask(b'\\x05\\x01\\x00' + b'x' * 20000)[:12])`,
        wild(),
      );
      assert.equal(lines.length, 2 * hosts.length + 4);
      for (const line of lines) assert.match(line, /^HTTP\/1\.1 4\d\d|^ECONNRESET$/);
      assert.deepEqual(
        notes.filter(({ kind }) => kind === 'allowed'),
        [],
      );
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

  it('cannot change its network, nor take the place of what listens there', async () => {
    const ioctls = `
import fcntl, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for call, request in [(0x8914, struct.pack('16sh22x', b'lo', 0)), (0x8916, struct.pack('16sH2x4s16x', b'lo:7', 2, bytes([10, 9, 8, 7])))]:
    try: fcntl.ioctl(s, call, request); say('harm')
    except OSError as e: say(errno.errorcode[e.errno])`;
    const binds = `
for reuse in [None, socket.SO_REUSEADDR, socket.SO_REUSEPORT]:
    try:
        s = socket.socket()
        if reuse is not None: s.setsockopt(socket.SOL_SOCKET, reuse, 1)
        s.bind(('127.1.0.1', ${port})); s.listen(); say('harm')
    except OSError as e: say(errno.errorcode[e.errno])`;
    const { lines } = await python(bubblewrap, ioctls + binds);
    assert.deepEqual(lines, ['EPERM', 'EPERM', 'EADDRINUSE', 'EADDRINUSE', 'EADDRINUSE']);
    // Whoever is root in a network may change it, and where nobody listens there is a place.
    const control = spawnSync('unshare', ['-rn', 'python3', '-c', PRELUDE + ioctls], { encoding: 'utf8' });
    assert.equal(control.stdout, 'harm\nharm\n', control.stderr);
    const free = await python(bubblewrap, binds.replaceAll('127.1.0.1', '127.1.0.9'));
    assert.deepEqual(free.lines, ['harm', 'harm', 'harm']);
  });

  it('has so many connections at once and no more', async () => {
    const code = `
s = [socket.create_connection(('api.test', ${port}), timeout=30) for _ in range(300)]
def greeted(each):
    try: return each.recv(6) == b'hello\\n'
    except OSError: return False
say(sum(greeted(each) for each in s))`;
    const { lines, notes } = await python(bubblewrap, code);
    assert.deepEqual(lines, ['256']);
    const denied = notes.filter(({ kind }) => kind === 'denied');
    assert.deepEqual([denied.length, denied[0]?.msg.includes('256 connections open already')], [1, true]);
    const control = await python(none, code.replace('api.test', '127.0.0.1'));
    assert.deepEqual(control.lines, ['300']);
  });

  it('shares its way out with no other run', async () => {
    const first = await rig.start(
      bubblewrap,
      `exec 3<>/dev/tcp/127.1.0.1/${port} && read -r word <&3 && echo $word; until [ -e ${rig.writable}/enough ]; do sleep 0.01; done`,
      { request: allowing([`api.test:${port}`]) },
    );
    await until(() => first.stdout() === 'hello\n');
    const second = await python(bubblewrap, `reach('127.1.0.1', ${port})`, {
      request: allowing([`other.test:${otherPort}`]),
    });
    const third = await rig.bash(bubblewrap, `exec 3<>/dev/tcp/127.1.0.1/${port} && echo harm`);
    await rig.bash(none, `: > ${rig.writable}/enough`);
    await first.ended;
    assert.deepEqual([second.lines, third.stdout], [['ECONNREFUSED'], '']);
  });

  it('is asked to end, and ended, like any other', async () => {
    const request = allowing([`api.test:${port}`]);
    const asked = await rig.start(
      bubblewrap,
      'trap "echo told; exit 9" TERM; echo ready; while :; do sleep 0.01; done',
      { request },
    );
    await until(() => asked.stdout() === 'ready\n');
    asked.tree.signal('SIGTERM');
    assert.deepEqual([(await asked.ended).exit.rc, asked.stdout()], [9, 'ready\ntold\n']);
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

  it('is not started when nobody takes over what listens for it', async () => {
    const trace = join(rig.writable, 'trace');
    const run = rig.bash(bubblewrap, `touch ${trace}`, {
      request: allowing([`api.test:${port}`]),
      isDeaf: true,
    });
    await assert.rejects(run, { code: 'E_SANDBOX_UNAVAILABLE' });
    assert.equal(existsSync(trace), false);
  });
});

function listen(server: Server, address = '0.0.0.0'): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, address, () => resolve((server.address() as { port: number }).port)),
  );
}

function isSocket(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
  } catch {
    return false;
  }
}
