/** Who acts: part of every operation's context, whatever surface the call comes from. */
export interface Principal {
  /** `agent`: an AI that acts for the local user, or a client of the MCP server. `token`: a client that showed a token. */
  kind: 'local-user' | 'token' | 'agent';
  /** Recorded with runs and answers. An agent's own name for itself is not verified. */
  name: string;
  /** The browser that a person has signed in, by the link that a server at this person's terminal has shown. */
  isAtTerminal?: true;
  /** The conversation or connection to which the call belongs. */
  session?: string;
}

/** The operation that is called, as policies name it. */
export interface CalledOperation {
  /** Dotted `group.action`, e.g. `run.answer`. */
  name: string;
  effect: 'reads' | 'writes' | 'destroys';
}

export type Authorization = { allowed: true } | { allowed: false; why: string; hint?: string };

/** Decides whether a principal may call an operation with this input. Called once for each call, before the operation starts. */
export type Authorize = (
  principal: Principal,
  operation: CalledOperation,
  input: Readonly<Record<string, unknown>>,
) => Authorization | Promise<Authorization>;
