import {
  type CompleteRequest,
  type CompleteResult,
  type GetPromptResult,
  type Prompt,
  ProtocolError,
} from '@modelcontextprotocol/server';
import type { OpenHost } from './host.ts';

export const PROMPTS: Prompt[] = [
  {
    name: 'explain',
    title: 'Explain ACOR',
    description: 'How to use the tools of this project, or one topic of it.',
    arguments: [
      {
        name: 'topic',
        description: 'errors, decisions, runs, tool:<name>, …; the overview without it.',
        required: false,
      },
    ],
  },
];

/** The explanation of `acor explain` as a message. */
export async function getPrompt(
  open: OpenHost,
  name: string,
  { topic }: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<GetPromptResult> {
  if (name !== 'explain')
    throw new ProtocolError(-32602, `there is no prompt called ${JSON.stringify(name)}`);
  const envelope = await open.call('system.explain', topic === undefined ? {} : { topic }, { signal });
  if (!envelope.ok) throw new ProtocolError(-32602, `${envelope.error.message}. ${envelope.error.hint}`);
  const { sections } = envelope.data as { sections: { heading: string; text: string }[] };
  const text = sections.map((section) => `## ${section.heading}\n\n${section.text}`).join('\n\n');
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}

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
