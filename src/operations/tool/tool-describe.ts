import * as z from 'zod';
import { callLine, usageLine } from '../../core/registry/argument-problem.ts';
import { inputsOf } from '../../core/registry/input-schema.ts';
import { acorOperation } from '../define.ts';

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
    const tool = await ctx.app.tool(input.tool);
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
      cost: manifest.cost ?? null,
      usage:
        ctx.app.surface === 'command' || ctx.app.surface === 'http'
          ? `acor run ${usageLine(tool.name, inputsOf(manifest))}`
          : callLine(tool.name, inputsOf(manifest)),
      examples: manifest.examples,
    };
    return { kind: 'data', data };
  },
});
