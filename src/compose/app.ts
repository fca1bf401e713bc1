import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UnwrittenError } from '../util/write-async.ts';
import { AppError, type NoneYet, usageError } from './app-error.ts';
import type { CliApp, CliIo } from './cli-app.ts';
import type { ConfigLayers } from './config-layers.ts';
import { type FoundCommand, findCommand, unknownCommand } from './find-command.ts';
import { type CommandLine, readFlags } from './flags.ts';
import type { ForwardedCommand } from './forwarded-command.ts';
import { asksForPart, type GlobalFlags, globalBehind } from './globals.ts';
import { NO_INTERRUPTS } from './interrupts.ts';
import type { Operation, OperationContext } from './operation.ts';
import { type Parameter, type ParameterForm, parametersOf } from './parameters.ts';
import { type PlainCommand, readPlainLine } from './plain-command.ts';
import { Reply } from './reply.ts';
import { safeText } from './terminal-text.ts';
import { calledAs, writeCommand } from './write-command.ts';
import { writeOut } from './write-out.ts';

/** The contexts of a call, by their working directories: one is opened when it is first needed, and all are closed after the command. */
class Contexts<C> {
  readonly #app: CliApp<C>;
  readonly #io: CliIo;
  readonly #opened = new Map<string, Promise<C>>();

  constructor(app: CliApp<C>, io: CliIo) {
    this.#app = app;
    this.#io = io;
  }

  open(globals: GlobalFlags, cwd: string): Promise<C> {
    const known = this.#opened.get(cwd);
    if (known !== undefined) return known;
    const opening = this.#open(globals, cwd);
    this.#opened.set(cwd, opening);
    return opening;
  }

  async #open(globals: GlobalFlags, cwd: string): Promise<C> {
    return this.#app.openContext(globals, { ...this.#io, cwd });
  }

  async close(): Promise<void> {
    for (const opening of this.#opened.values()) {
      // The caller that needed a context got the error of a failed opening.
      const opened = await opening.then(
        (context) => ({ context }),
        () => undefined,
      );
      if (opened !== undefined) await this.#app.closeContext?.(opened.context);
    }
  }
}

/** Runs one command line and returns its exit code. It never throws and never exits the process. */
export async function runCli<C>(app: CliApp<C>, argv: string[], io: CliIo): Promise<number> {
  const reply = new Reply(app, io);
  const contexts = new Contexts(app, io);
  try {
    return await answer(app, argv, { io, reply, contexts }).catch((thrown) => {
      if (thrown instanceof UnwrittenError && thrown.fd === io.stdoutFd) throw thrown;
      return reply.thrown(thrown);
    });
  } catch (thrown) {
    return reportUnwritable(app.name, io, thrown);
  }
}

async function answer<C>(app: CliApp<C>, argv: string[], call: Omit<Call<C>, 'line'>): Promise<number> {
  try {
    return await answerWith(app, argv, call);
  } finally {
    await call.contexts.close();
  }
}

async function answerWith<C>(
  app: CliApp<C>,
  argv: string[],
  { io, reply, contexts }: Omit<Call<C>, 'line'>,
): Promise<number> {
  if (argv.some((word) => word.includes('\uFFFD'))) (await import('./lost-bytes.ts')).refuseLostBytes(argv);
  const found = findCommand(app.routes, argv, app.aliases);
  reply.invocation = [calledAs(app), ...found.words].join(' ');
  if (found.route === undefined) return answerWithoutCommand(app, found, reply, io);
  const words = [...calledAs(app).split(' '), ...found.words];
  const plain = app.perform === undefined ? await found.route.plain?.() : undefined;
  const read = plain && readPlainLine(plain, found.args);
  if (plain !== undefined && read !== undefined) {
    const { line, input } = read;
    reply.take(plain, plain.parameters, { words, args: found.args, line });
    return perform(app, plain, input, { line, io, reply, contexts });
  }
  const op = await found.route.load();
  const parameters = parametersOf(op);
  reply.tool = op.name;
  const line = readFlags(parameters, found.args, op);
  const { callee, refusal } = await settleGlobals(op, line, io, contexts);
  reply.take(op, parameters, { words, args: found.args, line });
  if (line.globals.help) {
    if (refusal !== undefined) throw refusal;
    const { calleeHelp, commandHelp } = await import('./help.ts');
    const screen = reply.helpScreen();
    return reply.text(
      callee === undefined
        ? commandHelp(op, reply.invocation, screen)
        : calleeHelp(callee, reply.invocation, screen),
    );
  }
  if (line.globals.version) return reply.text(versionLine(app));
  if (line.unplaced.length > 0) await refuseOther(app, found.words, line, io, reply);
  const input = await inputOf(app, op, parameters, { line, io, reply, contexts });
  return perform(app, op, input, { line, io, reply, contexts });
}

