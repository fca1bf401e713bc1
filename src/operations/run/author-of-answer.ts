import type { AcorApp } from '../acor-app.ts';

/**
 * Whom the trail names. Only the user at a command line or in a program may sign for others: everyone else is recorded, whatever they say. A caller over
 * MCP cannot sign; the server says whether the model, the client or its user has answered.
 */
export function authorOf(
  { principal, surface }: Pick<AcorApp, 'principal' | 'surface'>,
  by: string | undefined,
): string {
  const { kind, name } = principal;
  if (by === undefined || by === name) return name;
  const isTheirs = kind === 'local-user' && (surface === 'command' || surface === 'library');
  return isTheirs || surface === 'mcp' ? by : `${name} (for ${by})`;
}
