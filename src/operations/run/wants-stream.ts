import { agentOf } from '../../util/audience.ts';

/** Whether to stream: ten thousand events would fill the context of an agent with nothing that it needs. */
export function wantsStream(
  flag: boolean | undefined,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return flag ?? agentOf(env) === undefined;
}
