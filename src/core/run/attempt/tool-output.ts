import type { AcorError } from '../../../protocol/acor-error.ts';
import { LineReader, MAX_LINE_BYTES } from '../../../protocol/jsonl.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { InputPipe } from '../../process/input-pipe.ts';
import { OutputPump, type OutputSinks } from '../../process/output-pump.ts';
import type { RedactedStream } from '../../secrets/redacted-stream.ts';
import type { MeasuredArtifact } from '../../store-files/artifacts.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { RunWorkspace } from '../workspace.ts';
import type { Adapter } from './adapter.ts';
import type { AttemptContext } from './attempt-context.ts';
import { type EndingRace, hasEndedItself } from './ending.ts';
import type { FinalPaths } from './final-paths.ts';
import { after, type StopGuard } from './guards/guard.ts';
import type { Intake } from './intake.ts';
import { RawLog } from './raw-log.ts';

/** Processes the tool's output: enforces the output limit, writes the raw logs, splits lines, turns them into events, and stores these in batches. */
export class ToolOutput implements Disposable {
  readonly pump: OutputPump;
  isStdoutClosed = false;
  /** Whether reading is paused until the next tool of a pipe has caught up. */
  isPaused = false;
  readonly #writer: RunWriter;
  readonly #workspace: RunWorkspace;
  readonly #race: EndingRace;
  readonly #intake: Intake;
  readonly #limit: OutputLimit;
  readonly #adapter: Adapter;
  readonly #splitsAtReturn: boolean;
  readonly #stdoutLines: LineReader;
  readonly #stderrLines: LineReader;
  readonly #finalPaths: ((options: { json: boolean }) => FinalPaths) | undefined;
  readonly #rawLogs: readonly RawLog[];
  readonly #redacted: RedactedStream[] = [];
  /** Pass on what the streams held back. */
  readonly #atEnd: (() => void)[] = [];
  #failure: AcorError | undefined;
  #stopTimer: StopGuard | undefined;

