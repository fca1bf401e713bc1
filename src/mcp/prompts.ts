import { type GetPromptResult, type Prompt, ProtocolError } from '@modelcontextprotocol/server';
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
