import { resolve } from 'node:path';
import * as z from 'zod';
import { errorMessage } from '../../util/error-code.ts';
import { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import type { HookAnswer, HookInput } from './agents/hook-input.ts';

/** The handler of each event. */
const EVENTS: Readonly<
  Record<string, () => Promise<(input: HookInput, app: AcorApp) => Promise<HookAnswer>>>
> = {
  'session-start': async () => (await import('./agents/session-start.ts')).sessionStart,
  'pre-tool': async () => (await import('./agents/before-tool.ts')).beforeTool,
  elicit: async () => (await import('./agents/answer-elicitation.ts')).answerElicitation,
};

/**
 * The command that the hooks of Claude Code, Codex and Gemini CLI start: JSON on standard input, JSON in the agent's own shape on stdout.
 * An error becomes an empty answer (no opinion), because a hook that fails would block the agent.
 */
export const agentsHook = acorOperation({
  name: 'agents.hook',
  summary: 'Answer a hook of an agent: its event on standard input, in the agent’s own JSON.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({ event: z.string().describe('session-start, pre-tool or elicit.') }),
  output: z.record(z.string(), z.unknown()).nullable(),
  positionals: ['event'],
  example: 'acor hook session-start',
  async run({ event }, ctx) {
    let answer: HookAnswer;
    try {
      answer = await answerOf(event, await ctx.readStdin(), ctx);
    } catch (error) {
      ctx.note(`acor hook ${event}: no opinion: ${errorMessage(error)}`);
    }
    const document = answer === undefined ? '' : `${JSON.stringify(answer)}\n`;
    return { kind: 'document', document, data: answer ?? null };
  },
});

async function answerOf(
  event: string,
  text: string,
  { app, cwd }: { app: AcorApp; cwd: string },
): Promise<HookAnswer> {
  if (!Object.hasOwn(EVENTS, event))
    throw new Error('there is no such event; expected session-start, pre-tool or elicit');
  const { hookInput } = await import('./agents/hook-input.ts');
  const input = hookInput.parse(JSON.parse(text));
  // The agent may start the hook in another folder than that of its session.
  const there = new AcorApp({ routes: app.routes, cwd: resolve(cwd, input.cwd ?? '.'), env: app.env });
  return (await EVENTS[event]!())(input, there);
}
