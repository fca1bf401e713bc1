import { flagOf } from '../../protocol/input-types.ts';
import type { InputSpec } from '../../protocol/manifest.ts';
import type { ReadInput } from './read-inputs.ts';

/**
 * The tool's arguments: `--name value` pairs in the order of the manifest, then positionals. `secretArgs` are indexes.
 */
export function commandWords(inputs: readonly ReadInput[]): { args: string[]; secretArgs: number[] } {
  const args: string[] = [];
  const secretArgs: number[] = [];
  const push = (spec: InputSpec, text: string) => {
    if (spec.secret) secretArgs.push(args.length);
    args.push(text);
  };
  const positionals = inputs.filter(({ spec }) => spec.positional);
  for (const { spec, values } of inputs) {
    if (spec.positional) continue;
    for (const { value, text } of values) {
      if (spec.type === 'bool') {
        args.push(...boolWords(spec, value === true));
      } else if (spec.joined) {
        push(spec, joinedWord(flagOf(spec), text));
      } else {
        args.push(flagOf(spec));
        push(spec, text);
      }
    }
  }
  // After `--`, the tool does not read a value such as -x as a flag.
  if (positionals.some(({ values }) => values.some(({ text }) => text.startsWith('-')))) args.push('--');
  for (const { spec, values } of positionals) for (const { text } of values) push(spec, text);
  return { args, secretArgs };
}

/** A tool assumes `false` by default, so `false` is only passed when the manifest's default is `true`. */
function boolWords(spec: InputSpec, value: boolean): string[] {
  if (value) return [flagOf(spec)];
  if (spec.default !== true) return [];
  return [spec.joined ? joinedWord(flagOf(spec), 'false') : `--no-${spec.name.replaceAll('_', '-')}`];
}

/** `--name=value` and `-name=value`, but `-nvalue` for a short flag. */
function joinedWord(flag: string, text: string): string {
  return flag.length === 2 ? `${flag}${text}` : `${flag}=${text}`;
}
