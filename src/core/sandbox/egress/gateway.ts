import type { Server, Socket } from 'node:net';
import type { LaunchOptions } from '../sandbox.ts';
import { dial } from './connect.ts';
import { EgressJournal, type EgressNote } from './connection-log.ts';
import { type EgressPlan, isClosed } from './egress-plan.ts';
import { type Reached, relay, type WayOut } from './egress-route.ts';
import { covers, type Host, type NamedRule, nameOf } from './host.ts';
import type { EgressLayout, Listener } from './layout.ts';
import { answerNames } from './names.ts';
import { answerProxy } from './proxy.ts';
import type { TlsEnding } from './tls/tls-ending.ts';

/** Concurrent connections of one run. The buffers of each connection are bounded, so this bounds the memory. */
const MAX_CONNECTIONS = 256;

/**
 * The egress gateway of one run. It owns the listening sockets in the tool's network. Every connection of the tool ends
 * here, in the supervisor, which decides, dials and transfers the bytes.
 */
export class EgressGateway implements WayOut {
  readonly plan: EgressPlan;
  readonly layout: EgressLayout;
  readonly journal: EgressJournal;
  readonly #servers: Server[] = [];
  readonly #inner = new Set<Socket>();
  readonly #outer = new Set<Socket>();
  readonly #end = new AbortController();
  readonly #tls: TlsEnding | undefined;
  readonly #askHost: LaunchOptions['askHost'];

  constructor(
    {
      plan,
      layout,
      tls,
      askHost,
    }: {
      plan: EgressPlan;
      layout: EgressLayout;
      tls: TlsEnding | undefined;
      askHost?: LaunchOptions['askHost'];
    },
    emit: (note: EgressNote) => void,
  ) {
    this.plan = plan;
    this.layout = layout;
    this.#tls = tls;
    this.#askHost = askHost;
    this.journal = new EgressJournal(emit);
  }

  /** Registers a listening socket by its index in the layout. True for the last one. */
  take(server: Server, place: number): boolean {
    const listener = this.layout.listeners[place];
    if (listener === undefined || this.#end.signal.aborted) {
      server.close();
      return false;
    }
    this.#servers.push(server);
    // Read only on demand (backpressure), and keep one half open when the other ends.
    Object.assign(server, { allowHalfOpen: true, pauseOnConnect: true });
    server.on('error', () => {});
    server.on('connection', (inner) => this.#accept(inner, listener));
    return this.#servers.length === this.layout.listeners.length;
  }

  async allows(host: Host, port: number): Promise<boolean> {
    if (this.plan.rules.some((rule) => covers(rule, host, port))) return true;
    // No answer opens an address that is refused under any name.
    if (this.#askHost === undefined || isClosed(this.plan, host, port)) return false;
    const isGranted = await this.#askHost(nameOf(host), port);
    return isGranted && !this.#end.signal.aborted;
  }

  async reach(host: Host, port: number): Promise<Reached> {
    const { signal } = this.#end;
    const dialled = await dial(this.plan, host, port, { signal });
    const name = nameOf(host);
    if (dialled.kind === 'refused') this.journal.denied(dialled.refusal);
    if (dialled.kind === 'failed' && !signal.aborted) this.journal.failed(name, port, dialled.why);
    if (dialled.kind !== 'connected') return dialled;
    const { socket: outer, address } = dialled;
    if (signal.aborted) {
      outer.destroy();
      return { kind: 'failed', why: 'the run has ended' };
    }
    keep(this.#outer, outer);
    return {
      kind: 'connected',
      outer,
      count: this.journal.allowed(name, port, address, this.endsTls(host, port)),
    };
  }

  carry(inner: Socket, { outer, count }: Reached & { kind: 'connected' }): void {
    relay(inner, outer, count);
  }

  endsTls(host: Host, port: number): boolean {
    return this.#tls?.hostOf(host, port) !== undefined;
  }

  serveTls(inner: Socket, host: Host, port: number): void {
    const ended = this.#tls?.hostOf(host, port);
    if (ended === undefined) inner.resetAndDestroy();
    else void this.#tls!.serve(inner, ended, this);
  }

  /** Closes all connections and reports their sums. */
  close(): void {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    for (const server of this.#servers) server.close();
    for (const socket of [...this.#inner, ...this.#outer]) socket.destroy();
    this.journal.close();
  }

  #accept(inner: Socket, { serves }: Listener): void {
    inner.on('error', () => {});
    if (this.#inner.size >= MAX_CONNECTIONS) {
      const why = `the run has ${MAX_CONNECTIONS} connections open already`;
      this.journal.denied({ ...whom(serves), why });
      inner.resetAndDestroy();
      return;
    }
    keep(this.#inner, inner);
    switch (serves) {
      case 'proxy':
        answerProxy(inner, this);
        return;
      case 'names':
        answerNames(inner, this);
        return;
      default:
        void this.#connect(inner, serves);
    }
  }

  async #connect(inner: Socket, { host, port }: NamedRule): Promise<void> {
    if (this.endsTls(host, port)) {
      this.serveTls(inner, host, port);
      return;
    }
    const reached = await this.reach(host, port);
    if (reached.kind === 'connected') this.carry(inner, reached);
    // In an unknown protocol, a reset is the only possible answer.
    else inner.resetAndDestroy();
  }
}

function whom(serves: Listener['serves']): { host: string; port: number | null } {
  return typeof serves === 'string'
    ? { host: serves, port: null }
    : { host: nameOf(serves.host), port: serves.port };
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
}
