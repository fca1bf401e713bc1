import type { CallToolResult } from '@modelcontextprotocol/server';
import { liveRuns } from '../operations/run/live-runs.ts';
import type { OpenHost } from './host.ts';

/** The live and waiting runs of the project, one text each: a client that lost one finds it. */
export async function liveRunTexts(open: OpenHost): Promise<{ run: string; text: string }[]> {
  // Not every caller may list runs, and an invalid project is reported elsewhere.
  const runs = await liveRuns(open.app).catch(() => []);
  return runs.map(({ run_id: run, tool, state }) => ({ run, text: `${run} ${tool} ${state}` }));
}

/** Adds the other live runs to the result of a call; `named` is the run that the call names. */
export async function withLiveRuns(
  open: OpenHost,
  result: CallToolResult,
  named: unknown,
): Promise<CallToolResult> {
  const { structuredContent, content, isError } = result;
  const [first, ...rest] = content;
  if (typeof structuredContent !== 'object' || first?.type !== 'text') return result;
  const { run_id, data } = structuredContent as { run_id?: unknown; data?: { run_id?: unknown } | null };
  const known = [run_id, data?.run_id, named];
  const others = (await liveRunTexts(open)).filter(({ run }) => !known.includes(run));
  if (others.length === 0) return result;
  const live_runs = others.map(({ text }) => text);
  const text =
    isError !== true && first.text.startsWith('{')
      ? JSON.stringify({ ...JSON.parse(first.text), live_runs })
      : `${first.text}\nAlso live: ${live_runs.join(', ')}`;
  return {
    ...result,
    content: [{ type: 'text', text }, ...rest],
    structuredContent: { ...structuredContent, live_runs },
  };
}
