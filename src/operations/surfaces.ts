import type { Interrupts } from '../compose/interrupts.ts';
import type { CalledOperation } from '../core/ports/principal.ts';

/** How to run the MCP server. */
export interface McpRequest {
  cwd: string;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
  /** A call answers after this many seconds, and its run continues; undefined: what the client is known to wait. */
  callLimitS: number | undefined;
  /** With more tools than this, clients search them. */
  maxTools: number;
  /** Null for standard input and output. `token` authenticates clients. */
  http: { port: number; token: string; onListening(port: number): Promise<void> } | null;
}

/** A client of the HTTP server, as policies and records name it. */
export interface HttpClient {
  name: string;
  /** Authenticates it. */
  token: string;
}

/** How to run the HTTP server. */
export interface HttpRequest {
  cwd: string;
  env: Record<string, string | undefined>;
  port: number;
  /** The first is the owner of the server. */
  clients: readonly [HttpClient, ...HttpClient[]];
  /** Whether clients may call an operation that writes or destroys. */
  mayCall(operation: CalledOperation): boolean;
  /** Whether nothing but a person's terminal shows the link: the browser that it signs in is this person's. */
  isAtTerminal: boolean;
  /** `code` is that of the link which signs a browser in. */
  onListening(at: { port: number; code: string }): void;
}

/** How to run a process of the host. */
export interface HostRequest {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The signals that reach the process. */
  interrupts: Interrupts;
}

/** The servers that a command can start. They are in layers above the operations, so the program's entry point (cli/main.ts) passes them in. */
export interface Surfaces {
  /** Serves until the client disconnects (standard input and output), or until `signal` aborts (HTTP). */
  mcp(request: McpRequest): Promise<void>;
  /** Serves the HTTP API and the dashboard without end; it only ends when it cannot listen. */
  http(request: HttpRequest): Promise<never>;
  /** Runs commands of other processes, until this one is not needed any more. */
  host(request: HostRequest): Promise<void>;
}
