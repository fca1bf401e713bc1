import type { Manifest } from '../../protocol/manifest.ts';

const LANGUAGES = ['python', 'node', 'typescript'];

/** Why a tool never gets the warm start that its manifest asks for; undefined when it can. Completes "it …". */
export function whyNeverWarm(
  { permissions, secrets, stdin }: Manifest,
  { language, command }: { language: string; command: readonly string[] | null },
): string | undefined {
  if (command !== null) return 'has a command of its own';
  if (!LANGUAGES.includes(language)) return `is written in ${language}, and not in ${LANGUAGES.join(', ')}`;
  if (permissions.level === 'privileged') return 'is privileged';
  if (permissions.network.egress_allow.length > 0) return 'uses the network';
  if (permissions.commands.includes('acor')) return 'starts other tools';
  if (secrets.length > 0) return 'gets secrets';
  return stdin === undefined ? undefined : 'reads the records of another tool';
}
