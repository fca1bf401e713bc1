import { type Audience, detectAudience } from '../util/audience.ts';
import { writeAsync } from '../util/write-async.ts';
import { EXIT } from './app-error.ts';
import type { CliApp, CliIo } from './cli-app.ts';
import { type Envelope, type EnvelopeMeta, encodeLine, failure, success } from './envelope.ts';
import type { Failure } from './failure.ts';
import { asksForPart, type GlobalFlags, NO_GLOBAL_FLAGS } from './globals.ts';
import { NO_INTERRUPTS } from './interrupts.ts';
import type { Repeatable } from './next-page.ts';
import type { NextStep } from './next-step.ts';
import type { Answer, DataResult, EventsResult, OperationDescription, OperationResult } from './operation.ts';
import type { ParameterForm } from './parameters.ts';
import type { Person } from './person.ts';
import { detectScreen, type Screen } from './screen.ts';
import type { Selected } from './select.ts';
import type { Presenter, Terminal } from './terminal.ts';
import { safeLine, safeText } from './terminal-text.ts';
import { calledAs, inFolder, writeCommand } from './write-command.ts';
import { writeLines, writeOut } from './write-out.ts';

/** Wide enough that no cell of a table is cut. */
const PIPE_WIDTH = 10_000;

/** What an answer depends on. Without `output` the data alone says which array is its list. */
export type AnsweredOperation = Pick<
  OperationDescription,
  'name' | 'effect' | 'list' | 'pageSize' | 'passthrough'
> &
  Partial<Pick<OperationDescription, 'output'>>;

/** How to answer one command line: the audience, the format, and the descriptor. */
export class Reply<C> {
  readonly #app: CliApp<C>;
  readonly #io: CliIo;
  readonly #startedAt = performance.now();
  #terminal: Promise<Terminal | undefined> | undefined;
  /** `meta.tool`: the program's name until the operation is known. */
  tool: string;
  /** The program and its command, for hints. */
  invocation: string;
  globals: GlobalFlags = NO_GLOBAL_FLAGS;
  /** Those of the operation, once it is known. */
  parameters: readonly ParameterForm[] = [];
  #repeatable: Repeatable | undefined;
  /** The value of an operation's own `--format`, if it was passed; the schema's default does not count. */
  #format: string | undefined;

  constructor(app: CliApp<C>, io: CliIo) {
    this.#app = app;
    this.#io = io;
    this.tool = app.name;
    this.invocation = calledAs(app);
  }

  /** Answers for an operation from here on, which this command line calls. */
  take(op: AnsweredOperation, parameters: readonly ParameterForm[], repeatable: Repeatable): void {
    const { globals, given } = repeatable.line;
    if (globals.limit === undefined && globals.maxTokens === undefined) globals.limit = op.pageSize;
    const format = parameters.some(({ key }) => key === 'format') ? given.get('format')?.[0] : undefined;
    this.tool = op.name;
    this.globals = globals;
    this.parameters = parameters;
    this.#repeatable = repeatable;
    this.#format = typeof format === 'string' ? format : undefined;
  }

  get audience(): Audience {
    return detectAudience({
      stdoutIsTTY: this.#io.stdoutIsTTY,
      asksForEnvelope: this.globals.json || this.globals.toon,
      env: this.#io.env,
    });
  }

  get structured(): boolean {
    if (this.globals.json || this.globals.toon || this.#format === 'json') return true;
    return !this.#isText && this.audience === 'agent';
  }

  /** Whether a failure is rendered for a person. A piped table has no place for an error. */
  get #isRendered(): boolean {
    return !this.structured && (this.audience !== 'agent' || this.globals.text);
  }

