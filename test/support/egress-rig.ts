import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import type { EgressNote } from '../../src/core/sandbox/egress/connection-log.ts';
import { planEgress } from '../../src/core/sandbox/egress/egress-plan.ts';
import type { SandboxBackend } from '../../src/core/sandbox/sandbox.ts';
import { type RigOptions, SandboxRig } from './sandbox-rig.ts';

/** What the payloads share: they say `harm`, or the name of what kept them from it. */
export const PRELUDE = `
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

/** Two servers on every address of this machine, one of which tools are allowed, and Python that tries to reach them. */
export class EgressRig {
  readonly rig: SandboxRig;
  readonly port: number;
  readonly otherPort: number;
  heard = 0;
  readonly #servers: Server[];

  static async make(rig?: SandboxRig): Promise<EgressRig> {
    let egress: EgressRig | undefined;
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      if (egress !== undefined) egress.heard++;
      socket.on('error', () => {});
      socket.on('data', (data) => socket.write(data));
      socket.once('end', () => socket.end('end\n'));
      socket.write('hello\n');
    });
    const other = createServer((socket) => socket.on('error', () => {}).end('other\n'));
    const ports = [await listen(server), await listen(other)] as const;
    egress = new EgressRig(rig ?? (await SandboxRig.make()), [server, other], ports);
    return egress;
  }

  private constructor(rig: SandboxRig, servers: Server[], [port, otherPort]: readonly [number, number]) {
    this.rig = rig;
    this.#servers = servers;
    this.port = port;
    this.otherPort = otherPort;
  }

  /** What is asked for, and of that what leads to this machine all the same. */
  allowing(asked: string[], { opened = asked } = {}) {
    return {
      network: 'listed' as const,
      egress: planEgress('rig', asked, {
        allow_private_egress: opened,
        egress_hosts: { 'api.test': '127.0.0.1', 'www.wild.test': '127.0.0.1', 'other.test': '127.0.0.1' },
      }),
    };
  }

  /** Where a call does not say, one name is allowed, which leads to this machine. */
  async python(backend: SandboxBackend, code: string, options: RigOptions = {}) {
    const notes: EgressNote[] = [];
    const script = `python3 - <<'END_OF_CODE'\n${PRELUDE}${code}\nEND_OF_CODE`;
    const network = options.request?.network === undefined ? this.allowing([`api.test:${this.port}`]) : {};
    const request = { ...network, ...options.request, commands: ['python3'] };
    const onEgress = (note: EgressNote) => notes.push(note);
    const { stdout, stderr } = await this.rig.bash(backend, script, { ...options, request, onEgress });
    assert.doesNotMatch(stderr, /Traceback/, stderr);
    return { lines: stdout.split('\n').slice(0, -1), notes, stderr };
  }

  closeServers(): void {
    for (const server of this.#servers) server.close();
  }
}

/** The port that was free. */
export function listen(server: Server, address = '0.0.0.0'): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, address, () => resolve((server.address() as { port: number }).port)),
  );
}
