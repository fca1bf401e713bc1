import type * as z from 'zod';
import { splitCommand } from '../util/shell-words.ts';
import { type CapturedCall, captureCli } from './capture-cli.ts';
import type { CliApp, CliIo } from './cli-app.ts';
import { findCommand } from './find-command.ts';
import { readFlags } from './flags.ts';
import { GLOBAL_FLAGS } from './globals.ts';
import { readRate } from './limit-rate.ts';
import type { Operation } from './operation.ts';
import { elementSchemas, hasField } from './output-shape.ts';
import { label, type Parameter, parametersOf } from './parameters.ts';
import { dryRunOf } from './strict.ts';
import { calledAs } from './write-command.ts';

/** One thing that breaks the contract, and its fix. */
export interface ContractProblem {
  /** The command, or the program. */
  command: string;
  message: string;
  fix: string;
}

/** The context and the environment of the calls that are made. */
export interface ContractOptions {
  io?: Partial<CliIo>;
}

const NO_FLAG = '--acor-no-such-option';

/**
 * Checks an application against the contract, for its own test suite: `assert.deepEqual(await checkContract(cli), [])`. It
 * checks the declarations, then calls `tools`, `health`, `config show` and each command with a flag that does not exist. No operation
 * that writes is performed.
 */
export async function checkContract<C>(
  app: CliApp<C>,
  { io = {} }: ContractOptions = {},
): Promise<ContractProblem[]> {
  const loaded = await Promise.all(
    app.routes.map(async ({ command, hidden, load }) => ({
      command,
      hidden: hidden === true,
      op: await load(),
    })),
  );
  const shown = loaded.filter(({ hidden }) => !hidden);
  const problems = [...errorProblems(app), ...registryProblems(app, shown)];
  for (const words of [['tools'], ['health'], ['config', 'show']]) {
    const command = words.join(' ');
    if (!shown.some((each) => each.command === command)) {
      problems.push({
        command,
        message: 'the command is missing',
        fix: `Add '${calledAs(app)} ${command}'.`,
      });
      continue;
    }
    problems.push(...answerProblems(command, await captureCli(app, words, io), [0, 2]));
  }
  for (const { command } of shown) {
    const called = await captureCli(app, [...command.split(' '), NO_FLAG], io);
    problems.push(...answerProblems(`${command} ${NO_FLAG}`, called, [1]));
  }
  problems.push(
    ...answerProblems('acor-no-such-word', await captureCli(app, ['acor-no-such-word'], io), [1]),
  );
  return problems;
}

interface Loaded {
  command: string;
  // biome-ignore lint/suspicious/noExplicitAny: an operation is contravariant in its input.
  op: Operation<any, any, any>;
}

