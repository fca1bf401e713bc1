import type { CliApp, CliIo } from './app.ts';
import { type Audience, detectAudience } from './audience.ts';
import { type Envelope, type EnvelopeMeta, encodeLine, failure, success } from './envelope.ts';
import { EXIT } from './exit-codes.ts';
import { type Failure, toFailure, withData } from './failure.ts';
import { type GlobalFlags, NO_GLOBAL_FLAGS } from './globals.ts';
import type { Repeatable } from './next-page.ts';
import type { NextStep } from './next-step.ts';
import type { Operation, OperationResult } from './operation.ts';
import { detectScreen, type Screen } from './screen.ts';
import { type Selected, select } from './select.ts';
import { safeLine } from './terminal-text.ts';
import { writeCommand } from './write-command.ts';
import { writeOut } from './write-out.ts';

/** How one command line is answered: who reads, in which form, and on which descriptor. */
export class Reply<C> {
  readonly #app: CliApp<C>;
  readonly #io: CliIo;
  readonly #startedAt = performance.now();
  /** `meta.tool`: the program until the operation is known. */
  tool: string;
  /** The program and its command, for hints. */
  invocation: string;
  globals: GlobalFlags = NO_GLOBAL_FLAGS;
  /** The command line itself, once its command is known. */
  repeatable: Repeatable | undefined;
  /** What was asked for with an operation's own `--format`. */
  format: string | undefined;

  constructor(app: CliApp<C>, io: CliIo) {
    this.#app = app;
    this.#io = io;
    this.tool = app.name;
    this.invocation = app.name;
  }

  get audience(): Audience {
    return detectAudience({
      stdoutIsTTY: this.#io.stdoutIsTTY,
      asksForEnvelope: this.globals.json || this.globals.toon,
      env: this.#io.env,
    });
  }

  get structured(): boolean {
    if (this.globals.json || this.globals.toon || this.format === 'json') return true;
    return this.format === 'table' || this.format === 'text' ? false : this.audience === 'agent';
  }

  screen(): Screen {
    return detectScreen({ isTTY: this.#io.stdoutIsTTY, columns: this.#io.columns, env: this.#io.env });
  }

  /** Help is laid out for a terminal; what reads it from a pipe gets whole lines. */
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

  /** Answers with an operation's result; the exit code is returned. */
  async result(op: Operation<C>, result: OperationResult<unknown>): Promise<number> {
    switch (result.kind) {
      case 'streamed':
        return result.exit;
      case 'failure': {
        const told = withData(this.#toFailure(result.error), result.data);
        return this.#failure(result.exit === undefined ? told : { ...told, exit: result.exit });
      }
      case 'data': {
        if (result.document !== undefined && !this.globals.json && !this.globals.toon) {
          await this.text(result.document);
          return result.exit ?? EXIT.done;
        }
        const selected = await this.#select(op, result.data);
        const meta = this.#meta([...(await this.#nextPage(op, selected)), ...this.#commands(result.next)]);
        meta.count = selected.count;
        meta.total = result.total ?? selected.total;
        meta.hasMore = result.hasMore ?? selected.hasMore;
        meta.tokens = result.tokens;
        if (this.structured) await this.#envelope(success(selected.data, meta));
        else await this.#rendering(op, selected.data, meta);
        return result.exit ?? EXIT.done;
      }
    }
  }

  /** Answers with whatever was thrown; the exit code is returned. */
  thrown(thrown: unknown): Promise<number> {
    return this.#failure(this.#toFailure(thrown));
  }

  // What an operation has done cannot be taken back, so its answer is not withheld for a field it does not have.
  async #select(op: Operation<C>, data: unknown): Promise<Selected> {
    try {
      return select(op, data, this.globals, this.invocation);
    } catch (error) {
      if (op.effect === 'reads') throw error;
      await this.note(`The whole answer is shown: ${error instanceof Error ? error.message : String(error)}`);
      return { data, count: undefined, total: undefined, hasMore: undefined };
    }
  }

  /** The command for the rest of a list that `--limit` has cut. A page of nothing leads nowhere. */
  async #nextPage(op: Operation<C>, { hasMore, count }: Selected): Promise<string[]> {
    if (hasMore !== true || !count || this.repeatable === undefined) return [];
    const { nextPageCommand } = await import('./next-page.ts');
    const command = nextPageCommand(op, this.repeatable, (this.globals.offset ?? 0) + count);
    return command === undefined ? [] : [command];
  }

  #toFailure(thrown: unknown): Failure {
    return toFailure(thrown, this.#app, {
      signal: this.#io.signal,
      showsStack: Boolean(this.#io.env['DEBUG']),
    });
  }

  async #failure(told: Failure): Promise<number> {
    // Only a person at a terminal is spared the envelope: a piped table has no place for an error.
    if (this.structured || this.audience === 'agent') {
      await this.#envelope(failure(told.error, this.#meta(this.#commands(told.next))));
    } else {
      const [{ renderFailure }, { isatty }] = await Promise.all([import('./render.ts'), import('node:tty')]);
      const { stderrFd } = this.#io;
      // The screen is that of stdout; stderr may be a file for all that.
      const screen = { ...this.screen(), ...(!isatty(stderrFd) && { color: false }) };
      await writeOut(stderrFd, renderFailure(told.error, this.#commands(told.next), screen));
    }
    return told.exit;
  }

  async #envelope(envelope: Envelope): Promise<void> {
    if (!this.globals.toon) {
      await writeOut(this.#io.stdoutFd, encodeLine(envelope));
      return;
    }
    const { encodeToon } = await import('./toon.ts');
    await writeOut(this.#io.stdoutFd, await encodeToon(envelope, this.#io.stdoutIsTTY));
  }

  async #rendering(op: Operation<C>, data: unknown, meta: EnvelopeMeta): Promise<void> {
    const { renderAnswer } = await import('./render.ts');
    // The operation's own rendering counts on all of its fields.
    const render = this.globals.fields === undefined ? op.render?.bind(op) : undefined;
    await writeOut(this.#io.stdoutFd, renderAnswer(data, meta, this.screen(), render));
  }

  #commands(next: readonly NextStep[] = []): string[] {
    return next.map((step) => writeCommand(this.#app.name, this.#app.routes, step));
  }

  #meta(next: readonly string[]): EnvelopeMeta {
    const elapsed = Math.round((performance.now() - this.#startedAt) * 10) / 10;
    return { tool: this.tool, elapsed, next };
  }
}
