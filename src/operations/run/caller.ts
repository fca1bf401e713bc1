/** Who calls, for the record of a run: the agent whose environment this is, undefined when none shows itself. */
export { agentOf as callerOf } from '../../compose/audience.ts';
