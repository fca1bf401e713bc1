import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { SandboxBackend } from '../../../src/core/sandbox/sandbox.ts';
import { EgressRig, PRELUDE } from '../../support/egress-rig.ts';
import { until } from '../../support/project.ts';
import { type AttemptOutcome, isConfined, type Payload } from './payload.ts';

/** The outcomes for a tool that declares hosts. Call it with a backend that opens hosts, or with none for the control. */
type Talk = (egress: EgressRig, backend: SandboxBackend) => Promise<AttemptOutcome[]>;

/** Compares each line that a payload printed with the expected line. */
function compare(probe: string, lines: readonly string[], expected: readonly string[]): AttemptOutcome[] {
  return [{ probe, harm: lines.join() !== expected.join(), word: lines.join(' ') }];
}

const otherPorts: Talk = async (egress, backend) => {
  const { port, otherPort } = egress;
  const reach = `reach('api.test', ${otherPort}); reach('other.test', ${port}); reach('127.1.0.2', ${port}); reach('api.test', ${port}, 'reached')`;
  if (!isConfined(backend)) {
    const { lines } = await egress.python(backend, `reach('127.0.0.1', ${otherPort})`);
    return [{ probe: 'other port', harm: lines.join() === 'harm', word: lines.join() }];
  }
  const { lines } = await egress.python(backend, reach);
  return compare('ports and hosts', lines, ['ECONNREFUSED', 'no such name', 'ECONNREFUSED', 'reached']);
};

const rebinding: Talk = async (egress, backend) => {
  const { port } = egress;
  const before = egress.heard;
  const request = egress.allowing([`api.test:${port}`], { opened: [] });
  const host = isConfined(backend) ? 'api.test' : '127.0.0.1';
  const { lines, notes } = await egress.python(backend, `reach('${host}', ${port})`, { request });
  if (isConfined(backend))
    assert.match(
      String(notes[0]?.msg),
      /^network: api\.test:\d+ was refused: it leads to 127\.0\.0\.1, which is not public \(loopback\)\. In \.acor\/config\.yaml, under security\.allow_private_egress, write: - api\.test:\d+$/,
    );
  return [{ probe: 'loopback', harm: lines.includes('harm') || egress.heard > before, word: lines.join() }];
};

const HOSTS = [
  ...['other.test', 'wild.test', 'xwild.test', 'www.wild.test.', 'www.wild.test.evil.test'],
  ...['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0177.0.0.1', '127.1'],
  ...['user@www.wild.test', 'evil.test\\x00.wild.test', 'evil.test%00.wild.test', 'evil.test\\t.wild.test'],
  ...['evil.test#.wild.test', 'evil.test/.wild.test', '[fe80::1%25lo]', '..wild.test', ''],
];

const proxy: Talk = async (egress, backend) => {
  const { port, otherPort } = egress;
  if (!isConfined(backend)) {
    const { lines } = await egress.python(backend, `reach('127.0.0.1', ${otherPort})`);
    return [{ probe: 'without a proxy', harm: lines.join() === 'harm', word: lines.join() }];
  }
  const { lines, notes } = await egress.python(
    backend,
    `
for host in [${HOSTS.map((host) => `b'${host}'`).join(', ')}]:
    say(ask(b'CONNECT ' + host + b':${port} HTTP/1.1\\r\\n\\r\\n')[:12])
    say(ask(b'GET http://' + host + b':${port}/ HTTP/1.0\\r\\n\\r\\n')[:12])
say(ask(b'GET http://www.wild.test:${port}/ HTTP/1.1\\r\\nHost: other.test:${port}\\r\\n\\r\\n')[:12])
say(ask(b'CONNECT www.wild.test:0${port} HTTP/1.1\\r\\n\\r\\n')[:12])
say(ask(b'CONNECT www.wild.test:${otherPort} HTTP/1.1\\r\\n\\r\\n')[:12])
say(ask(b'\\x05\\x01\\x00' + b'x' * 20000)[:12])
say(ask(b'CONNECT www.wild.test:${port} HTTP/1.1\\r\\n\\r\\n', b'CONNECT other.test:${otherPort} HTTP/1.1\\r\\n\\r\\n').split('\\n')[-4][:7])`,
    { request: egress.allowing([`*.wild.test:${port}`, `api.test:${port}`]) },
  );
  const allowed = notes.filter(({ kind }) => kind === 'allowed');
  assert.equal(lines.length, 2 * HOSTS.length + 5);
  // The proxy passes everything after the first request unchanged to the requested host.
  const isSpoken = lines.pop() === 'CONNECT' && allowed.length === 1;
  const through = lines.filter((line) => !/^HTTP\/1\.1 4\d\d|^ECONNRESET$/.test(line));
  return [{ probe: 'requests', harm: through.length > 0 || !isSpoken, word: through.join() }];
};

const IOCTLS = `
import fcntl, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for call, request in [(0x8914, struct.pack('16sh22x', b'lo', 0)), (0x8916, struct.pack('16sH2x4s16x', b'lo:7', 2, bytes([10, 9, 8, 7])))]:
    try: fcntl.ioctl(s, call, request); say('harm')
    except OSError as e: say(errno.errorcode[e.errno])`;

