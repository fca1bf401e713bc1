import { loadAll } from '../catalog.ts';
import type { CliApp } from '../cli-app.ts';
import { cutToWidth } from '../display-width.ts';
import { findCommand } from '../find-command.ts';
import { globalBehind } from '../globals.ts';
import type { Operation } from '../operation.ts';
import { type Parameter, parametersOf } from '../parameters.ts';
import { safeLine } from '../terminal-text.ts';
import { type Candidate, type Completion, globalFlags, ownFlags, prefixed, words } from './candidates.ts';
import { completeBehind } from './complete-behind.ts';
import { readSoFar } from './read-so-far.ts';
import type { ValuesOf } from './values-of.ts';

const ABOUT_WIDTH = 60;
// Words that a shell reads literally. Untrusted text with other characters is never offered.
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Completes the last of the words after the program's name; it may be empty. */
export async function completeLine<C>(
  app: Pick<CliApp<C>, 'routes'>,
  line: readonly string[],
  open: () => Promise<C>,
  valuesOf: ValuesOf<C>,
): Promise<Completion> {
  const typed = line.at(-1) ?? '';
  const found = await completionOf(app, line.slice(0, -1), typed, { open, valuesOf });
  const seen = new Set<string>();
  const candidates = found.candidates.filter(({ value }) => {
    const fits = value.startsWith(typed) && PLAIN_WORD.test(value) && !seen.has(value);
    seen.add(value);
    return fits;
  });
  return {
    files: found.files,
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
  app: Pick<CliApp<C>, 'routes'>,
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

/** The next possible words of a command's name, each with the description of the command. */
async function nextWords<C>(
  app: Pick<CliApp<C>, 'routes'>,
  begun: readonly string[],
  isHelp: boolean,
): Promise<Candidate[]> {
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
      sources.open,
    );
  }
  if (read.open !== undefined)
    return read.open === 'global' ? { candidates: [], files: args.at(-1) === '--cwd' } : ask(read.open);
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

function valuesFor(parameter: Parameter, known: readonly Candidate[] | undefined): Completion {
  if (parameter.enum !== undefined)
    return words(parameter.enum.map((value) => ({ value: String(value), about: '' })));
  // A text with unknown values is most often a path.
  return known === undefined ? { candidates: [], files: parameter.kind === 'string' } : words([...known]);
}
