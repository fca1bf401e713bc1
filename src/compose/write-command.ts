import { shellCommand } from '../util/shell-words.ts';
import type { NextStep } from './next-step.ts';
import { kebab } from './parameters.ts';

/** The command-line form of an operation, known without loading it. */
export interface CommandForm {
  /** The operation's dotted name. */
  operation: string;
  /** The words after the program's name: `run`, `config show`. */
  command: string;
  /** As in the operation. */
  positionals?: readonly string[];
  passthrough?: string;
}

/** The words that call an application. */
export function calledAs({ name, callAs }: { name: string; callAs?: string }): string {
  return callAs ?? name;
}

/** Renders a next step as a command line, quoted for a POSIX shell. `cwd` is the `--cwd` of the caller, which the step needs, too. */
export function writeCommand(
  program: string,
  forms: readonly CommandForm[],
  step: NextStep,
  cwd?: string,
): string {
  if ('command' in step) return step.command;
  const form = forms.find(({ operation }) => operation === step.operation);
  if (form === undefined) throw new Error(`Internal: there is no operation ${step.operation}`);
  const command = shellCommand([
    ...program.split(' '),
    ...form.command.split(' '),
    ...argumentsOf(form, step.input),
  ]);
  return inFolder(command, program, cwd);
}

/** The same command for a caller whose command line had this `--cwd`. A command of another program stays as it is. */
export function inFolder(command: string, program: string, cwd: string | undefined): string {
  const isOwn = command.startsWith(`${program} `);
  if (cwd === undefined || !isOwn) return command;
  return `${program} ${shellCommand(flagWords('cwd', cwd))}${command.slice(program.length)}`;
}

function argumentsOf(form: CommandForm, input: Readonly<Record<string, unknown>>): string[] {
  const { positionals = [], passthrough } = form;
  const flags = Object.entries(input)
    .filter(([key]) => key !== passthrough && !positionals.includes(key))
    .flatMap(([key, value]) => valuesOf(value).flatMap((each) => flagWords(kebab(key), each)));
  const places = positionals.flatMap((key) => valuesOf(input[key]).map(wordOf));
  // After the first positional, every word belongs to the called program.
  if (passthrough !== undefined) return [...flags, ...places, ...valuesOf(input[passthrough]).map(wordOf)];
  const startsWithDash = places.some((word) => word.startsWith('-'));
  return startsWithDash ? [...flags, '--', ...places] : [...places, ...flags];
}

function flagWords(flag: string, value: unknown): string[] {
  if (typeof value === 'boolean') return [value ? `--${flag}` : `--no-${flag}`];
  const word = wordOf(value);
  return word.startsWith('-') ? [`--${flag}=${word}`] : [`--${flag}`, word];
}

function valuesOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
