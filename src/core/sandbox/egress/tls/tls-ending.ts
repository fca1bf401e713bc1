import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { SecretInjector } from '../../sandbox.ts';
import type { EgressPlan } from '../egress-plan.ts';
import type { WayOut } from '../egress-route.ts';
import { type Host, nameOf } from '../host.ts';
import { TRUST_FILE } from '../trust-file.ts';
import { RunAuthority } from './authority.ts';
import { EndedConnection, secured } from './ended-connection.ts';
import type { EndedHost } from './request.ts';
import type { TrustedRoots } from './roots.ts';

/** Ends the TLS of the hosts that get a secret, for one attempt of a run. */
export class TlsEnding {
  /** The certificates that the tool trusts: those of the system, and the run's authority. */
  readonly trustFile: { path: string; text: string };
  readonly #authority = new RunAuthority();
  readonly #roots: string;
  readonly #hosts: ReadonlyMap<string, EndedHost>;
  readonly #injector: SecretInjector;
  #outward: SecureContext | undefined;

  constructor({ injections }: EgressPlan, injector: SecretInjector, { system, further }: TrustedRoots) {
    this.#roots = `${system}\n${further}`;
    this.trustFile = { path: TRUST_FILE, text: `${system}\n${this.#authority.certificate}` };
    this.#injector = injector;
    this.#hosts = endedHosts(injections, injector);
  }

  /** The host when its TLS ends here. */
  hostOf(host: Host, port: number): EndedHost | undefined {
    return this.#hosts.get(keyOf(host, port));
  }

  /** Serves a connection of the tool to one of these hosts until its end. */
  async serve(inner: Socket, to: EndedHost, way: WayOut): Promise<void> {
    const tool = new TLSSocket(inner, {
      isServer: true,
      secureContext: this.#authority.contextFor(to.host),
      ALPNProtocols: ['http/1.1'],
    });
    const ready = secured(tool, 'secure');
    inner.resume();
    try {
      await ready;
    } catch {
      inner.destroy();
      return;
    }
    const asked = tool.servername;
    if (typeof asked === 'string' && asked !== '' && asked.toLowerCase() !== nameOf(to.host)) {
      const why = 'the server name of its TLS is another one';
      way.journal.denied({ host: nameOf(to.host), port: to.port, why });
      tool.destroy();
      return;
    }
    // Reading all roots takes some milliseconds.
    this.#outward ??= createSecureContext({ ca: this.#roots });
    const means = { way, outward: this.#outward, injector: this.#injector };
    await new EndedConnection(tool, to, means).serve();
  }
}

function endedHosts(
  injections: EgressPlan['injections'],
  injector: SecretInjector,
): ReadonlyMap<string, EndedHost> {
  const hosts = new Map<string, EndedHost>();
  for (const { host, port, secret, header, format } of injections) {
    const known = hosts.get(keyOf(host, port))?.headers ?? [];
    const headers = [...known, { name: header, value: injector.headerOf(secret, format) }];
    hosts.set(keyOf(host, port), { host, port, headers });
  }
  return hosts;
}

function keyOf(host: Host, port: number): string {
  return `${nameOf(host)} ${port}`;
}
