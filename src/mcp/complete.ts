import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import type { OpenHost } from './host.ts';

/** As many as the protocol lets through. */
const MAX_VALUES = 100;

/** Completes what a person types into a prompt or the address of a resource: topics of the explanation, ids of runs. */
export async function complete(
  open: OpenHost,
  { ref, argument }: CompleteRequest['params'],
): Promise<CompleteResult> {
  const known = await valuesFor(open, ref.type === 'ref/prompt' ? ref.name : ref.uri, argument.name);
  const fitting = known.filter((each) => each.startsWith(argument.value));
  const values = fitting.slice(0, MAX_VALUES);
  return { completion: { values, total: fitting.length, hasMore: fitting.length > values.length } };
}

async function valuesFor(open: OpenHost, ref: string, argument: string): Promise<string[]> {
  if (ref === 'explain' && argument === 'topic') {
    const answer = await open.call('explain', {}, { signal: new AbortController().signal });
    return answer.ok ? (answer.data as { topics: { name: string }[] }).topics.map(({ name }) => name) : [];
  }
  if (!ref.startsWith('acor://runs/') || argument !== 'run') return [];
  const { store } = await open.app.project();
  return (await store.list()).reverse();
}
