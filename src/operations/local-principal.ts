import { agentOf } from '../compose/audience.ts';
import type { Authorize, Principal } from '../core/ports/principal.ts';
import { userName } from '../util/user-name.ts';

export type { Authorize, Principal };

/** Who acts on this machine: the agent that started this process, or else its user. The name of the user is read when it is needed. */
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

/** The local user may call everything, and so may the agents that run as this user: they could do the same without ACOR. */
export const allowEverything: Authorize = () => ({ allowed: true });
