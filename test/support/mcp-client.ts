import { join } from 'node:path';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ACOR, type TestProject } from './project.ts';

/** The two eras of the protocol: with a handshake, and without one. */
export const ERAS = ['legacy', { pin: '2026-07-28' }] as const;

/** A client of `acor mcp` in a project. */
export async function connectTo(
  project: TestProject,
  options: {
    era?: (typeof ERAS)[number];
    capabilities?: ClientOptions['capabilities'];
    flags?: readonly string[];
    name?: string;
    env?: Record<string, string>;
  } = {},
): Promise<Client> {
  const { era = 'legacy', capabilities = {}, flags = [], name = 'tester' } = options;
  const client = new Client({ name, version: '1.0.0' }, { capabilities, versionNegotiation: { mode: era } });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: project.root,
    XDG_DATA_HOME: join(project.root, 'data'),
    ...options.env,
  };
  await client.connect(
    new StdioClientTransport({
      command: ACOR,
      args: ['mcp', ...flags],
      cwd: project.root,
      env,
      stderr: 'ignore',
    }),
  );
  return client;
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the answer holds
export type Answer = any;

/** The structured content of a call, beside its text. */
export async function callOf(
  client: Client,
  name: string,
  given: object = {},
  options: object = {},
): Promise<Answer> {
  const result = await client.callTool({ name, arguments: { ...given } }, options);
  const [first] = result.content as { text?: string }[];
  return { ...(result.structuredContent as object), isError: result.isError, text: first?.text };
}
