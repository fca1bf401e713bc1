import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { OutputSpec } from '../../../protocol/manifest-output.ts';
import { settingsOf } from '../../../protocol/output-settings.ts';
import type { RecordedRun } from '../../../protocol/recorded-run.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import { readRecording } from '../../adapters/recorded-run.ts';
import { toolName } from '../adopt/adopt.ts';
import { type DraftInput, type DraftInputs, describedInputs, draftInputs } from '../adopt/draft-inputs.ts';
import { draftManifest } from '../adopt/draft-manifest.ts';
import { type FoundHelp, findHelp, withFurtherTexts } from '../adopt/find-help.ts';
import { offersOf } from '../adopt/offers.ts';
import type { AdoptPlace } from '../adopt/place.ts';
import { callsFor, commandOf, type Observed } from '../contract/observe.ts';
import { structuredFlag } from '../contract/structured-flag.ts';
import { type Command, leaves, optionsOf } from '../contract/surface.ts';
import { type ErrorMapping, errorMapping } from './error-mapping.ts';
import { formOf, schemaOf } from './infer-output.ts';
import type { Primitive, Primitives } from './primitives.ts';
import { deprecatedScript, wrapperScript } from './programs.ts';
import { type Recorder, recordCall } from './record-call.ts';

/** Options that change the form of the output, which the migration fixes. */
const SHAPES =
  /^--?(?:json|jq|template|format|output-format|pretty|porcelain|oneline|graph|stat|shortstat|numstat|patch|color|colour|no-color|csv|tsv|yaml|xml|html|table|box|line|list|column|markdown|quote|tabs|ascii|header|noheader|help|version|null|raw|verbose)$/;
/** A person would not read a longer recording. */
const MAX_RECORDING = 100_000;

/** A file that the migration writes. */
export interface MigrationFile {
  path: string;
  text: string;
  mode?: number;
}

/** One tool of a migration. */
export interface MigratedTool {
  name: string;
  /** Its words in the wrapper. */
  command: string;
  call: string[];
  replaces: string[];
  output: string;
  inputs: number;
  recorded: string[];
  uncertain: { input: string; check: string }[];
}

/** What could not be raised, and what would raise it. */
export interface NotRaised {
  what: string;
  why: string;
}

export interface Migration {
  program: string;
  tools: MigratedTool[];
  files: MigrationFile[];
  not_raised: NotRaised[];
  /** How many commands the program has, and how many of them the tools replace. */
  coverage: { commands: number; migrated: number };
  /** The digest of the files, without the recordings, which differ from call to call. */
  token: string;
}

/** Where the files go, and how tools name the program. */
export interface MigrationPlace extends AdoptPlace {
  toolsDir: string;
  /** The folder for the wrapper and the old command line. */
  folder: string;
  modelineFor(name: string): string | null;
}

/** Drafts a tool for each primitive from its help, records it once, and declares the form of what it wrote. */
export async function planMigration(
  at: MigrationPlace,
  observed: Observed,
  declared: Primitives,
  recorder: Recorder,
  signal: AbortSignal,
): Promise<Migration> {
  const program = basename(observed.program);
  const mapping = errorMapping(observed);
  const names = new Set<string>();
  const migration: Migration = {
    program,
    tools: [],
    files: [],
    not_raised: [],
    coverage: { commands: leaves(observed.surface).length, migrated: 0 },
    token: '',
  };
  for (const primitive of [...declared.primitives, ...foundBy(observed, declared)]) {
    signal.throwIfAborted();
    await addTool({ at, observed, declared, recorder, program, mapping, names }, primitive, migration);
  }
  const replaced = migration.tools.map(({ name, replaces }) => ({ tool: name, words: replaces }));
  if (replaced.length > 0)
    migration.files.push(
      { path: join(at.folder, program), text: wrapperScript(program), mode: 0o755 },
      {
        path: join(at.folder, 'deprecated', program),
        text: deprecatedScript(program, at.place.program, replaced),
        mode: 0o755,
      },
    );
  const isReplaced = (words: readonly string[]) =>
    migration.tools.some(({ replaces }) => replaces.join(' ') === words.join(' '));
  const open = leaves(observed.surface).filter(({ words }) => !isReplaced(words));
  migration.coverage.migrated = leaves(observed.surface).length - open.length;
  for (const { words } of open)
    migration.not_raised.push({
      what: shellCommand([program, ...words]),
      why: `no call of it is recorded: name one with --call '${words.join(' ')} …', or in the file of --primitives`,
    });
  const hash = createHash('sha256');
  for (const { path, text } of migration.files)
    if (!path.endsWith('.json')) hash.update(`${path}\0${text.length}\0${text}`);
  return { ...migration, token: hash.digest('hex') };
}