  get #isText(): boolean {
    return this.globals.text || this.#format === 'table' || this.#format === 'text';
  }

  screen(): Screen {
    const { stdoutIsTTY, columns, env } = this.#io;
    const screen = detectScreen({ isTTY: stdoutIsTTY, columns, env });
    // Of a pipe the width is unknown: nothing is cut for it.
    return this.#isText && !stdoutIsTTY && !(Number(env.COLUMNS) > 0)
      ? { ...screen, width: PIPE_WIDTH }
      : screen;
  }

  /** On a terminal, help is wrapped to the screen; in a pipe, lines stay whole. */
  helpScreen(): Screen {
    const { stdoutIsTTY, env } = this.#io;
    const isSized = stdoutIsTTY || Number(env.COLUMNS) > 0;
    return isSized ? this.screen() : { ...this.screen(), width: Number.POSITIVE_INFINITY };
  }

  /** Writes a document that is the product itself. */
  async text(text: string): Promise<number> {
    await writeOut(this.#io.stdoutFd, text);
    return EXIT.done;
  }

  /** Writes a line for people to stderr. */
  note(line: string): Promise<boolean> {
    return writeOut(this.#io.stderrFd, `${safeLine(line)}\n`);
  }

  /** The person to ask: only if both stdin and stdout are terminals. */
  async person(): Promise<Person | null> {
    const { stdinIsTTY, stdoutIsTTY } = this.#io;
    if (this.audience !== 'person' || !stdinIsTTY || !stdoutIsTTY) return null;
    const terminal = await this.#loadTerminal();
    return terminal?.person(this.screen(), (line) => void this.note(line).catch(() => undefined)) ?? null;
  }

  /** Shows an operation's result and returns the exit code. */
  async result(op: AnsweredOperation, result: OperationResult<unknown>, cwd: string): Promise<number> {
    switch (result.kind) {
      case 'events':
        return this.#events(op, result, cwd);
      case 'document':
        if (this.globals.json || this.globals.toon) return this.#answer(op, { ...result, kind: 'data' });
        // It may hold what a tool has written.
        await this.text(this.#io.stdoutIsTTY ? safeText(result.document) : result.document);
        return result.programExit ?? EXIT.done;
      case 'bytes':
        return this.#io.stdoutIsTTY ? this.thrown(result.refusal) : this.#bytes(result.bytes);
      case 'data':
      case 'failure':
        return this.#answer(op, result);
    }
  }

  async #bytes(bytes: AsyncIterable<Uint8Array>): Promise<number> {
    for await (const chunk of bytes) if ((await writeAsync(this.#io.stdoutFd, chunk)) === 'closed') break;
    return EXIT.done;
  }

  /** Answers with any thrown value and returns the exit code. */
  async thrown(thrown: unknown): Promise<number> {
    return this.#failure(await this.#toFailure(thrown));
  }

  async #answer(op: AnsweredOperation, answer: Answer<unknown>): Promise<number> {
    if (answer.kind === 'data') return this.#data(op, answer);
    const { error, data, exit } = answer;
    const { withData } = await import('./failure.ts');
    const failure = withData(await this.#toFailure(error), await this.#selectedData(op, data));
    if (!this.structured && data !== undefined) await this.#failureData(op, data);
    if (this.#isRendered) {
      const presenter = await this.#presenter(op);
      await presenter?.failed?.(failure.error.details, {
        screen: this.screen(),
        stdoutFd: this.#io.stdoutFd,
      });
    }
    return this.#failure(exit === undefined ? failure : { ...failure, exit }, answer.warnings);
  }

  async #data(op: AnsweredOperation, result: DataResult<unknown>): Promise<number> {
    const { unselected, ...selected } = await this.#select(op, result);
    const warnings = unselected === undefined ? result.warnings : [...(result.warnings ?? []), unselected];
    const nextPage = selected.next === undefined ? await this.#nextPage(op, selected) : [];
    const meta = this.#meta([...nextPage, ...this.#commands(selected.next ?? result.next)]);
    meta.count = selected.count;
    meta.total = result.total ?? selected.total;
    meta.hasMore = result.hasMore ?? selected.hasMore;
    meta.tokens = result.tokens;
    meta.plan = result.plan;
    meta.warnings = warnings;
    if (this.structured)
      await this.#envelope(success(selected.data, { ...meta, warnings: this.#warnings(warnings) }));
    else await this.#rendering(op, selected.data, meta);
    return result.programExit ?? EXIT.done;
  }

  async #events(op: AnsweredOperation, result: EventsResult<unknown>, cwd: string): Promise<number> {
    const presenter = this.structured ? undefined : await this.#presenter(op);
    const isForPipe = this.globals.text && !this.#io.stdoutIsTTY;
    const isShownByPresenter = presenter?.events !== undefined;
    if (isShownByPresenter ? isForPipe : !result.stream || this.#wantsAnswer())
      return this.#answer(op, (await result.ended()).answer);
    const shown = await this.#showEvents(result, presenter, cwd).catch((error: unknown) => ({ error }));
    // A failing view, for example on a full disk behind stdout, must not end the process before the work is done.
    const { answer, next = [], notes = [] } = await result.ended();
    if (typeof shown === 'object') throw shown.error;
    if (shown === 'answer') return this.#answer(op, answer);
    for (const line of [...notes, ...this.#commands(next)]) await this.note(line);
    if (answer.kind === 'data') return answer.programExit ?? EXIT.done;
    return answer.exit ?? (await this.#toFailure(answer.error)).exit;
  }

  /** Whether the caller gave flags that only the answer at the end follows, and did not ask for the stream itself. */
  #wantsAnswer(): boolean {
    if (!this.globals.toon && !asksForPart(this.globals)) return false;
    const isGiven = this.#repeatable?.line.given.has('stream') === true;
    return !isGiven && this.parameters.some(({ key }) => key === 'stream');
  }

  async #showEvents(
    result: EventsResult<unknown>,
    presenter: Presenter | undefined,
    cwd: string,
  ): Promise<'shown' | 'answer'> {
    const { stdoutFd, signal, interrupts = NO_INTERRUPTS } = this.#io;
    if (presenter?.events !== undefined)
      return presenter.events(result, {
        screen: this.screen(),
        stdoutFd,
        signal,
        cwd,
        interrupts,
        fromCaller: (command) => inFolder(command, calledAs(this.#app), this.globals.cwd),
        part: this.globals,
      });
    const events = await this.#selectedEvents(result.events);
    if (this.globals.text) return this.#showText(events);
    for await (const lines of events) if ((await writeLines(stdoutFd, lines)) === 'closed') break;
    return 'shown';
  }

  /** Each line of a stream as text, followed by an empty line. The answer follows, unless a part of the lines was asked for. */
  async #showText(events: AsyncIterable<Uint8Array>): Promise<'shown' | 'answer'> {
    const { renderAnswer } = await import('./render.ts');
    const { stdoutFd } = this.#io;
    for await (const lines of events) {
      const records = new TextDecoder()
        .decode(lines)
        .split('\n')
        .filter((line) => line !== '');
      const texts = records.map((line) =>
        renderAnswer(JSON.parse(line), this.#meta([]), this.screen(), undefined),
      );
      if (!(await writeOut(stdoutFd, texts.map((text) => `${text}\n`).join('')))) break;
    }
    return asksForPart(this.globals) ? 'shown' : 'answer';
  }

  async #selectedEvents(events: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
    if (!asksForPart(this.globals)) return events;
    return (await import('./select-lines.ts')).selectLines(events, this.globals);
  }

  async #presenter(op: AnsweredOperation): Promise<Presenter | undefined> {
    return (await this.#loadTerminal())?.presenter(op.name);
  }

  #loadTerminal(): Promise<Terminal | undefined> {
    this.#terminal ??= this.#app.terminal?.() ?? Promise.resolve(undefined);
    return this.#terminal;
  }

  /** The part of a failure's data that a person sees; an envelope has all of it in its details. */
  async #failureData(op: AnsweredOperation, data: unknown): Promise<void> {
    const presenter = await this.#presenter(op);
    const screen = { ...this.screen(), color: false };
    for (const line of presenter?.failure?.(data as never, screen) ?? []) await this.note(line);
  }

  // The operation's work cannot be undone, so its answer is shown even if a requested field is missing.
  async #select(
    op: AnsweredOperation,
    result: DataResult<unknown>,
  ): Promise<Selected & { unselected?: string }> {
    const { select } = await import('./select.ts');
    try {
      return select(op, result, this.globals, this.invocation);
    } catch (error) {
      if (op.effect === 'reads') throw error;
      const { message, hint } = (await this.#toFailure(error)).error;
      const unselected = `the whole answer is shown: ${message}. ${hint}`;
      return { data: result.data, count: undefined, total: undefined, hasMore: undefined, unselected };
    }
  }

  /** The requested fields of a failure's data; all of them where it does not have one. */
  async #selectedData(op: AnsweredOperation, data: unknown): Promise<unknown> {
    if (data === undefined || this.globals.fields === undefined) return data;
    const { select } = await import('./select.ts');
    const { fields } = this.globals;
    try {
      return select(op, { data }, { ...NO_GLOBAL_FLAGS, fields }).data;
    } catch {
      return data;
    }
  }

  /** The command for the rest of a list that `--limit` has cut. An empty page has no next one. */
  async #nextPage(op: AnsweredOperation, { hasMore, count }: Selected): Promise<string[]> {
    if (hasMore !== true || !count || this.#repeatable === undefined) return [];
    const { nextPageCommand } = await import('./next-page.ts');
    const offset = (this.globals.offset ?? 0) + count;
    const command = nextPageCommand(op, this.#repeatable, offset, this.parameters);
    return command === undefined ? [] : [command];
  }

  async #toFailure(thrown: unknown): Promise<Failure> {
    const { toFailure } = await import('./failure.ts');
    return toFailure(thrown, this.#app, {
      signal: this.#io.signal,
      showsStack: Boolean(this.#io.env['DEBUG']),
    });
  }

  async #failure(problem: Failure, warnings?: readonly string[]): Promise<number> {
    if (!this.#isRendered) {
      const meta = { ...this.#meta(this.#commands(problem.next)), warnings: this.#warnings(warnings) };
      await this.#envelope(failure(problem.error, meta));
    } else {
      const [{ renderFailure }, { isatty }] = await Promise.all([import('./render.ts'), import('node:tty')]);
      const { stderrFd } = this.#io;
      // The screen is that of stdout, even if stderr is a file.
      const screen = { ...this.screen(), ...(!isatty(stderrFd) && { color: false }) };
      await writeOut(stderrFd, renderFailure(problem.error, this.#commands(problem.next), screen));
    }
    return problem.exit;
  }

  async #envelope(envelope: Envelope): Promise<void> {
    if (!this.globals.toon) {
      await writeOut(this.#io.stdoutFd, encodeLine(envelope));
      return;
    }
    const { encodeToon } = await import('./toon.ts');
    await writeOut(this.#io.stdoutFd, await encodeToon(envelope, this.#io.stdoutIsTTY));
  }

  async #rendering(op: AnsweredOperation, data: unknown, meta: EnvelopeMeta): Promise<void> {
    const { renderAnswer } = await import('./render.ts');
    for (const warning of meta.warnings ?? []) await this.#warning(warning);
    // A presenter of its own needs all fields.
    const presenter = this.globals.fields === undefined ? await this.#presenter(op) : undefined;
    const { stdoutFd } = this.#io;
    const isWritten = (await presenter?.write?.(data as never, stdoutFd)) === true;
    if (isWritten && meta.next?.length === 0) return;
    const render = isWritten ? () => '' : presenter?.data;
    await writeOut(stdoutFd, renderAnswer(data, meta, this.screen(), render));
  }

  async #warning(warning: string): Promise<void> {
    const { wrapToWidth } = await import('./wrap-to-width.ts');
    const width = Math.max(8, this.screen().width);
    for (const line of wrapToWidth(safeLine(`warning: ${warning}`), width)) await this.note(line);
  }

  #commands(next: readonly NextStep[] = []): string[] {
    const { cwd } = this.globals;
    return next.map((step) => writeCommand(calledAs(this.#app), this.#app.routes, step, cwd));
  }

  /** People have read those of the application on stderr. */
  #warnings(more: readonly string[] = []): readonly string[] {
    return [...(this.#app.warnings?.() ?? []), ...more];
  }

  #meta(next: readonly string[]): EnvelopeMeta {
    const elapsed = Math.round((performance.now() - this.#startedAt) * 10) / 10;
    return { tool: this.tool, elapsed, next };
  }
}
