import type { Server } from 'node:net';
import type { HearChild } from '../../process/runtime.ts';
import type { LaunchOptions } from '../sandbox.ts';
import { scratchFile } from '../scratch-file.ts';
import type { Architecture } from '../seccomp/system-calls.ts';
import { trustedPath } from '../trusted-program.ts';
import type { EgressPlan } from './egress-plan.ts';
import { entryScript } from './entry-script.ts';
import { EgressGateway } from './gateway.ts';
import { type EgressLayout, layOut } from './layout.ts';

/** A network namespace with a root user. The tool runs in a further user namespace without that root. */
const OUTER = [
  ...[
    '--unshare-user',
    '--uid',
    '0',
    '--gid',
    '0',
    '--unshare-net',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
  ],
  // Capabilities to map users, to listen on low ports, and to add the addresses for named hosts.
  ...['CAP_SETFCAP', 'CAP_NET_BIND_SERVICE', 'CAP_NET_ADMIN'].flatMap((name) => ['--cap-add', name]),
  ...['--dev-bind', '/', '/'],
];

/** A bubblewrap that is to be started in a network with egress. */
export interface Entrance {
  argv: readonly [string, ...string[]];
  /** The descriptors to append after all others. */
  fd: number;
  hear: HearChild;
  /** The number of additional processes around the tool. */
  sandboxProcessDepth: number;
  close(): void;
}

/** Prepares the tool's network so that bubblewrap can be started in it. */
export class EgressEntry {
  readonly layout: EgressLayout;
  readonly #plan: EgressPlan;

  constructor(plan: EgressPlan) {
    this.#plan = plan;
    this.layout = layOut(plan);
  }

  /** `fd` is the number of the descriptor in the started process. */
  enter(
    argv: readonly string[],
    fd: number,
    { asRoot, architecture }: { asRoot: boolean; architecture: Architecture },
    { scratch, onEgress = () => {} }: LaunchOptions,
  ): Entrance {
    const gateway = new EgressGateway(this.#plan, this.layout, onEgress);
    const script = entryScript({ layout: this.layout, makesNetwork: asRoot, argv }, architecture);
    const perl = [trustedPath('perl'), `/proc/self/fd/${fd}`] as const;
    return {
      argv: asRoot ? perl : [trustedPath('bwrap'), ...OUTER, '--', ...perl],
      fd: scratchFile(scratch, script),
      hear: (message, socket) => takeOver(gateway, message, socket),
      sandboxProcessDepth: asRoot ? 0 : 1,
      close: () => gateway.close(),
    };
  }
}

/** Messages of the entry script: an index with each socket; the answer is `go` after the last one. */
function takeOver(gateway: EgressGateway, message: unknown, socket: unknown): 'go' | undefined {
  const { place } = message as { place: number };
  return gateway.take(socket as Server, place) ? 'go' : undefined;
}
