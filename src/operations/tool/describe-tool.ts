import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { callLine, usageLine } from '../../core/registry/argument-problem.ts';
import { inputsOf } from '../../core/registry/input-schema.ts';
import type { AcorApp } from '../acor-app.ts';
import { plainCommand } from '../define.ts';

/** What is asked of a tool. */
interface DescribeInput {
  tool: string;
  manifest: boolean;
  permissions: boolean;
}

export async function described(
  input: DescribeInput,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<{ name: string } & Record<string, unknown>>> {
  const project = await ctx.app.project();
  const tool = await ctx.app.tool(input.tool);
  const { manifest } = tool;
  if (input.permissions) {
    const { describePermissions } = await import('./describe-permissions.ts');
    return { kind: 'data', data: await describePermissions(project, tool, ctx) };
  }
  if (input.manifest)
    return { kind: 'data', data: { ...manifest, name: tool.name, manifest_path: tool.manifestPath } };
  const inputs: Record<string, unknown>[] = (manifest.inputs ?? []).map((spec) => ({ ...spec }));
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
}

export const plainToolDescribe = plainCommand('tool.describe', described);
