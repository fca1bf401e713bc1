import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { errorCode } from '../../../../util/error-code.ts';
import type { SecretInjector } from '../../sandbox.ts';
import type { EgressPlan } from '../egress-plan.ts';
import type { WayOut } from '../egress-route.ts';
import { covers, type EgressRule, type Host, nameOf } from '../host.ts';
import { JAVA_TRUST_FILE, TRUST_FILE, type TrustFile } from '../trust-file.ts';
import { RunAuthority } from './authority.ts';
import { EndedConnection } from './ended-connection.ts';
import { secured } from './ended-host.ts';
import { javaKeyStore } from './java-key-store.ts';
import type { EndedHost } from './request.ts';
import type { UsedRule } from './request-rules.ts';
import type { TrustedRoots } from './roots.ts';

const NO_HTTP =
  'the program offers neither HTTP/1.1 nor HTTP/2, and ACOR reads nothing else: list the host without rules and without injected secrets';
/**
 * The first one that the program offers as well: HTTP/2 is for programs that speak nothing else, such as gRPC. Node does not serve HTTP/2 on a
 * TLS socket that another part of the program has made.
 */
const PROTOCOLS = 'bun' in process.versions ? ['http/1.1', 'h2'] : ['http/1.1'];

/** Ends the TLS of the hosts whose requests ACOR reads, for one attempt of a run. */
export class TlsEnding {
  /** The certificates that the tool trusts: those of the system, and the run's authority. */
  readonly trusted: string;
  readonly #authority = new RunAuthority();
  readonly #roots: string;
  readonly #allowed: EgressPlan['rules'];
  readonly #injections: EgressPlan['injections'];
  readonly #rules: readonly UsedRule[];
  readonly #injector: SecretInjector | undefined;
  #outward: SecureContext | undefined;

  constructor(
    { rules, injections, requests }: EgressPlan,
    injector: SecretInjector | undefined,
    { system, further }: TrustedRoots,
  ) {
    this.#roots = `${system}\n${further}`;
    this.trusted = `${system}\n${this.#authority.certificate}`;
    this.#injector = injector;
    this.#allowed = rules;
    this.#injections = injections;
    this.#rules = requests.map((rule) => ({ rule, sentBytes: 0 }));
  }

  /** The same certificates as files of the sandbox. */
  get trustFiles(): readonly TrustFile[] {
    return [
      { path: TRUST_FILE, content: this.trusted },
      { path: JAVA_TRUST_FILE, content: javaKeyStore(this.trusted) },
    ];
  }

  /** The host when its TLS ends here. */
  hostOf(host: Host, port: number): EndedHost | undefined {
    const injections = this.#injections.filter((each) => each.port === port && isSameHost(each.host, host));
    const rules = this.#rules.filter(({ rule }) => covers(rule, host, port));
    const isBesideRules = rules.length === 0 && this.#couldServeAnother(host, port);
    if (injections.length + rules.length === 0 && !isBesideRules) return undefined;
    const headers = injections.map(({ header, secret, format }) => ({
      name: header,
      value: this.#injector!.headerOf(secret, format),
    }));
    return { host, port, headers, rules, isBesideRules };
  }

  /**
   * Whether only an entry with a wildcard admits a host, at a port where other hosts have rules. Its server may serve
   * those hosts too (one address with many names). Once its TLS ends here, only requests for its own name get out, and
   * only to a server that has a certificate for that name.
   */
  #couldServeAnother(host: Host, port: number): boolean {
    if (!this.#rules.some(({ rule }) => rule.port === port)) return false;
    const admitting = this.#allowed.filter((rule) => covers(rule, host, port));
    return admitting.length > 0 && admitting.every((rule) => isWildcard(rule.host));
  }

  /** Serves a connection of the tool to one of these hosts until its end. */
  async serve(inner: Socket, to: EndedHost, way: WayOut): Promise<void> {
    const tool = new TLSSocket(inner, {
      isServer: true,
      secureContext: this.#authority.contextFor(to.host),
      ALPNProtocols: PROTOCOLS,
    });
    const ready = secured(tool, 'secure');
    inner.resume();
    try {
      await ready;
    } catch (error) {
      if (errorCode(error)?.includes('NO_APPLICATION_PROTOCOL') === true)
        way.journal.denied({ host: nameOf(to.host), port: to.port, why: NO_HTTP });
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
    if (tool.alpnProtocol !== 'h2') return new EndedConnection(tool, to, means).serve();
    const { EndedHttp2 } = await import('./ended-http2.ts');
    return new EndedHttp2(tool, to, means).serve();
  }
}

function isWildcard({ kind }: EgressRule['host']): boolean {
  return kind === 'any' || kind === 'below';
}

function isSameHost(a: Host, b: Host): boolean {
  return a.kind === b.kind && nameOf(a) === nameOf(b);
}
