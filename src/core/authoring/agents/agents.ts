import { AcorError } from '../../../protocol/acor-error.ts';
import { initAgents } from '../../../protocol/next-steps.ts';

/** The agents that ACOR writes files for. */
export const AGENTS = ['claude', 'codex', 'gemini'] as const;

export type AgentName = (typeof AGENTS)[number];

/** Parses the value of `--agents`: names separated by commas. Throws E_USAGE. */
export function readAgents(text: string): AgentName[] {
  const names = text.split(',').map((name) => name.trim());
  const strange = names.filter((name) => !AGENTS.some((agent) => agent === name));
  if (strange.length > 0) {
    throw new AcorError(
      'E_USAGE',
      `--agents does not accept ${strange.map((each) => `'${each}'`).join(', ')}`,
      {
        hint: `It takes ${AGENTS.join(', ')}, separated by commas.`,
        next: [initAgents(AGENTS)],
      },
    );
  }
  return AGENTS.filter((agent) => names.includes(agent));
}
