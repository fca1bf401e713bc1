import { agentOf } from '../compose/audience.ts';
import type { Authorize, Principal } from '../core/ports/principal.ts';
import { userName } from '../util/user-name.ts';

export type { Authorize, Principal };

/** The principal of a local command: the agent that started this process, else its user. Reads the user's name only when it is needed. */
export function localPrincipal(env: Readonly<Record<string, string | undefined>>): Principal {
  const agent = agentOf(env);
  if (agent !== undefined) return { kind: 'agent', name: agent };
  return {
    kind: 'local-user',
    get name() {
      return userName();
    },
  };
}

/** Allows everything to the local user, and to the agents that run as this user: they could do the same without ACOR. */
export const allowEverything: Authorize = () => ({ allowed: true });