interface Surroundings {
  at: MigrationPlace;
  observed: Observed;
  declared: Primitives;
  recorder: Recorder;
  program: string;
  mapping: ErrorMapping;
  names: Set<string>;
}

/** The reading commands that the audit has called and that answered: with their flag for JSON, where they have one. */
function foundBy(observed: Observed, { primitives }: Primitives): Primitive[] {
  const { surface } = observed;
  const isDeclared = (words: readonly string[]) =>
    primitives.some(({ call }) => words.every((word, at) => call[at] === word));
  return callsFor(observed, 'read')
    .filter(({ command, rc }) => rc === 0 && command !== null && !isDeclared(command.words))
    .map(({ command }) => ({
      call: [...command!.words, ...(structuredFlag(optionsOf(surface, command!), command!.text) ?? [])],
      sample: [],
      errors: [],
      exit_codes: {},
      replaces: [...command!.words],
    }));
}

async function addTool(around: Surroundings, primitive: Primitive, migration: Migration): Promise<void> {
  const { at, observed, recorder, program, names } = around;
  const { call, sample } = primitive;
  const command = commandIn(observed.surface, call);
  const words = command?.words ?? [];
  const shown = shellCommand([program, ...call, ...sample]);
  const own = primitive.name ?? words.join('-');
  const name = toolName(own === '' ? program : `${program}-${own}`, names);
  const found = await helpOf(at, program, words);
  if (found === undefined) {
    migration.not_raised.push({ what: shown, why: 'it prints no usable help, so its inputs are unknown' });
    return;
  }
  const inputs = inputsFor(found, primitive, words);
  const file = join(at.toolsDir, name, 'tool.yaml');
  const parts = {
    around,
    primitive,
    found,
    inputs,
    name,
    summary: command?.summary ?? '',
    effect: command?.effect,
  };
  const first = draftOf(parts, {
    entry: at.place.program,
    modeline: null,
    reading: { output: 'text', errors: [], exit_codes: around.mapping.exit_codes },
  });
  const recorded = await recordCall(recorder, name, first, sample);
  if (
    'trouble' in recorded ||
    recorded.rc !== 0 ||
    (recorded.stdout === '' && primitive.output === undefined)
  ) {
    const said = 'trouble' in recorded ? recorded.trouble : lastLine(recorded.stderr || recorded.stdout);
    const how = 'trouble' in recorded ? '' : `exit ${recorded.rc}`;
    migration.not_raised.push({
      what: shown,
      why: `its recorded call gave no data (${[how, said].filter(Boolean).join(': ')}): name a call that succeeds here`,
    });
    return;
  }
  const reading = {
    output: primitive.output ?? formOf(recorded.stdout),
    errors: [...primitive.errors, ...around.mapping.errors],
    exit_codes: { ...around.mapping.exit_codes, ...primitive.exit_codes },
  };
  const read = readRecording(reading, recorded);
  if ('code' in read) {
    migration.not_raised.push({ what: shown, why: `its output is not what is declared: ${read.why}` });
    return;
  }
  const { format } = settingsOf(reading.output);
  if (format === 'text')
    migration.not_raised.push({ what: shown, why: 'its text shows no form: declare it under output' });
  const manifest = draftOf(parts, {
    entry: at.programFor(join(at.toolsDir, name)),
    modeline: at.modelineFor(name),
    reading,
    schema: format === 'text' ? undefined : schemaOf(read.data),
  });
  migration.files.push({ path: file, text: manifest });
  const record: RecordedRun = { args: sample, ...recorded, data: read.data };
  const text = `${JSON.stringify(record, null, 2)}\n`;
  const test = join(at.toolsDir, name, 'tests', 'recorded.json');
  if (text.length <= MAX_RECORDING) migration.files.push({ path: test, text });
  else
    migration.not_raised.push({
      what: shown,
      why: 'its recorded output is too long for a test: sample less',
    });
  migration.tools.push({
    name,
    command: own === '' ? 'run' : own,
    call,
    replaces: primitive.replaces.length > 0 ? primitive.replaces : [...words],
    output: format,
    inputs: inputs.inputs.length,
    recorded: sample,
    uncertain: inputs.inputs.flatMap(({ keys, doubts }) =>
      doubts.map((check) => ({ input: String(keys['name']), check })),
    ),
  });
}

