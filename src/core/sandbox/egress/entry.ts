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

/** A network with a root of its own, which the tool, in a further namespace of users, is not. */
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
  // To map the user further inwards, to listen on low ports, and to have the addresses of hosts that are named by theirs.
  ...['CAP_SETFCAP', 'CAP_NET_BIND_SERVICE', 'CAP_NET_ADMIN'].flatMap((name) => ['--cap-add', name]),
  ...['--dev-bind', '/', '/'],
];

/** A bubblewrap that is to be started in a network with a way out. */
export interface Entrance {
  argv: readonly [string, ...string[]];
  /** To be given to it after all the others. */
  fd: number;
  hear: HearChild;
  /** How many processes more there are around the tool. */
  sandboxProcessDepth: number;
  close(): void;
}

/** What a tool may reach, laid out, for bubblewrap to be started in. */
export class EgressEntry {
  readonly layout: EgressLayout;
  readonly #plan: EgressPlan;

  constructor(plan: EgressPlan) {
    this.#plan = plan;
    this.layout = layOut(plan);
  }

  /** `fd` is the number under which the process will have the descriptor. */
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

/** The words are those of the entry's script: a place with each socket, and `go` once all are taken. */
function takeOver(gateway: EgressGateway, message: unknown, socket: unknown): 'go' | undefined {
  const { place } = message as { place: number };
  return gateway.take(socket as Server, place) ? 'go' : undefined;
}