const NO_NAMESPACES = 'this user can have no namespaces here';

const reconfigured: Talk = async (egress, backend) => {
  // Root of a network namespace may change it.
  if (!isConfined(backend)) {
    const { stdout, status } = spawnSync('unshare', ['-rn', 'python3', '-c', PRELUDE + IOCTLS], {
      encoding: 'utf8',
    });
    return [
      {
        probe: 'as root of a network',
        harm: stdout === 'harm\nharm\n',
        word: stdout,
        ...(status !== 0 && { cannot: NO_NAMESPACES }),
      },
    ];
  }
  const binds = `
for reuse in [None, socket.SO_REUSEADDR, socket.SO_REUSEPORT]:
    try:
        s = socket.socket()
        if reuse is not None: s.setsockopt(socket.SOL_SOCKET, reuse, 1)
        s.bind(('127.1.0.1', ${egress.port})); s.listen(); say('harm')
    except OSError as e: say(errno.errorcode[e.errno])`;
  const { lines } = await egress.python(backend, IOCTLS + binds);
  // A port without a listener is free for the payload.
  const free = await egress.python(backend, binds.replaceAll('127.1.0.1', '127.1.0.9'));
  assert.deepEqual(free.lines, ['harm', 'harm', 'harm']);
  return compare('devices and listeners', lines, [
    'EPERM',
    'EPERM',
    'EADDRINUSE',
    'EADDRINUSE',
    'EADDRINUSE',
  ]);
};

const manyConnections: Talk = async (egress, backend) => {
  const host = isConfined(backend) ? 'api.test' : '127.0.0.1';
  const { lines, notes } = await egress.python(
    backend,
    `
def opened():
    # A connection above the limit is closed, on a busy machine before connect has returned.
    try: return socket.create_connection(('${host}', ${egress.port}), timeout=30)
    except ConnectionError: return None
s = [opened() for _ in range(300)]
def greeted(each):
    try: return each is not None and each.recv(6) == b'hello\\n'
    except OSError: return False
say(sum(greeted(each) for each in s))`,
  );
  if (isConfined(backend)) {
    const denied = notes.filter(({ kind }) => kind === 'denied');
    assert.deepEqual([denied.length, denied[0]?.msg.includes('256 connections open already')], [1, true]);
  }
  return [{ probe: '300 at once', harm: lines[0] === '300', word: lines.join() }];
};

const shared: Talk = async (egress, backend) => {
  const { rig, port, otherPort } = egress;
  const at = isConfined(backend) ? '127.1.0.1' : '127.0.0.1';
  const first = await rig.start(
    backend,
    `exec 3<>/dev/tcp/${at}/${port} && read -r word <&3 && echo $word; until [ -e ${rig.writable}/enough ]; do sleep 0.05; done`,
    { request: egress.allowing([`api.test:${port}`]) },
  );
  await until(() => first.stdout() === 'hello\n');
  const second = await egress.python(backend, `reach('${at}', ${port})`, {
    request: egress.allowing([`other.test:${otherPort}`]),
  });
  const third = await rig.bash(backend, `exec 3<>/dev/tcp/${at}/${port} && echo harm`);
  await rig.bash(backend, `: > ${rig.writable}/enough`);
  await first.ended;
  await rig.bash(backend, `rm ${rig.writable}/enough`);
  return [
    { probe: 'with hosts of its own', harm: second.lines.includes('harm'), word: second.lines.join() },
    { probe: 'with no hosts', harm: third.stdout !== '', word: third.stderr },
  ];
};

/** A backend that cannot open the network per host rejects a tool that asks for it. */
async function refusal(egress: EgressRig, backend: SandboxBackend): Promise<AttemptOutcome[]> {
  try {
    await egress.rig.bash(backend, ':', { request: egress.allowing([`api.test:${egress.port}`]) });
    return [{ probe: 'hosts', harm: true, word: 'started' }];
  } catch (error) {
    const { code } = error as { code?: string };
    return [{ probe: 'hosts', harm: code !== 'E_SANDBOX_UNAVAILABLE', word: code ?? '' }];
  }
}

/** A tool does not start when no process takes its network descriptor. */
const deaf: Talk = async (egress, backend) => {
  const request = egress.allowing([`api.test:${egress.port}`]);
  try {
    const { stdout } = await egress.rig.bash(backend, 'echo started', {
      request,
      isDeaf: isConfined(backend),
    });
    return [{ probe: 'no listener', harm: stdout === 'started\n', word: 'started' }];
  } catch (error) {
    return [{ probe: 'no listener', harm: false, word: (error as { code?: string }).code ?? '' }];
  }
};

function talking(talk: Talk): Payload {
  return async ({ rig }, backend) => {
    const egress = await EgressRig.make(rig);
    try {
      const isAble = !isConfined(backend) || backend.opensHosts === true;
      return await (isAble ? talk : refusal)(egress, backend);
    } finally {
      egress.closeServers();
    }
  };
}

export const network: Readonly<Record<number, Payload>> = {
  50: talking(otherPorts),
  54: talking(rebinding),
  55: talking(proxy),
  57: talking(reconfigured),
  58: talking(manyConnections),
  59: talking(shared),
  74: talking(deaf),
};
