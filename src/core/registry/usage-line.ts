import { flagOf } from '../../protocol/input-types.ts';
import type { InputSpec } from '../../protocol/manifest.ts';

/** The usage of a tool in one line: its name and its arguments. */
export function usageLine(tool: string, specs: readonly InputSpec[] | undefined): string {
  if (specs === undefined) return `${tool} [args…]`;
  const flags = specs
    .filter((spec) => !spec.positional)
    .map((spec) => {
      const value =
        spec.type === 'bool' ? flagOf(spec) : `${flagOf(spec)} <${spec.enum?.join('|') ?? spec.type}>`;
      return optional(spec, spec.multiple ? `${value} …` : value);
    });
  const positionals = specs
    .filter((spec) => spec.positional)
    .map((spec) => optional(spec, `<${spec.name}>${spec.multiple ? '…' : ''}`));
  return [tool, ...flags, ...positionals].join(' ');
}

function optional({ required, default: fallback }: InputSpec, text: string): string {
  return required && fallback === undefined ? text : `[${text}]`;
}
