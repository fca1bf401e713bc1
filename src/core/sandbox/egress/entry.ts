import type { Server } from 'node:net';
import type { Isolation } from '../../../protocol/v1/runner-events.ts';
import type { HearChild } from '../../process/runtime.ts';
import type { LaunchOptions, SecretInjector } from '../sandbox.ts';
import { scratchFile } from '../scratch-file.ts';
import type { Architecture } from '../seccomp/system-calls.ts';
import { trustedPath } from '../trusted-program.ts';
import type { EgressPlan } from './egress-plan.ts';
import { entryScript } from './entry-script.ts';
import { EgressGateway } from './gateway.ts';
import { nameOf, withPort } from './host.ts';
import { type EgressLayout, layOut } from './layout.ts';
import type { TlsEnding } from './tls/tls-ending.ts';
import { TRUST_ENVIRONMENT } from './trust-file.ts';

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
  /** The variables that lead the tool's programs to the proxy, and to the run's authority. */
  readonly env: Readonly<Record<string, string>>;
  readonly #plan: EgressPlan;
  readonly #endTls: ((injector: SecretInjector | undefined) => TlsEnding) | undefined;

  private constructor(
    plan: EgressPlan,
    endTls: ((injector: SecretInjector | undefined) => TlsEnding) | undefined,
  ) {
    this.#plan = plan;
    this.#endTls = endTls;
    this.layout = layOut(plan);
    this.env = { ...this.layout.env, ...(endTls && TRUST_ENVIRONMENT) };
  }

  /** Throws E_CONFIG_INVALID for an authority that cannot be read. */
  static async prepare(plan: EgressPlan): Promise<EgressEntry> {
    if (plan.injections.length + plan.requests.length === 0) return new EgressEntry(plan, undefined);
    const { TlsEnding } = await import('./tls/tls-ending.ts');
    const { trustedRoots } = await import('./tls/roots.ts');
    const roots = trustedRoots(plan.authorities);
    return new EgressEntry(plan, (injector) => new TlsEnding(plan, injector, roots));
  }

  /** Makes the authority of one attempt. Undefined for a tool whose TLS stays its own. */
  endTls({ injector }: LaunchOptions): TlsEnding | undefined {
    return this.#endTls?.(injector);
  }

  /** The hosts that the tool may access, and the secrets that are put into its requests. */
  get shown(): Partial<Isolation> {
    const { rules, injections, requests } = this.#plan;
    const injected = injections.map(({ host, port, secret, header }) => ({
      secret,
      host: withPort(nameOf(host), port),
      header,
    }));
    const limited = requests.map(({ text: host, methods, paths, maxUploadBytes }) => ({
      host,
      ...(methods && { methods }),
      ...(paths && { paths }),
      ...(maxUploadBytes !== undefined && { max_upload: maxUploadBytes }),
    }));
    return {
      egress: rules.map(({ text }) => text),
      ...(this.#plan.asks && { on_denied: 'ask' }),
      ...(injected.length > 0 && { injected }),
      ...(limited.length > 0 && { requests: limited }),
    };
  }

  /** `fd` is the number of the descriptor in the started process. */
  enter(
    argv: readonly string[],
    fd: number,
    {
      asRoot,
      architecture,
      tls,
    }: { asRoot: boolean; architecture: Architecture; tls: TlsEnding | undefined },
    { scratch, onEgress = () => {}, askHost }: LaunchOptions,
  ): Entrance {
    const gateway = new EgressGateway(
      { plan: this.#plan, layout: this.layout, tls, askHost: this.#plan.asks && askHost },
      onEgress,
    );
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