/** A word too many may make it another command: `runs ls`, `explain E_DEADLINE`. Throws what the caller probably meant. */
async function refuseOther<C>(
  app: CliApp<C>,
  words: readonly string[],
  { globals, unplaced, problems }: CommandLine,
  io: CliIo,
  { invocation }: Reply<C>,
): Promise<void> {
  const meant = await app.meant?.([...words, ...unplaced], io);
  if (meant === undefined) return;
  const fix = `Did you mean ${writeCommand(calledAs(app), app.routes, meant, globals.cwd)}?`;
  const {
    code,
    message,
    hint,
    exit,
    details,
    next = [],
  } = usageError(
    problems.map((problem) => ({ ...problem, fix })),
    invocation,
  );
  throw new AppError(code, message, { hint, exit, details, next: [meant, ...next] });
}

/**
 * Global flags may be among the arguments of a called program, unless it declares a flag of that name itself. The
 * program is only looked up when there are such flags; if it does not exist, the operation reports that.
 */
async function settleGlobals<C>(
  op: Operation<C>,
  line: CommandLine,
  io: CliIo,
  contexts: Contexts<C>,
): Promise<{ callee?: ForwardedCommand; refusal?: unknown }> {
  const name = line.given.get(op.positionals?.[0] ?? '')?.[0];
  if (op.callee === undefined || line.passthrough === undefined || typeof name !== 'string') return {};
  const end = line.passthrough.indexOf('--');
  const mine = end === -1 ? line.passthrough : line.passthrough.slice(0, end);
  if (!line.globals.help && !mine.some((arg) => globalBehind(arg) !== undefined)) return {};
  const cwd = resolve(io.cwd, line.globals.cwd ?? '');
  const find = async () => op.callee?.(name, await contexts.open(line.globals, cwd));
  const found = await find().then(
    (callee) => (callee === undefined ? {} : { callee }),
    (refusal: unknown) => ({ refusal }),
  );
  const callee = 'callee' in found ? found.callee : undefined;
  if (callee?.ownsArguments !== true) {
    const { takeGlobals } = await import('./forwarded-globals.ts');
    takeGlobals(line, callee);
  }
  return found;
}

/** A command line, and what answers it. */
interface Call<C> {
  line: CommandLine;
  io: CliIo;
  reply: Reply<C>;
  contexts: Contexts<C>;
}

/** The checked input. A person at the terminal is asked for what is missing. */
async function inputOf<C>(
  app: CliApp<C>,
  op: Operation<C>,
  parameters: readonly Parameter[],
  { line, io, reply, contexts }: Call<C>,
): Promise<Record<string, unknown>> {
  const cwd = directoryOf(line.globals, io, reply.invocation);
  const { invocation } = reply;
  const open = () => contexts.open(line.globals, cwd);
  const layers = parameters.some((each) => each.config !== undefined)
    ? await app.layers?.({ cwd, env: io.env })
    : undefined;
  const wanting = missingInputs(parameters, line, { env: io.env, layers });
  const missing = wanting.find((each) => each.isPositional);
  const person = await reply.person();
  if (person !== null) {
    for (const each of app.asksForMissing === true ? wanting : wanting.filter((one) => one === missing)) {
      const { pickMissing } = await import('./pick-missing.ts');
      const source = { person, context: await open(), signal: io.signal };
      if (!(await pickMissing(app, op, each, line, source))) break;
    }
  }
  const isMissing = missing !== undefined && !line.given.has(missing.key);
  const isOnly = wanting.filter((each) => each.isPositional).length === 1;
  const example =
    isMissing && isOnly ? await exampleHere(app, op, missing, { invocation, open }) : op.example;
  const { readInput } = await import('./input.ts');
  const input = await readInput(op, parameters, line, {
    cwd,
    env: io.env,
    layers,
    readStdin: io.readStdin,
    invocation,
    example,
    none: isMissing && example === undefined ? await noneOf(app, op, missing, open) : undefined,
  });
  if (asksForPart(line.globals) && !asksForStream(op, parameters, line)) {
    const { checkSelection } = await import('./select.ts');
    checkSelection(op, line.globals, invocation);
  }
  return input;
}

/** Performs a command whose input is valid, and answers with its result. */
async function perform<C>(
  app: CliApp<C>,
  op: Operation<C> | PlainCommand<C>,
  input: Record<string, unknown>,
  { line, io, reply, contexts }: Call<C>,
): Promise<number> {
  const cwd = directoryOf(line.globals, io, reply.invocation);
  const person = await reply.person();
  const ctx: OperationContext<C> = {
    app: await contexts.open(line.globals, cwd),
    signal: io.signal,
    audience: reply.audience,
    structured: reply.structured,
    person,
    interrupts: io.interrupts ?? NO_INTERRUPTS,
    page: { limit: line.globals.limit, offset: line.globals.offset },
    cwd,
    env: io.env,
    readStdin: io.readStdin,
    readStdinBytes: io.readStdinBytes,
    hasUnreadStdin: io.hasUnreadStdin,
    note: (text) => void reply.note(text).catch(() => undefined),
    given: givenKeys(reply.parameters, line, input),
  };
  const result = await ('input' in op && app.perform ? app.perform(op, input, ctx) : op.run(input, ctx));
  return await reply.result(op, result, cwd);
}

