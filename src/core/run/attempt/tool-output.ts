import { closeSync, openSync } from 'node:fs';
import type { AcorError } from '../../../protocol/acor-error.ts';
import { LineReader, MAX_LINE_BYTES } from '../../../protocol/jsonl.ts';
import { writeFully } from '../../../util/atomic-write.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { InputPipe } from '../../process/input-pipe.ts';
import { OutputPump } from '../../process/output-pump.ts';
import type { RedactedStream } from '../../secrets/redacted-stream.ts';
import type { MeasuredArtifact } from '../../store-files/artifacts.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { Adapter } from './adapter.ts';
import type { AttemptContext } from './attempt-context.ts';
import { type EndingRace, hasEndedItself } from './ending.ts';
import { after, type StopGuard } from './guards/guard.ts';
import { OutputLimit } from './guards/output-limit.ts';
import type { Intake } from './intake.ts';

/** Takes the tool's bytes: counts them, keeps them raw in the logs, cuts them into lines, makes events of these, stores these in bursts. */
export class ToolOutput implements Disposable {
  readonly pump: OutputPump;
  isStdoutClosed = false;
  /** Whether nothing is read, because the next tool of a pipe has to catch up. */
  isPaused = false;
  readonly #writer: RunWriter;
  readonly #race: EndingRace;
  readonly #intake: Intake;
  readonly #adapter: Adapter;
  readonly #stdoutLines: LineReader;
  readonly #stderrLines: LineReader;
  readonly #rawFds: number[] = [];
  readonly #redacted: RedactedStream[] = [];
  #failure: AcorError | undefined;
  #stopTimer: StopGuard | undefined;

  /** `window` says how far the tool is ahead of the next one in its pipe; undefined when its records are not read. */
  constructor(
    { services, plan, writer, options, intake, race, adapter: kind }: AttemptContext,
    input: Pick<InputPipe, 'write' | 'end'> | undefined,
    window: { readonly isFull: boolean } | undefined,
  ) {
    this.#writer = writer;
    this.#race = race;
    this.#intake = intake;
    const adapter = kind.make({
      intake,
      plan,
      layout: writer.layout,
      attempt: options.number,
      runMadeMs: Date.parse(writer.record.created_at),
      send: (line) => input?.write(line),
      later: (work) => this.#later(work),
      onLastWord: () => {
        input?.end();
        this.#stopTimer ??= after(plan.limits.cancelGraceS * 1000, () =>
          this.#later(() => this.#overstay(intake)),
        );
      },
    });
    this.#adapter = adapter;
    this.#stdoutLines = new LineReader(
      (bytes, start, end, cut) => adapter.line(bytes, start, end, cut),
      MAX_LINE_BYTES,
      { keepsEmpty: kind.keepsEmptyLines ?? false },
    );
    this.#stderrLines = new LineReader((bytes, start, end) => {
      intake.diagnostic(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'));
    });
    const limit = new OutputLimit(race, plan.limits.maxOutputBytes);
    const take = (stream: 0 | 1, lines: LineReader) => {
      const keep = (bytes: Uint8Array) => {
        this.#keepRaw(stream, bytes);
        intake.beginBurst();
        lines.push(bytes);
      };
      const pass = this.#redacting(plan, stream === 0 && !kind.isText, keep);
      return (bytes: Uint8Array) =>
        this.#guarded(() => {
          const admitted = bytes.subarray(0, limit.authorizeTool(bytes.length));
          if (admitted.length > 0) pass(admitted);
        });
    };
    try {
      for (const path of [writer.layout.stdoutLog, writer.layout.stderrLog])
        this.#rawFds.push(openSync(path, 'a'));
    } catch (error) {
      for (const fd of this.#rawFds) closeSync(fd);
      throw storageError(error, 'open the logs of the run', writer.layout.logs);
    }
    this.pump = new OutputPump(services.runtime, writer.layout.control, {
      stdout: take(0, this.#stdoutLines),
      stderr: take(1, this.#stderrLines),
      onTurn: () => this.store(),
      ...(window && { isPaused: () => this.#pause(window.isFull) }),
      onStdoutClosed: () => {
        this.isStdoutClosed = true;
      },
    });
  }

  /** What kept the store from taking all that the tool wrote. */
  get failure(): AcorError | undefined {
    return this.#failure;
  }

  /** Hands the gathered events to the log's file. */
  store(): void {
    this.#guarded(() => this.#writer.log.flush());
  }

  /** Reads what is left, and lets the adapter draw its conclusion from the exit code. */
  async finish(rc: number | null): Promise<void> {
    await this.pump.drain();
    this.#guarded(() => {
      for (const stream of this.#redacted) stream.end();
      this.#stdoutLines.end();
      this.#stderrLines.end();
      const { winner } = this.#race;
      if (winner !== undefined && hasEndedItself(winner)) this.#adapter.end(rc);
    });
    this.store();
    this.#guarded(() => this.#writer.log.assertUntouched());
  }

  /** What the tool reads as an answer. */
  answerOf(line: string): string {
    return this.#adapter.answer?.(line) ?? line;
  }

  /** What the adapter has found of the files that the tool told of. */
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
      for (const fd of this.#rawFds) closeSync(fd);
    }
  }

  #pause(isPaused: boolean): boolean {
    // What it did not say while nobody listened is no silence.
    if (this.isPaused) this.#intake.lastEventMs = this.#intake.lastProgressMs = performance.now();
    this.isPaused = isPaused;
    return isPaused;
  }

  /** Puts a redactor in the way of a stream; a run that has no secrets has none. */
  #redacting(plan: ToolPlan, json: boolean, pass: (bytes: Uint8Array) => void): (bytes: Uint8Array) => void {
    if (plan.secrets === null) return pass;
    const stream = plan.secrets.redaction.pipe({ json }, { pass, later: (work) => this.#later(work) });
    this.#redacted.push(stream);
    return (bytes) => stream.push(bytes);
  }

  #overstay(intake: Intake): void {
    if (this.#race.winner !== undefined) return;
    intake.warnOnce('lingered', undefined, 'the program had said its last word and did not end; it is ended');
    this.#race.end({ kind: 'lingered' });
  }

  /** Work on a timer, outside of the tool's own bursts. */
  #later(work: () => void): void {
    this.#guarded(work);
    this.store();
  }

  #keepRaw(stream: 0 | 1, bytes: Uint8Array): void {
    const { stdoutLog, stderrLog } = this.#writer.layout;
    try {
      writeFully(this.#rawFds[stream]!, bytes);
    } catch (error) {
      throw storageError(error, 'keep the output of the tool', stream === 0 ? stdoutLog : stderrLog);
    }
  }

  /** A store that fails ends the attempt; what the tool still writes is read and dropped, so that it does not hang. */
  #guarded(work: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      work();
    } catch (error) {
      this.#failure = storageError(error, 'store the output of the tool', this.#writer.layout.dir);
      this.#race.end({ kind: 'store-failed', error: this.#failure });
    }
  }
}
