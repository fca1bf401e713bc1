import * as z from 'zod';
import { AcorError } from '../../protocol/acor-error.ts';
import { explainStep } from '../../protocol/next-steps.ts';
import { PROTOCOL_VERSION } from '../../protocol/v1/wire.ts';
import { estimateTokens } from '../../util/estimate-tokens.ts';
import { acorOperation } from '../define.ts';
import type { Section } from './explain/section.ts';

const named = z.object({ name: z.string(), about: z.string() });

export const explain = acorOperation({
  name: 'system.explain',
  summary: 'Explain to an agent how to use this project: its tools, runs, questions, errors.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    topic: z
      .string()
      .optional()
      .describe(
        'Only this topic, such as errors, or the name of a tool; without it, the overview, which lists them.',
      ),
    format: z
      .enum(['markdown', 'text', 'json'])
      .optional()
      .describe(
        'markdown, text: the document itself. json: the envelope, where messages, states and error codes are also data.',
      ),
    include_examples: z.boolean().default(false).describe('Also examples.'),
    protocol_version: z
      .int()
      .min(1)
      .default(PROTOCOL_VERSION)
      .describe('The version of the protocol to explain; ACOR rejects a version that it does not support.'),
  }),
  output: z.object({
    topic: z.string().nullable(),
    protocol_version: z.int(),
    sections: z.array(
      z.object({
        heading: z.string(),
        text: z.string().describe('Markdown.'),
        items: z
          .array(z.record(z.string(), z.unknown()))
          .optional()
          .describe('With --format json: what the text lists.'),
      }),
    ),
    topics: z.array(named).describe('Other values of --topic.'),
  }),
  list: 'sections',
  example: 'acor explain',
  moreExamples: ['acor explain --topic errors', 'acor explain --format markdown --include-examples'],
  async run(input, ctx) {
    if (input.protocol_version !== PROTOCOL_VERSION) throw otherVersion(input.protocol_version);
    const [{ gatherFacts }, { sectionsOf, topicsFor }] = await Promise.all([
      import('./explain/facts.ts'),
      import('./explain/topics.ts'),
    ]);
    const facts = await gatherFacts(ctx.app, input.include_examples);
    // The items would cost an agent the tokens of the text a second time.
    const sections = sectionsOf(input.topic, facts).map(({ items, ...section }) => ({
      ...section,
      ...(input.format === 'json' && items !== undefined && { items: [...items] }),
    }));
    const known = topicsFor(facts);
    const topics = [
      ...Object.entries(known.topics).map(([name, { about }]) => ({ name, about })),
      ...Object.entries(known.families).map(([name, about]) => ({ name, about })),
    ];
    const data = { topic: input.topic ?? null, protocol_version: input.protocol_version, sections, topics };
    const text = documentOf(data);
    const answer = { data, tokens: estimateTokens(text) };
    return input.format === 'markdown' || input.format === 'text'
      ? { kind: 'document', document: text, ...answer }
      : { kind: 'data', ...answer };
  },
});

/** The explanation as a Markdown document. */
export function documentOf({
  topic,
  sections,
  topics,
}: {
  topic: string | null;
  sections: readonly Section[];
  topics: readonly z.output<typeof named>[];
}): string {
  const parts = sections.map(({ heading, text }) => `## ${heading}\n\n${text}`);
  const more = `## Topics\n\nDetails: \`acor explain --topic <name>\`.\n${topics.map(({ name, about }) => `- ${name}: ${about}`).join('\n')}`;
  const title =
    topic === null
      ? '# How to use ACOR'
      : `# ACOR: ${parts.length > 0 ? topic.replaceAll(/[^\w: -]/g, '') : ''}`;
  return `${[title, ...parts, ...(topic === null ? [more] : [])].join('\n\n')}\n`;
}

function otherVersion(version: number): AcorError {
  return new AcorError('E_INCOMPATIBLE', `expected protocol version ${PROTOCOL_VERSION}, got ${version}`, {
    hint: `Set --protocol-version ${PROTOCOL_VERSION}, or omit the flag.`,
    next: [explainStep({ protocol_version: PROTOCOL_VERSION })],
  });
}