/** The command of a call, behind the options that the program takes before it. */
function commandIn(surface: Observed['surface'], call: readonly string[]): Command | null {
  for (const at of call.keys()) {
    const found = commandOf(surface, call.slice(at));
    if (found !== null) return found;
  }
  return null;
}

async function helpOf(
  at: MigrationPlace,
  program: string,
  words: readonly string[],
): Promise<FoundHelp | undefined> {
  const found = await findHelp(at.place, [program, ...words]);
  return typeof found === 'string' ? undefined : withFurtherTexts(at.place, [program, ...words], found);
}

/** The inputs of the help that do not change the form of the output, or those that the author names. */
function inputsFor({ help }: FoundHelp, { inputs, call }: Primitive, words: readonly string[]): DraftInputs {
  const drafted = describedInputs(draftInputs({ ...help, commands: words.length > 0 ? [] : help.commands }));
  const named = new Map(drafted.inputs.map((each) => [String(each.keys['name']), each]));
  const fixed = call.map((word) => word.replace(/=.*/s, ''));
  const isFree = ({ keys }: DraftInput) => {
    const flag = String(keys['flag'] ?? `--${String(keys['name']).replaceAll('_', '-')}`);
    return keys['positional'] === true || (!fixed.includes(flag) && !SHAPES.test(flag));
  };
  const kept =
    inputs?.map((each): DraftInput => {
      if (typeof each !== 'string') return { keys: withoutDefaults(each), doubts: [] };
      return (
        named.get(each) ?? {
          keys: { name: each, description: `The option ${each}.` },
          doubts: ['the help does not name it'],
        }
      );
    }) ?? drafted.inputs.filter(isFree);
  // The program has its own defaults: passing them in each call would override its configuration.
  return { inputs: kept.map(withoutDefault), leftOut: drafted.leftOut };
}

function withoutDefault({ keys: { default: _, ...keys }, doubts, ...rest }: DraftInput): DraftInput {
  return { keys, doubts: doubts.filter((doubt) => !doubt.includes('default')), ...rest };
}

/** The keys of an input that its author set. */
function withoutDefaults(input: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== false && value !== 'string'),
  );
}

interface DraftedTool {
  around: Surroundings;
  primitive: Primitive;
  found: FoundHelp;
  inputs: DraftInputs;
  name: string;
  summary: string;
  effect: string | undefined;
}

interface Reading {
  entry: string;
  modeline: string | null;
  reading: { output: OutputSpec; errors: Primitive['errors']; exit_codes: ErrorMapping['exit_codes'] };
  schema?: Record<string, unknown> | undefined;
}

function draftOf(
  { around, primitive, found, inputs, name, summary, effect }: DraftedTool,
  { entry, modeline, reading: { output, errors, exit_codes }, schema }: Reading,
): string {
  const { at, declared, program } = around;
  const description =
    primitive.summary ?? (found.help.description || summary || `${program} ${primitive.call.join(' ')}`);
  const offers = offersOf(found.text, found.help, []);
  const cwd = declared.cwd ?? (offers.some(({ key }) => key === 'cwd') ? 'project' : undefined);
  const known = primitive.effects ?? (effect === 'unknown' ? undefined : effect);
  return draftManifest({
    ...{ name, modeline, source: found.source, help: { ...found.help, description }, inputs, offered: [] },
    reads: [...at.reads, ...declared.read],
    first: {
      description,
      category: program,
      command: [entry, ...primitive.call],
      adapter: 'plain',
      ...(cwd !== undefined && { cwd }),
      ...(output !== 'text' && { output: withoutDefaultsOf(output) }),
      ...(errors.length > 0 && { errors }),
    },
    last: {
      ...(schema !== undefined && { output_schema: schema }),
      timeout_s: 300,
      exit_codes,
      effects: known ?? 'writes',
      health: { selftest: primitive.sample },
      examples: [{ description: 'As it was recorded.', args: primitive.sample }],
    },
  });
}

/** The settings that an author has to write. */
function withoutDefaultsOf(output: OutputSpec): unknown {
  if (typeof output === 'string') return output;
  const { skip, types, ...rest } = output;
  return { ...rest, ...(skip > 0 && { skip }), ...(Object.keys(types).length > 0 && { types }) };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
}
