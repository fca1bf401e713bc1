import type { CliApp } from '../app.ts';
import type { CalleeInput } from '../callee.ts';
import { loadAll } from '../catalog.ts';
import { cutToWidth } from '../display-width.ts';
import { findCommand } from '../find-command.ts';
import { GLOBAL_FLAGS, globalBehind } from '../globals.ts';
import type { Operation } from '../operation.ts';
import { type Parameter, parametersOf } from '../parameters.ts';
import { safeLine } from '../terminal-text.ts';

/** A word that may stand where the cursor is. */
export interface Candidate {
  value: string;
  /** A few words about it. */
  about: string;
}

/** What may stand where the cursor is; with `files`, any path as well. */
export interface Completion {
  candidates: Candidate[];
  files: boolean;
}

/** What only the application knows: values of a parameter, by what stands before it. Undefined: nothing is known of them. */
export type ValuesOf<C> = (
  wanted: { op: Operation<C>; key: string; given: ReadonlyMap<string, string> },
  context: C,
) => Promise<readonly Candidate[] | undefined>;

const ABOUT_WIDTH = 60;
// What a shell takes as it is: a stranger's text that is more than this is not put on anybody's command line.
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Completes the last of the words after the program's name; it may be empty. */
export async function completeLine<C>(
  app: CliApp<C>,
  words: readonly string[],
  open: () => Promise<C>,
  valuesOf: ValuesOf<C>,
): Promise<Completion> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const line = await completionOf(app, before, typed, { open, valuesOf });
  const seen = new Set<string>();
  const candidates = line.candidates.filter(({ value }) => {
    const fits = value.startsWith(typed) && PLAIN_WORD.test(value) && !seen.has(value);
    seen.add(value);
    return fits;
  });
  return {
    files: line.files,
    candidates: candidates.map(({ value, about }) => ({
      value,
      about: cutToWidth(safeLine(about), ABOUT_WIDTH, '...'),
    })),
  };
}

interface Sources<C> {
  open: () => Promise<C>;
  valuesOf: ValuesOf<C>;
}

async function completionOf<C>(
  app: CliApp<C>,
  before: readonly string[],
  typed: string,
  sources: Sources<C>,
): Promise<Completion> {
  const helps = before[0] === 'help';
  const found = findCommand(app.routes, helps ? before.slice(1) : before);
  const last = before.at(-1);
  const global = last === undefined ? undefined : globalBehind(last);
  const takesValue = global !== undefined && global.type !== 'boolean' && !last!.includes('=');
  if (found.route === undefined) {
    if (takesValue) return { candidates: [], files: global.name === 'cwd' };
    return typed.startsWith('-') ? words(globalFlags()) : words(await nextWords(app, found.words, helps));
  }
  const op = await found.route.load();
  const more = found.args.length === 0 ? await nextWords(app, found.words, true) : [];
  const own = await completeArguments(op, found.args, typed, sources);
  return { ...own, candidates: [...more, ...own.candidates] };
}

/** The words that may come next in the name of a command, each with what the command does. */
async function nextWords<C>(app: CliApp<C>, begun: readonly string[], isHelp: boolean): Promise<Candidate[]> {
  const loaded = await loadAll(app.routes);
  const prefix = begun.length === 0 ? '' : `${begun.join(' ')} `;
  const next = loaded
    .filter(({ command }) => command.startsWith(prefix))
    .map(({ command, op }) => {
      const [word, ...rest] = command.slice(prefix.length).split(' ');
      return { value: word!, about: rest.length === 0 ? op.summary : `${word} ...` };
    });
  return begun.length === 0 && !isHelp
    ? [...next, { value: 'help', about: 'Show help of a command.' }]
    : next;
}

async function completeArguments<C>(
  op: Operation<C>,
  args: readonly string[],
  typed: string,
  sources: Sources<C>,
): Promise<Completion> {
  const parameters = parametersOf(op);
  const flags = parameters.filter((each) => !each.isPositional);
  const places = parameters.filter((each) => each.isPositional);
  const read = readSoFar(args, flags, op.passthrough !== undefined);
  const names = new Map(read.flags);
  read.positionals.forEach((text, index) => {
    if (places[index] !== undefined) names.set(places[index].key, text);
  });
  const ask = async (parameter: Parameter) =>
    valuesFor(
      parameter,
      await sources.valuesOf({ op, key: parameter.key, given: names }, await sources.open()),
    );

  if (read.behind !== undefined) {
    return completeBehind(
      op,
      { name: read.positionals[0]!, behind: read.behind, typed, flags, ask },
      sources,
    );
  }
  if (read.open !== undefined)
    return read.open === 'global' ? { candidates: [], files: true } : ask(read.open);
  const inline = /^--([^=]+)=/.exec(typed);
  if (inline !== null) {
    const flag = flags.find((each) => each.flag === inline[1]);
    if (flag === undefined) return { candidates: [], files: inline[1] === 'cwd' };
    return prefixed(await ask(flag), `--${flag.flag}=`);
  }
  if (typed.startsWith('-')) return words([...ownFlags(flags, read.flags), ...globalFlags(flags)]);
  const place = places[Math.min(read.positionals.length, places.length - 1)];
  if (place === undefined || (read.positionals.length >= places.length && !place.isArray)) return words([]);
  return ask(place);
}