/** The values that a person can be asked for: nothing else is wrong with the command line. */
function missingInputs(
  parameters: readonly Parameter[],
  line: CommandLine,
  { env, layers }: { env: CliIo['env']; layers: ConfigLayers | undefined },
): Parameter[] {
  if (line.problems.length > 0 || line.inputJson !== undefined) return [];
  const isSet = ({ env: variable, config }: Parameter) =>
    Boolean(variable && env[variable]) || (config !== undefined && layers?.valueOf(config) !== undefined);
  return parameters.filter((each) => each.isRequired && !line.given.has(each.key) && !isSet(each));
}

/** Whether the answer is a stream of lines, whose fields no schema describes. */
function asksForStream<C>(
  op: Operation<C>,
  parameters: readonly Parameter[],
  { given }: CommandLine,
): boolean {
  if (op.streams === undefined) return false;
  return given.has('stream') || parameters.every(({ key }) => key !== 'stream');
}

function givenKeys(
  parameters: readonly ParameterForm[],
  { given, inputJson }: CommandLine,
  input: Readonly<Record<string, unknown>>,
): ReadonlySet<string> {
  if (inputJson === undefined) return new Set(given.keys());
  const isOwn = (each: ParameterForm) => input[each.key] !== undefined && input[each.key] !== each.default;
  return new Set(parameters.filter(isOwn).map(({ key }) => key));
}

/** An example with a value from here, where the application knows such values; undefined where there are none yet. */
async function exampleHere<C>(
  app: CliApp<C>,
  op: Operation<C>,
  { key }: Parameter,
  { invocation, open }: { invocation: string; open: () => Promise<C> },
): Promise<string | undefined> {
  try {
    const values = await (await app.values?.())?.({ op, key, given: new Map() }, await open());
    if (values === undefined) return op.example;
    const [first] = values;
    return first && `${invocation} ${first.value}`;
  } catch {
    // The command itself reports why the application cannot be opened.
    return op.example;
  }
}

/** That no value is there, and the operation that lists what the parameter names, by the names of both: `tool.list` for `tool`. */
async function noneOf<C>(
  app: CliApp<C>,
  { name }: Operation<C>,
  { key }: Parameter,
  open: () => Promise<C>,
): Promise<NoneYet | undefined> {
  const operation = `${key}.list`;
  if (!app.routes.some((route) => route.operation === operation)) return undefined;
  const why = await app.whyNone?.(name, key, await open());
  const list = { operation, input: {}, why: 'List what is there, and how to make the first one.' };
  return { words: why ?? `There is no ${key} here yet.`, list };
}

async function answerWithoutCommand<C>(
  app: CliApp<C>,
  found: FoundCommand<unknown>,
  reply: Reply<C>,
  io: CliIo,
): Promise<number> {
  const line = readFlags([], found.args);
  reply.globals = line.globals;
  const isBare = line.problems.length === 0;
  if (line.globals.version && !line.globals.help) return reply.text(versionLine(app));
  const word = line.unplaced[0];
  const wantsAll = line.globals.help && word === 'all' && found.words.length === 0;
  if (wantsAll || (line.globals.help && word === undefined) || (isBare && !reply.structured)) {
    const { overviewHelp, startHelp } = await import('./help.ts');
    const screen = reply.helpScreen();
    const isFirstPage = app.start !== undefined && found.words.length === 0 && !wantsAll;
    return reply.text(
      isFirstPage ? startHelp(app, app.start!, screen) : await overviewHelp(app, found.words, screen),
    );
  }
  const at = word === undefined ? -1 : found.args.indexOf(word);
  const meant = at === -1 ? undefined : await app.meant?.([...found.words, ...found.args.slice(at)], io);
  throw unknownCommand(app, found, line, meant);
}

function directoryOf(globals: GlobalFlags, io: CliIo, invocation: string): string {
  if (globals.cwd === undefined) return io.cwd;
  const directory = resolve(io.cwd, globals.cwd);
  if (isDirectory(directory)) return directory;
  throw usageError([{ parameter: '--cwd', message: `--cwd: ${directory} is not a directory` }], invocation);
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function versionLine<C>(app: CliApp<C>): string {
  return `${app.name} ${app.version}\n`;
}

/** When the answer cannot be written, report that on stderr; if that fails too, only the exit code is left. */
async function reportUnwritable(name: string, io: CliIo, thrown: unknown): Promise<number> {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  await writeOut(io.stderrFd, `${name}: the answer could not be written: ${safeText(message)}\n`).catch(
    () => false,
  );
  return 1;
}
