import { type CommandLine, readFlags } from './flags.ts';
import { asksForPart, globalBehind } from './globals.ts';
import type { OperationContext, OperationDescription, OperationResult } from './operation.ts';
import type { ParameterForm } from './parameters.ts';

/** A parameter in a table. */
export interface PlainParameter extends ParameterForm {
  /** Whether its schema accepts every text of its kind, or every value of its `enum`. */
  isPlain: boolean;
}

/** An operation without its schemas, which take time to make at each start. */
export interface PlainForm
  extends Pick<
    OperationDescription,
    'name' | 'effect' | 'readsWithout' | 'positionals' | 'passthrough' | 'list' | 'pageSize'
  > {
  /** In the order of the operation's input. */
  parameters: readonly PlainParameter[];
}

/** An operation for command lines that need none of its schemas. The whole operation answers all others, and does the same for these. */
export interface PlainCommand<C> extends PlainForm {
  run(input: Record<string, unknown>, ctx: OperationContext<C>): Promise<OperationResult<unknown>>;
}

/** A command line whose values are plain, and the input that it gives. */
export interface PlainLine {
  line: CommandLine;
  input: Record<string, unknown>;
}

/**
 * Reads a command line without a schema. Undefined when there is anything wrong with it, when a value has to be checked by its schema, and
 * when the answer needs the schemas: for help, for some of its fields, and for a part of an answer that may have no list.
 */
export function readPlainLine(command: PlainForm, args: readonly string[]): PlainLine | undefined {
  const line = readFlags(command.parameters, args, command);
  const { globals, passthrough = [] } = line;
  const needsSchema =
    line.problems.length > 0 ||
    line.inputJson !== undefined ||
    globals.help ||
    globals.version ||
    globals.toon ||
    globals.fields !== undefined ||
    (command.list === undefined && asksForPart(globals)) ||
    // A global flag behind the name of a called program may be its own.
    passthrough.some((arg) => globalBehind(arg) !== undefined);
  if (needsSchema) return undefined;
  const input: Record<string, unknown> = {};
  for (const each of command.parameters) {
    const texts = each.key === command.passthrough ? line.passthrough : line.given.get(each.key);
    const value = texts === undefined ? defaultOf(each) : plainValue(each, texts);
    if (value !== undefined) input[each.key] = value;
    else if (texts !== undefined || each.isRequired) return undefined;
  }
  return { line, input };
}

function defaultOf({ default: value }: PlainParameter): unknown {
  return Array.isArray(value) ? [...value] : value;
}

/** Undefined for a value that its schema must check. */
function plainValue(parameter: PlainParameter, texts: readonly (string | boolean)[]): unknown {
  if (!parameter.isPlain) return undefined;
  const values = texts.map((text) => plainText(parameter, text));
  if (values.includes(undefined)) return undefined;
  return parameter.isArray ? values : values[0];
}

function plainText({ kind, enum: allowed }: PlainParameter, text: string | boolean): unknown {
  if (kind !== 'boolean') return allowed === undefined || allowed.includes(text) ? text : undefined;
  if (typeof text === 'boolean') return text;
  return text === 'true' || text === 'false' ? text === 'true' : undefined;
}
