import * as z from 'zod';
import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import { cellText } from '../../compose/table.ts';
import { inputsOf } from '../../core/registry/input-schema.ts';
import { usageLine } from '../../core/registry/usage-line.ts';
import { shellCommand } from '../../util/shell-quote.ts';
import { acorOperation } from '../define.ts';
import { hanging, pairsOf, tableOf } from '../views.ts';

const inputShape = z.looseObject({ name: z.string(), type: z.string(), required: z.boolean() });

export const toolDescribe = acorOperation({
  name: 'tool.describe',
  summary: 'Describe one tool: its inputs, what it may do, its limits, how to call it.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    tool: z.string().describe('The name of the tool.'),
    manifest: z.boolean().default(false).describe('The whole manifest, with defaults.'),
    permissions: z.boolean().default(false).describe('Only what the tool may do.'),
  }),
  output: z.looseObject({ name: z.string() }),
  positionals: ['tool'],
  example: 'acor describe example_processor',
  moreExamples: ['acor describe example_processor --permissions'],
  async run(input, ctx) {
    const project = await ctx.app.project();
    const tool = await project.registry.find(input.tool);
    const { manifest } = tool;
    if (input.permissions) {
      const { describePermissions } = await import('./describe-permissions.ts');
      return { kind: 'data', data: await describePermissions(project, tool, ctx) };
    }
    if (input.manifest)
      return { kind: 'data', data: { ...manifest, name: tool.name, manifest_path: tool.manifestPath } };
    const inputs: z.output<typeof inputShape>[] = (manifest.inputs ?? []).map((spec) => ({ ...spec }));
    const data = {
      name: tool.name,
      version: manifest.version,
      description: manifest.description ?? '',
      category: manifest.category ?? null,
      ...(tool.notes !== undefined && { notes: tool.notes }),
      language: tool.language,
      adapter: tool.adapter,
      path: tool.entry ?? tool.dir,
      manifest_path: tool.manifestPath,
      inputs,
      takes_any_arguments: manifest.inputs === undefined && manifest.input_schema === undefined,
      ...(manifest.input_schema !== undefined && { input_schema: manifest.input_schema }),
      ...(manifest.output_schema !== undefined && { output_schema: manifest.output_schema }),
      permissions: manifest.permissions,
      timeout_s: manifest.timeout_s ?? null,
      exit_codes: manifest.exit_codes,
      idempotent: manifest.idempotent,
      effects: manifest.effects ?? null,
      actions: manifest.actions,
      usage: `acor run ${usageLine(tool.name, inputsOf(manifest))}`,
      examples: manifest.examples,
    };
    return { kind: 'data', data };
  },
  render: describeView,
});

function describeView(data: Readonly<Record<string, unknown>>, screen: Screen): string {
  const { usage, description, inputs, examples, name: _name, ...facts } = data;
  if (Array.isArray(data.words)) return `${data.name}\n${data.words.join('\n')}`;
  if (typeof usage !== 'string') return pairsOf(data, screen);
  const rows = ((inputs ?? []) as Readonly<Record<string, unknown>>[]).map((input) => ({
    input: input.name,
    type: input.type,
    required: input.required ? 'yes' : '',
    default: input.default,
    description: input.description,
  }));
  const calls = ((examples ?? []) as { args: string[] }[]).map(
    ({ args }) => `  acor run ${cellText(shellCommand([String(data.name), ...args]), screen)}`,
  );
  return [
    styled(usage, 'bold', screen),
    // Indented, so that no line of it passes for one of what follows.
    hanging(String(description ?? ''), 2, screen),
    tableOf(rows, screen, ['input'], 'It declares no inputs; arguments pass as they are.'),
    pairsOf(flat(facts), screen),
    calls.length > 0 ? `${styled('examples', 'bold', screen)}\n${calls.join('\n')}` : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Facts within facts under dotted names; lists of plain values stay whole, and empty ones are left out. */
function flat(facts: Readonly<Record<string, unknown>>, prefix = ''): Record<string, unknown> {
  const entries = Object.entries(facts).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && !key.endsWith('_schema')
      ? Object.entries(flat(value as Readonly<Record<string, unknown>>, `${prefix}${key}.`))
      : [[`${prefix}${key}`, value] as const],
  );
  return Object.fromEntries(entries);
}
