import { shellCommand } from '../util/shell-words.ts';
import type { CommandLine } from './flags.ts';
import type { OperationDescription } from './operation.ts';
import type { ParameterForm } from './parameters.ts';

/** A command line that can be repeated with a different `--offset`. */
export interface Repeatable {
  /** The program and the words of its command. */
  words: readonly string[];
  /** The arguments after them. */
  args: readonly string[];
  line: Pick<CommandLine, 'globals' | 'offsetAt' | 'inputJson' | 'given'>;
}

/**
 * The exact command that shows the list from `offset` on; undefined when a repeated command would not be equivalent.
 */
export function nextPageCommand(
  op: Pick<OperationDescription, 'effect' | 'passthrough'>,
  { words, args, line }: Repeatable,
  offset: number,
  parameters: readonly ParameterForm[] = [],
): string | undefined {
  // A command that changes something must not run twice to page through its answer, and stdin can be read only once.
  if (op.effect !== 'reads' || line.inputJson === '-') return undefined;
  if (parameters.some((each) => each.isSecret && isWritten(each.key, line))) return undefined;
  const flag = ['--offset', String(offset)];
  if (line.offsetAt !== undefined) {
    const { index, count } = line.offsetAt;
    return shellCommand([...words, ...args.slice(0, index), ...flag, ...args.slice(index + count)]);
  }
  const endsFlags = op.passthrough !== undefined || args.includes('--');
  return shellCommand(endsFlags ? [...words, ...flag, ...args] : [...words, ...args, ...flag]);
}

/** Whether a value is in the command line itself, not in a file or a variable. */
function isWritten(key: string, { given, inputJson }: Repeatable['line']): boolean {
  if (given.has(key)) return true;
  return inputJson !== undefined && !inputJson.startsWith('@') && Object.hasOwn(JSON.parse(inputJson), key);
}
