import type { CliApp } from './cli-app.ts';
import type { FunctionTool } from './function-tools.ts';
import type { Allowed } from './offered-tools.ts';
import type { HttpOptions, HttpServer } from './serve-http.ts';
import type { SkillFile } from './skill-files.ts';

// The other surfaces of a program. Each is loaded when it is called: a command line starts without them.

/** Serves the commands as tools of MCP on standard input and output, until the input ends. */
export async function serveMcp<C>(app: CliApp<C>, options: { allow?: Allowed } = {}): Promise<void> {
  return (await import('./serve-mcp.ts')).serveMcp(app, options);
}

/** Serves the commands over HTTP on this machine; by default those that only read. */
export async function serveHttp<C>(app: CliApp<C>, options: HttpOptions = {}): Promise<HttpServer> {
  return (await import('./serve-http.ts')).serveHttp(app, options);
}

/** The commands as functions for the API of a model. */
export async function functionTools<C>(
  app: CliApp<C>,
  options: { allow?: Allowed } = {},
): Promise<FunctionTool[]> {
  return (await import('./function-tools.ts')).functionTools(app, options);
}

/** The files of a skill that teaches an agent the program. */
export async function skillFiles<C>(app: CliApp<C>): Promise<SkillFile[]> {
  return (await import('./skill-files.ts')).skillFiles(app);
}

/** The manual page (roff). */
export async function manualPage<C>(app: CliApp<C>): Promise<string> {
  return (await import('./manual-page.ts')).manualPage(app);
}
