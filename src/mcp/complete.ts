import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import type { OpenHost } from './host.ts';

/** The maximum that the protocol allows. */
const MAX_VALUES = 100;

/** Completes the argument of a prompt or of a resource address: topics of the explanation, ids of runs. */
export async function complete(
  open: OpenHost,
  { ref, argument }: CompleteRequest['params'],
): Promise<CompleteResult> {
  if (ref.type === 'ref/resource' && ref.uri.startsWith('acor://runs/') && argument.name === 'run')
    return completeRun(open, argument.value);
  const known = ref.type === 'ref/prompt' ? await valuesFor(open, ref.name, argument.name) : [];
  const fitting = known.filter((each) => each.startsWith(argument.value));
  const values = fitting.slice(0, MAX_VALUES);
  return { completion: { values, total: fitting.length, hasMore: fitting.length > values.length } };
}

async function completeRun(open: OpenHost, prefix: string): Promise<CompleteResult> {
  await open.app.authorize({ name: 'run.list', effect: 'reads' }, {});
  const index = await (await open.app.project()).index();
  const { runs, total } = await index.query({ prefix, limit: MAX_VALUES });
  const values = runs.map(({ run_id }) => run_id);
  return { completion: { values, total, hasMore: total > values.length } };
}

async function valuesFor(open: OpenHost, prompt: string, argument: string): Promise<string[]> {
  if (prompt !== 'explain' || argument !== 'topic') return [];
  const answer = await open.call('system.explain', {}, { signal: new AbortController().signal });
  return answer.ok ? (answer.data as { topics: { name: string }[] }).topics.map(({ name }) => name) : [];
}
