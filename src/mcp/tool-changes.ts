import type { Server } from '@modelcontextprotocol/server';
import { type ToolsStamp, toolsStamp } from '../operations/tool/offered-tools.ts';
import type { Host } from './host.ts';

/**
 * A check reads the attributes of each file of each tool. With thousands of tools a server checks less often, to use
 * about this share of a processor.
 */
const SHARE = 0.01;
const MIN_PAUSE_MS = 2000;
const MAX_PAUSE_MS = 20_000;
const NO_CALLER = { name: undefined, traceparent: undefined };

/** The servers with a connected client, which are notified when the tools of the project have changed. */
export class LiveServers {
  readonly #servers = new Set<Server>();
  readonly #onChange: () => void;

  /** `onChange` notifies clients that listen in another way. */
  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange;
  }

  add(server: Server): Server {
    this.#servers.add(server);
    server.onclose = () => this.#servers.delete(server);
    return server;
  }

  /** Checks for changes periodically. Returns the function that stops it. */
  watch(host: Host): () => void {
    let known: ToolsStamp | undefined;
    let timer: NodeJS.Timeout | undefined;
    let isStopped = false;
    const look = async () => {
      const startedAtMs = performance.now();
      const now = await toolsStamp(host.open(NO_CALLER).app, known).catch(() => known);
      if (isStopped) return;
      if (known !== undefined && now?.tools !== known.tools) this.#emit();
      known = now;
      const pauseMs = (performance.now() - startedAtMs) / SHARE;
      timer = setTimeout(look, Math.min(Math.max(pauseMs, MIN_PAUSE_MS), MAX_PAUSE_MS));
    };
    void look();
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }

  #emit(): void {
    this.#onChange();
    // A server without a connection needs no notification: its client lists the tools again anyway.
    for (const server of this.#servers) void server.sendToolListChanged().catch(() => {});
  }
}
