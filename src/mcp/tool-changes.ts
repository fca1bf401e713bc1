import type { Server } from '@modelcontextprotocol/server';
import { type ToolsStamp, toolsStamp } from '../operations/tool/offered-tools.ts';
import type { Host } from './host.ts';

const LOOK_MS = 2000;
const NOBODY = { name: undefined, traceparent: undefined };

/** The servers that have a client on the line, to be told when the tools of the project have changed. */
export class LiveServers {
  readonly #servers = new Set<Server>();
  readonly #onChange: () => void;

  /** `onChange` tells those who listen in another way. */
  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange;
  }

  add(server: Server): Server {
    this.#servers.add(server);
    server.onclose = () => this.#servers.delete(server);
    return server;
  }

  /** Looks for changes from time to time: what has not changed costs discovery a look at each file. Returns what stops it. */
  watch(host: Host): () => void {
    let known: ToolsStamp | undefined;
    let isLooking = false;
    const look = async () => {
      if (isLooking) return;
      isLooking = true;
      const now = await toolsStamp(host.open(NOBODY).app, known).catch(() => known);
      isLooking = false;
      if (known !== undefined && now?.tools !== known.tools) this.#emit();
      known = now;
    };
    void look();
    const timer = setInterval(() => void look(), LOOK_MS);
    return () => clearInterval(timer);
  }

  #emit(): void {
    this.#onChange();
    // One that is not connected yet, or not any more, will list the tools anew anyway.
    for (const server of this.#servers) void server.sendToolListChanged().catch(() => {});
  }
}
