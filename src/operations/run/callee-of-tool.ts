import type { CalleeInput, ForwardedCommand } from '../../compose/forwarded-command.ts';
import { allowedWords, usageLine } from '../../core/registry/argument-problem.ts';
import { inputsOf } from '../../core/registry/input-schema.ts';
import { flagOf } from '../../protocol/input-types.ts';
import type { InputSpec } from '../../protocol/manifest.ts';
import { isAdHoc } from '../../protocol/names.ts';
import { shellCommand } from '../../util/shell-words.ts';
import type { AcorApp } from '../acor-app.ts';

/** Describes a tool for help, flags and completion of a command that takes a call of it. Throws E_TOOL_NOT_FOUND and E_MANIFEST_INVALID. */
export async function calleeOfTool(name: string, app: AcorApp, command = 'run'): Promise<ForwardedCommand> {
  const { name: found, manifest } = await app.tool(name);
  const inputs = inputsOf(manifest);
  return {
    name,
    summary: manifest.description ?? '',
    usage: `acor ${command} ${usageLine(name, inputs)}`,
    examples: manifest.examples.map(({ args }) =>
      shellCommand(['acor', ...command.split(' '), name, ...args]),
    ),
    inputs: inputs?.map(calleeInput) ?? null,
    ownsArguments: inputs === undefined && isAdHoc(found),
  };
}

/** An input of a tool or a workflow, for help, flags and completion. */
export function calleeInput(spec: InputSpec): CalleeInput {
  return {
    name: spec.name,
    label: spec.positional ? spec.name : flagOf(spec),
    ...(spec.short !== undefined && { short: spec.short }),
    type: spec.type,
    isPositional: spec.positional,
    isSwitch: spec.type === 'bool',
    isRequired: spec.required && spec.default === undefined,
    isRepeatable: spec.multiple,
    isPath: spec.type === 'path',
    choices: allowedWords(spec) ?? [],
    description: spec.description ?? '',
    default: spec.default,
  };
}