interface Behind {
  /** The called program. */
  name: string;
  behind: readonly string[];
  typed: string;
  flags: readonly Parameter[];
  ask: (parameter: Parameter) => Promise<Completion>;
}

/** Completes among the arguments of a called program: its own inputs first, then this program's flags. */
async function completeBehind<C>(
  op: Operation<C>,
  { name, behind, typed, flags, ask }: Behind,
  { open }: Sources<C>,
): Promise<Completion> {
  const callee = await op.callee?.(name, await open()).catch(() => undefined);
  const inputs = callee?.inputs ?? [];
  const isTheirs = behind.includes('--');
  const last = behind.at(-1) ?? '';
  const input = inputs.find((each) => !each.isPositional && each.label === last);
  if (input !== undefined && !input.isSwitch) return inputValues(input);
  if (!isTheirs) {
    const own = flags.find((each) => `--${each.flag}` === last && each.kind !== 'boolean');
    if (own !== undefined) return ask(own);
  }
  const inline = /^(--?[^=]+)=/.exec(typed);
  const written = inputs.find((each) => each.label === inline?.[1]);
  if (written !== undefined) return prefixed(inputValues(written), `${written.label}=`);
  if (typed.startsWith('-')) {
    const theirs = inputs
      .filter((each) => !each.isPositional && (each.isRepeatable || !behind.includes(each.label)))
      .map(({ label, description }) => ({ value: label, about: description }));
    if (isTheirs) return words(theirs);
    const globals = globalFlags(flags).filter(({ value }) => globalBehind(value) !== undefined);
    return words([...theirs, ...ownFlags(flags, new Map()), ...globals]);
  }
  const place = inputs.find((each) => each.isPositional);
  if (place !== undefined) return inputValues(place);
  return { candidates: [], files: callee?.inputs === null };
}

function inputValues({ choices, isPath }: CalleeInput): Completion {
  return { candidates: choices.map((value) => ({ value, about: '' })), files: isPath };
}

interface ReadSoFar {
  flags: Map<string, string>;
  positionals: string[];
  /** The flag whose value comes next. */
  open: Parameter | 'global' | undefined;
  /** What stands after the name of a called program. */
  behind: string[] | undefined;
}

function readSoFar(args: readonly string[], flags: readonly Parameter[], passes: boolean): ReadSoFar {
  const read: ReadSoFar = { flags: new Map(), positionals: [], open: undefined, behind: undefined };
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (!arg.startsWith('-') || arg === '-') {
      read.positionals.push(arg);
      if (!passes) continue;
      read.behind = args.slice(index + 1);
      return read;
    }
    const [name, inline] = arg.slice(2).split('=', 2);
    const flag = flags.find((each) => each.flag === name);
    const global = flag === undefined ? GLOBAL_FLAGS.find((each) => each.name === name) : undefined;
    const isSwitch =
      flag === undefined ? global === undefined || global.type === 'boolean' : flag.kind === 'boolean';
    if (inline !== undefined || isSwitch) {
      if (flag !== undefined) read.flags.set(flag.key, inline ?? '');
      continue;
    }
    if (index + 1 === args.length) read.open = flag ?? 'global';
    else if (flag !== undefined) read.flags.set(flag.key, args[index + 1]!);
    index++;
  }
  return read;
}

function valuesFor(parameter: Parameter, known: readonly Candidate[] | undefined): Completion {
  if (parameter.enum !== undefined)
    return words(parameter.enum.map((value) => ({ value: String(value), about: '' })));
  // A text of which nothing is known is most often a path.
  return known === undefined ? { candidates: [], files: parameter.kind === 'string' } : words([...known]);
}

function ownFlags(flags: readonly Parameter[], given: ReadonlyMap<string, string>): Candidate[] {
  return flags
    .filter((each) => each.isArray || !given.has(each.key))
    .map((each) => ({
      value: each.kind === 'boolean' && each.default === true ? `--no-${each.flag}` : `--${each.flag}`,
      about: each.description,
    }));
}

function globalFlags(own: readonly Parameter[] = []): Candidate[] {
  return GLOBAL_FLAGS.filter(({ name }) => own.every((each) => each.flag !== name)).map(
    ({ name, description }) => ({ value: `--${name}`, about: description }),
  );
}

function prefixed({ candidates, files }: Completion, prefix: string): Completion {
  return { files, candidates: candidates.map(({ value, about }) => ({ value: prefix + value, about })) };
}

function words(candidates: Candidate[]): Completion {
  return { candidates, files: false };
}
