/** How the MCP server is to be run. */
export interface McpRequest {
  cwd: string;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
  /** Null for standard input and output. `token` is what a client has to show. */
  http: { port: number; token: string; onListening(port: number): Promise<void> } | null;
}

/** The surfaces that a command starts. They stand above the operations, so that whoever puts the program together hands them in. */
export interface Surfaces {
  /** Serves until the client has gone, or for ever. */
  mcp(request: McpRequest): Promise<void>;
}
