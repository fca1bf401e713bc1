import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { SecretInjector } from '../../sandbox.ts';
import type { EgressPlan } from '../egress-plan.ts';
import type { WayOut } from '../egress-route.ts';
import { covers, type Host, nameOf } from '../host.ts';
import { TRUST_FILE } from '../trust-file.ts';
import { RunAuthority } from './authority.ts';
import { EndedConnection, secured } from './ended-connection.ts';
import type { EndedHost } from './request.ts';
import type { UsedRule } from './request-rules.ts';
import type { TrustedRoots } from './roots.ts';

/** Ends the TLS of the hosts whose requests ACOR reads, for one attempt of a run. */
export class TlsEnding {
  /** The certificates that the tool trusts: those of the system, and the run's authority. */
  readonly trustFile: { path: string; text: string };
  readonly #authority = new RunAuthority();
  readonly #roots: string;
  readonly #injections: EgressPlan['injections'];
  readonly #rules: readonly UsedRule[];
  readonly #injector: SecretInjector | undefined;
  #outward: SecureContext | undefined;

  constructor(
    { injections, requests }: EgressPlan,
    injector: SecretInjector | undefined,
    { system, further }: TrustedRoots,
  ) {
    this.#roots = `${system}\n${further}`;
    this.trustFile = { path: TRUST_FILE, text: `${system}\n${this.#authority.certificate}` };
    this.#injector = injector;
    this.#injections = injections;
    this.#rules = requests.map((rule) => ({ rule, sentBytes: 0 }));
  }

  /** The host when its TLS ends here. */
  hostOf(host: Host, port: number): EndedHost | undefined {
    const injections = this.#injections.filter((each) => each.port === port && isSameHost(each.host, host));
    const rules = this.#rules.filter(({ rule }) => covers(rule, host, port));
    if (injections.length + rules.length === 0) return undefined;
    const headers = injections.map(({ header, secret, format }) => ({
      name: header,
      value: this.#injector!.headerOf(secret, format),
    }));
    return { host, port, headers, rules };
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

function isSameHost(a: Host, b: Host): boolean {
  return a.kind === b.kind && nameOf(a) === nameOf(b);
}