  /**
   * `window` limits how far the tool may run ahead of the next one in its pipe; undefined when no run reads its records. `finalPaths` makes
   * streams name outputs by their final paths; undefined when none is staged.
   */
  constructor(
    attempt: AttemptContext,
    input: Pick<InputPipe, 'write' | 'end'> | undefined,
    window: { readonly isFull: boolean } | undefined,
    finalPaths: ((options: { json: boolean }) => FinalPaths) | undefined,
  ) {
    const { services, plan, writer, intake, race, adapter: kind } = attempt;
    this.#writer = writer;
    this.#workspace = plan.workspace;
    this.#rawLogs = [plan.workspace.stdoutLog, plan.workspace.stderrLog].map((path) => new RawLog(path));
    this.#race = race;
    this.#intake = intake;
    this.#limit = new OutputLimit(race, plan.limits.maxOutputBytes);
    const adapter = this.#makeAdapter(attempt, input);
    this.#adapter = adapter;
    this.#splitsAtReturn = kind.splitsAtReturn ?? false;
    const { taker } = adapter;
    this.#stdoutLines = new LineReader(
      (bytes, start, end, cut) => adapter.line(bytes, start, end, cut),
      MAX_LINE_BYTES,
      {
        keepsEmpty: adapter.keepsEmptyLines ?? false,
        ...(taker && { taker, unkept: (bytes, start, end) => this.#rawLogs[0]!.add(bytes, start, end) }),
      },
    );
    this.#stderrLines = new LineReader((bytes, start, end) => {
      if (adapter.errorLine?.(bytes, start, end)) return;
      intake.diagnostic(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'));
    });
    this.#finalPaths = finalPaths;
    const sinks: OutputSinks = {
      stdout: this.#sink(0, this.#stdoutLines, plan, { json: !kind.isText, hasTaker: taker !== undefined }),
      stderr: this.#sink(1, this.#stderrLines, plan, { json: false, hasTaker: false }),
      onTurn: () => void this.store(),
      ...(window && { isPaused: () => this.#pause(window.isFull) }),
      onStdoutClosed: () => {
        this.isStdoutClosed = true;
      },
    };
    this.pump = new OutputPump(services.runtime, plan.workspace.streams, sinks, attempt.standby?.streams);
  }

  /** The storage error that lost output of the tool; undefined when all output is stored. */
  get failure(): AcorError | undefined {
    return this.#failure;
  }

  /** Flushes the pending events to the log. A storage failure ends the attempt. */
  async store(): Promise<void> {
    if (this.#failure !== undefined) return;
    try {
      this.#storeRaw();
      this.#intake.endBurst();
      await this.#writer.log.flush();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Reads the rest of the output, and passes the exit code to the adapter. */
  async finish(rc: number | null): Promise<void> {
    await this.pump.drain();
    this.#guarded(() => {
      for (const end of this.#atEnd) end();
      for (const stream of this.#redacted) stream.end();
      this.#stdoutLines.end();
      this.#stderrLines.end();
      this.#storeRaw();
    });
    const { winner } = this.#race;
    if (winner !== undefined && hasEndedItself(winner) && this.#failure === undefined) {
      await this.#adapter.settle?.();
      this.#guarded(() => this.#adapter.end(rc));
    }
    await this.store();
    if (this.#failure === undefined)
      await this.#writer.log.assertUntouched().catch((error) => this.#fail(error));
  }

  /** An answer in the form that the tool reads. */
  answerOf(line: string): string {
    return this.#adapter.answer?.(line) ?? line;
  }

  /** The files that the tool reported and the adapter found. */
  get files(): readonly MeasuredArtifact[] {
    return this.#adapter.files ?? [];
  }

  [Symbol.dispose](): void {
    this.#stopTimer?.();
    try {
      this.#adapter.close?.();
    } finally {
      this.pump.close();
      for (const stream of this.#redacted) stream.close();
      for (const log of this.#rawLogs) log.close();
    }
  }

  #makeAdapter(
    { plan, writer, options, intake, adapter, meter }: AttemptContext,
    input: Pick<InputPipe, 'write' | 'end'> | undefined,
  ): Adapter {
    return adapter.make({
      intake,
      meter,
      plan,
      layout: plan.workspace,
      attempt: options.number,
      model: options.model,
      runCreatedMs: Date.parse(writer.record.created_at),
      send: (line) => input?.write(line),
      later: (work) => this.#later(work),
      onLastMessage: () => {
        input?.end();
        this.#stopTimer ??= after(plan.limits.cancelGraceS * 1000, () =>
          this.#later(() => this.#endLingering(intake)),
        );
      },
    });
  }

  /**
   * Passes the bytes of a stream to the output limit, the final paths, the redaction of secrets, the raw log and the line reader, in this order.
   * Where a taker stores lines as they are, the raw log gets only the others.
   */
  #sink(
    stream: 0 | 1,
    lines: LineReader,
    plan: ToolPlan,
    { json, hasTaker }: { json: boolean; hasTaker: boolean },
  ): (bytes: Uint8Array) => void {
    const pass = this.#namingFinalPaths(
      json,
      this.#redacting(plan, json, (bytes) => {
        if (!hasTaker) this.#rawLogs[stream]!.add(bytes, 0, bytes.length);
        this.#intake.beginBurst();
        lines.push(this.#splitsAtReturn ? withNewlines(bytes) : bytes);
      }),
    );
    return (bytes) =>
      this.#guarded(() => {
        const admitted = bytes.subarray(0, this.#limit.count(bytes.length));
        if (admitted.length > 0) pass(admitted);
      });
  }

  #pause(isPaused: boolean): boolean {
    // The pause does not count as silence of the tool.
    if (this.isPaused) this.#intake.lastEventMs = this.#intake.lastProgressMs = performance.now();
    this.isPaused = isPaused;
    return isPaused;
  }

  /** Adds redaction to a stream; a run without secrets has no redactor. */
  #redacting(plan: ToolPlan, json: boolean, pass: (bytes: Uint8Array) => void): (bytes: Uint8Array) => void {
    if (plan.secrets === null) return pass;
    const stream = plan.secrets.redaction.pipe({ json }, { pass, later: (work) => this.#later(work) });
    this.#redacted.push(stream);
    return (bytes) => stream.push(bytes);
  }

  #namingFinalPaths(json: boolean, pass: (bytes: Uint8Array) => void): (bytes: Uint8Array) => void {
    const paths = this.#finalPaths?.({ json });
    if (paths === undefined) return pass;
    this.#atEnd.push(() => pass(paths.end()));
    return (bytes) => {
      const out = paths.push(bytes);
      if (out.length > 0) pass(out);
    };
  }

  #endLingering(intake: Intake): void {
    if (this.#race.winner !== undefined) return;
    intake.warnOnce(
      'lingered',
      undefined,
      'the program did not exit after its last message; the runner stopped it',
    );
    this.#race.end({ kind: 'lingered' });
  }

  /** Runs work that a timer triggers, and stores the events that it makes. */
  #later(work: () => void): void {
    this.#guarded(work);
    void this.store();
  }

  #storeRaw(): void {
    for (const log of this.#rawLogs) log.store();
  }

  /** A storage failure ends the attempt. Later output is read and dropped, so that the tool does not block. */
  #guarded(work: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = storageError(error, 'store the output of the tool', this.#workspace.dir);
    this.#race.end({ kind: 'store-failed', error: this.#failure });
  }
}

/** The bytes with a line end in place of each carriage return. */
function withNewlines(bytes: Uint8Array): Uint8Array {
  return bytes.includes(13) ? bytes.map((byte) => (byte === 13 ? 10 : byte)) : bytes;
}

/** Counts what the tool writes on both streams and ends the attempt at the limit (E_OUTPUT_LIMIT). */
class OutputLimit {
  readonly #race: EndingRace;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(race: EndingRace, maxBytes: number) {
    this.#race = race;
    this.#maxBytes = maxBytes;
  }

  /** Counts bytes, and returns how many of them are within the limit. */
  count(bytes: number): number {
    const room = Math.max(0, this.#maxBytes - this.#bytes);
    this.#bytes += bytes;
    if (bytes > room) this.#race.end({ kind: 'output-limit', maxBytes: this.#maxBytes });
    return Math.min(bytes, room);
  }
}
