/** How to run the MCP server. */
export interface McpRequest {
  cwd: string;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
  /** Null for standard input and output. `token` authenticates clients. */
  http: { port: number; token: string; onListening(port: number): Promise<void> } | null;
}

/** The servers that a command can start. They are in layers above the operations, so the program's entry point (cli/main.ts) passes them in. */
export interface Surfaces {
  /** Serves until the client disconnects (standard input and output), or until `signal` aborts (HTTP). */
  mcp(request: McpRequest): Promise<void>;
}