/** What is wrong with the declarations. */
function registryProblems<C>(app: CliApp<C>, loaded: readonly Loaded[]): ContractProblem[] {
  const problems: ContractProblem[] = [];
  const names = new Map<string, string>();
  const commands = new Set<string>();
  for (const { command, op } of loaded) {
    const wrong = (message: string, fix: string) => problems.push({ command, message, fix });
    const other = names.get(op.name);
    if (other !== undefined)
      wrong(`'${other}' has the same name ${op.name}`, 'Give each operation a name of its own.');
    names.set(op.name, command);
    if (commands.has(command)) wrong('two commands have these words', 'Give each command words of its own.');
    commands.add(command);
    if (!/^[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*$/.test(op.name))
      wrong(`the name '${op.name}' is not group.action`, 'Name it by its group and its action: item.list.');
    if (op.summary.trim() === '') wrong('it has no summary', 'Say in one sentence what it does.');
    for (const key of op.positionals ?? [])
      if (!Object.hasOwn(op.input.shape, key))
        wrong(
          `the positional '${key}' is not an input`,
          `Add '${key}' to the input, or remove it from positionals.`,
        );
    const parameters = parametersOf(op);
    for (const { key, flag, description, isPositional } of parameters) {
      if (description === '')
        wrong(`the input '${key}' has no description`, `Add .describe('…') to '${key}'.`);
      const isGlobal = GLOBAL_FLAGS.some(({ name }) => name === flag);
      if (isGlobal && !isPositional && flag !== 'format' && flag !== 'limit' && flag !== 'offset')
        wrong(`the flag --${flag} hides the global one`, `Rename the input '${key}'.`);
    }
    if (op.effect !== 'reads' && op.readsWithout === undefined && dryRunOf(op) === undefined)
      wrong(
        'it changes something and has no --dry-run',
        'Add dry_run: z.boolean().default(false) to the input.',
      );
    const letters = parameters.flatMap(({ short }) => short ?? []);
    for (const letter of new Set(letters)) {
      if (letters.filter((each) => each === letter).length > 1)
        wrong(`two inputs have the letter -${letter}`, 'Give each short flag a letter of its own.');
      if (GLOBAL_FLAGS.some(({ short }) => short === letter))
        wrong(`the letter -${letter} hides the global one`, 'Choose another letter.');
      if (!/^[A-Za-z]$/.test(letter)) wrong(`'${letter}' is not one letter`, 'Choose a letter.');
    }
    if (op.rateLimit !== null && readRate(op.rateLimit) === undefined)
      wrong(`the rate limit '${op.rateLimit}' cannot be read`, "Write it as '60/min', '5/s' or '1000/day'.");
    if (op.deprecated !== undefined && !callsOther(app, op.deprecated.use, command))
      wrong(
        `what replaces it is no other command: ${op.deprecated.use}`,
        'Name the whole command in deprecated.use.',
      );
    for (const { key, replacement } of parameters)
      if (replacement !== undefined && !isReplacement(app, parameters, { key, replacement }))
        wrong(
          `what replaces the input '${key}' is no other input: ${replacement}`,
          'Name the flag of another input in replacement.',
        );
    if (op.list !== undefined && !mayHaveList(op.output, op.list))
      wrong(
        `its list '${op.list}' is no array of the output`,
        `Name an array of the output in list, or add '${op.list}' to the output.`,
      );
    if (!isCallOf(app, op.example, command))
      wrong(
        `its example does not call it: ${op.example}`,
        `Begin the example with '${calledAs(app)} ${command}'.`,
      );
    else
      for (const each of mistakesIn(app, op, parameters))
        wrong(`its example is refused: ${each}`, 'Write a call that the command accepts.');
  }
  return problems;
}

/** What is wrong with the rows of the error table, which only TypeScript checks. */
function errorProblems<C>(app: CliApp<C>): ContractProblem[] {
  return Object.entries(app.errors ?? {}).flatMap(
    ([code, { class: kind, retryable, exit, action, hint }]) => {
      const wrong = [
        ...(/^E_[A-Z0-9_]+$/.test(code) ? [] : ['its code is not E_ and capital letters']),
        ...Object.entries({ class: kind, action, hint })
          .filter(([, text]) => typeof text !== 'string' || text.trim() === '')
          .map(([key]) => `it has no ${key}`),
        ...(typeof retryable === 'boolean' ? [] : ['retryable is not true or false']),
        ...(exit === 1 || exit === 2 ? [] : [`its exit code is ${exit}, not 1 or 2`]),
      ];
      return wrong.map((each) => ({
        command: 'errors',
        message: `the row of ${code}: ${each}`,
        fix: `Correct ${code} in errors.`,
      }));
    },
  );
}

/** Whether a replacement is the flag of another input, or the call of a command. A text about another program cannot be checked. */
function isReplacement<C>(
  app: CliApp<C>,
  parameters: readonly Parameter[],
  { key, replacement }: { key: string; replacement: string },
): boolean {
  const [word = ''] = replacement.split(/[ =]/, 1);
  if (!word.startsWith('-')) return callsOther(app, replacement, '');
  return parameters.some(
    (each) => each.key !== key && [`--${each.flag}`, `--no-${each.flag}`, `-${each.short}`].includes(word),
  );
}

/** Whether the field of an answer is a list, or only the data can decide. */
function mayHaveList(output: z.ZodType, key: string): boolean {
  return hasField([output], [key]) === 'open' || elementSchemas(output, { key }).length > 0;
}

/** Why the command would not accept its example. Values are not checked: they may be placeholders. */
function mistakesIn<C>(app: CliApp<C>, op: Loaded['op'], parameters: readonly Parameter[]): string[] {
  const { args } = findCommand(app.routes, wordsBehind(app, op.example) ?? [], app.aliases);
  const { problems, unplaced, given, inputJson } = readFlags(parameters, args, op);
  const missing = parameters.filter(
    ({ key, isRequired, env, config }) =>
      isRequired && inputJson === undefined && env === undefined && config === undefined && !given.has(key),
  );
  return [
    ...problems.map(({ message }) => message),
    ...(problems.length === 0 ? unplaced.map((word) => `unexpected argument: ${word}`) : []),
    ...missing.map((each) => `${label(each)} is required`),
  ];
}

/** Whether a command line calls another command of the program, or another program. */
function callsOther<C>(app: CliApp<C>, line: string, command: string): boolean {
  const words = wordsBehind(app, line);
  if (words === undefined) return line.trim() !== '';
  const found = findCommand(app.routes, words, app.aliases).route?.command;
  return found !== undefined && found !== command;
}

function isCallOf<C>(app: CliApp<C>, example: string, command: string): boolean {
  const words = wordsBehind(app, example);
  return words !== undefined && findCommand(app.routes, words, app.aliases).route?.command === command;
}

/** The words of a command line after the program; undefined when it calls another one. */
function wordsBehind<C>(app: CliApp<C>, line: string): string[] | undefined {
  const program = `${calledAs(app)} `;
  if (!line.startsWith(program)) return undefined;
  const rest = line.slice(program.length);
  return splitCommand(rest) ?? rest.split(' ');
}

/** What is wrong with an answer: it is one envelope, and its exit code is one of these. */
function answerProblems(
  command: string,
  { exit, stdout }: CapturedCall,
  exits: readonly number[],
): ContractProblem[] {
  const problems: ContractProblem[] = [];
  const wrong = (message: string, fix: string) => problems.push({ command, message, fix });
  if (!exits.includes(exit))
    wrong(
      `it exits with ${exit}, not with ${exits.join(' or ')}`,
      'Throw AppError with a code of the error table.',
    );
  const envelope = parsed(stdout);
  if (envelope === undefined) {
    wrong('stdout is not one line of JSON', 'Return the data, and write nothing to stdout.');
    return problems;
  }
  const { ok, error, meta } = envelope;
  if (typeof ok !== 'boolean' || typeof meta?.tool !== 'string' || typeof meta.elapsed !== 'number')
    wrong('the answer is not an envelope', 'Answer through the kit.');
  if (ok === false && [error?.code, error?.message, error?.hint, error?.action].some((each) => !each))
    wrong(`the error ${String(error?.code)} has no hint or action`, 'Add a row for it to the error table.');
  return problems;
}

interface ParsedEnvelope {
  ok?: unknown;
  error?: { code?: unknown; message?: unknown; hint?: unknown; action?: unknown };
  meta?: { tool?: unknown; elapsed?: unknown };
}

function parsed(stdout: string): ParsedEnvelope | undefined {
  const lines = stdout.split('\n');
  if (lines.length !== 2 || lines[1] !== '') return undefined;
  try {
    return JSON.parse(lines[0]!) as ParsedEnvelope;
  } catch {
    return undefined;
  }
}
