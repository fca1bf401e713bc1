import { isUtf8 } from 'node:buffer';
import { closeSync, readSync, statSync } from 'node:fs';
import type { LineTaker } from '../../protocol/jsonl.ts';
import type { ChunkScanner } from '../../protocol/v1/chunk-scanner.ts';
import { HotScanner } from '../../protocol/v1/hot-scanner.ts';
import { openOwn } from '../../util/regular-file.ts';
import type { Adapter, AdapterContext, AdapterKind } from '../run/attempt/adapter.ts';
import type { Intake } from '../run/attempt/intake.ts';
import { fieldOfCut, LINE_WAS_CUT, readTypedObject, startsLikeObject } from './json-object.ts';

export const JSONL: AdapterKind = { make: (context) => new JsonlAdapter(context) };

/** The messages that end an attempt: without them, its outcome is not known. */
const LAST_MESSAGES: readonly (string | undefined)[] = ['result', 'error', 'cancelled'];

const CUT_QUESTION = {
  field: 'context',
  expected: 'so short that the message is at most 1 MiB (1048576 bytes) on one line',
};

const MID_LINE =
  'the tool wrote text without a line break before a message: ACOR took them apart. End the text with a line break';

/** After so much output a scanner for whole chunks is worth the time that it takes to load. */
const LITTLE_BYTES = 1 << 16;

/** ACOR's own protocol: each line is a message (contract §1). */
class JsonlAdapter implements Adapter, LineTaker {
  readonly keepsEmptyLines: boolean;
  readonly taker = this;
  readonly #intake: Intake;
  readonly #scanner: HotScanner;
  /** The output so far, until the scanner for chunks is loaded. */
  #bytes = 0;
  #chunks: ChunkScanner | undefined;
  /** What a program that may not know the protocol has written; undefined once it has sent a message. */
  #text: OutputText | undefined;
  /** Whether a message was cut before its type: it may have been the result. */
  #hasLostMessage = false;

  constructor(context: AdapterContext) {
    const { intake, plan } = context;
    this.#intake = intake;
    this.#scanner = new HotScanner(intake.runId);
    const { manifestPath, manifest } = plan.tool;
    this.keepsEmptyLines = manifestPath === null && !manifest.strict;
    if (this.keepsEmptyLines) this.#text = new OutputText(context);
  }

  begin(bytes: Uint8Array): void {
    this.#chunks?.begin(bytes);
    const isLittle = this.#bytes < LITTLE_BYTES;
    this.#bytes += bytes.length;
    if (isLittle && this.#bytes >= LITTLE_BYTES) void this.#loadChunkScanner();
  }

  /** While a text may be the result, each line is looked at. */
  take(from: number): number {
    if (this.#chunks === undefined || this.#text !== undefined) return from;
    return this.#intake.keepMany(this.#chunks, from);
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): boolean {
    const kind = cut ? 'other' : this.#scanner.scan(bytes, start, end);
    if (kind === 'other') {
      this.#carefully(bytes, start, end, cut);
      return false;
    }
    this.#text = undefined;
    this.#intake.keep(kind, bytes, start, end, this.#scanner);
    return true;
  }

  /** The output of a program that wrote no message is its result, unless its manifest demands one. */
  end(rc: number | null): void {
    const text = this.#text !== undefined && this.#text.lines > 0 ? this.#text : undefined;
    if (rc !== null && rc !== 0 && text !== undefined) this.#intake.accept(failedWith(rc, text));
    if (rc !== 0) return;
    if (text !== undefined) this.#intake.accept({ type: 'result', status: 'ok', data: text.data() });
    else if (this.#hasLostMessage && this.#intake.ending === undefined) this.#failAtCut('last message');
  }

  async #loadChunkScanner(): Promise<void> {
    const { ChunkScanner } = await import('../../protocol/v1/chunk-scanner.ts');
    this.#chunks = ChunkScanner.of(this.#intake.runId);
  }

  #carefully(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    if (start === end) {
      // An empty line is not a message.
      this.#text?.add(bytes, start, end);
      return;
    }
    const at = messageBehindText(bytes.subarray(start, end), this.#intake.runId);
    if (at > 0) {
      this.#carefully(bytes, start, start + at, false);
      this.#carefully(bytes, start + at, end, cut);
      this.#intake.warnOnce('mid-line', 'E_PROTOCOL', MID_LINE);
      return;
    }
    const message = readTypedObject(this.#intake, bytes, start, end, cut);
    if (message !== undefined) {
      this.#text = undefined;
      this.#intake.accept(message);
    } else {
      this.#text?.add(bytes, start, end, cut);
      if (cut) this.#noteCut(bytes.subarray(start, end));
    }
  }

  #noteCut(beginning: Uint8Array): void {
    const type = startsLikeObject(beginning) ? fieldOfCut(beginning, 'type') : undefined;
    if (LAST_MESSAGES.includes(type)) {
      this.#text = undefined;
      this.#failAtCut(`'${type}'`);
    } else if (type === 'action_required' && fieldOfCut(beginning, 'blocking') === 'true') {
      this.#text = undefined;
      this.#intake.refuseQuestion(fieldOfCut(beginning, 'action_id') ?? '', CUT_QUESTION);
    } else if (this.#text === undefined) {
      this.#hasLostMessage ||= type === undefined && startsLikeObject(beginning);
      this.#intake.warnOnce(
        'cut',
        'E_PROTOCOL',
        `${type === undefined ? 'a line' : `a message of the tool ('${type.slice(0, 40)}')`} ${LINE_WAS_CUT}`,
      );
    }
  }

  #failAtCut(what: string): void {
    this.#intake.accept({
      type: 'error',
      code: 'E_PROTOCOL',
      msg: `the tool's ${what} ${LINE_WAS_CUT}`,
      hint: 'Write the data to a file in ARTIFACTS_DIR, and name it in the result as an artifact.',
    });
  }
}

/**
 * Where a message of an SDK begins behind text on the same line; -1 without one. It has the id of this run: other text that looks like a
 * message, which the tool may have got from elsewhere, stays text.
 */
function messageBehindText(line: Uint8Array, runId: string): number {
  if (startsLikeObject(line)) return -1;
  const text = Buffer.from(line.buffer, line.byteOffset, line.length);
  const id = text.indexOf(`","run_id":"${runId}"`);
  return id === -1 ? -1 : text.lastIndexOf('{"v":1,"type":"', id);
}

/** The failure of a program that does not know the protocol. What it wrote is its answer as well: a diff, the report of a test run. */
export function failedWith(rc: number, text: OutputText): Record<string, unknown> & { type: string } {
  const msg = `the program ended with exit code ${rc}`;
  return { type: 'error', code: 'E_TOOL_FAILED', msg, rc, ...(text.lines > 0 && { data: text.data() }) };
}

/** Text up to this length is repeated in the result, so that a short answer need not be assembled from events. */
const INLINE_OUTPUT_BYTES = 65_536;

/** What a program has written. All of it is in the run's stdout.log, and short text is in the result as well. */
export class OutputText {
  lines = 0;
  readonly #context: AdapterContext;
  /** Where the text of this attempt begins in the log: earlier attempts have written to it. */
  readonly #offset: number;
  /** The lines that no pattern took, where there are patterns: the log has the others as well. */
  readonly #kept: string[] | undefined;
  #keptBytes = 0;
  #isText = true;

  constructor(context: AdapterContext) {
    this.#context = context;
    this.#kept = context.plan.tool.manifest.adapter === 'text-map' ? [] : undefined;
    this.#offset = context.attempt === 1 ? 0 : sizeOf(context.layout.stdoutLog);
  }

  /** `cut`: only the beginning of the line, which may end within a character. */
  add(bytes: Uint8Array, start: number, end: number, cut = false): void {
    this.lines++;
    const line = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
    this.#isText &&= isUtf8(cut ? line.subarray(0, line.findLastIndex(startsCharacter)) : line);
    this.#keptBytes += line.length + 1;
    if (this.#keptBytes <= INLINE_OUTPUT_BYTES) this.#kept?.push(line.toString('utf8'));
  }

  /** The data of the result: the text, or the part of a file that holds it. */
  data(): Record<string, unknown> {
    const { intake, layout } = this.#context;
    const file = layout.stdoutLog;
    const bytes = sizeOf(file) - this.#offset;
    const isShort = (this.#kept === undefined ? bytes : this.#keptBytes) <= INLINE_OUTPUT_BYTES;
    if (this.#isText && isShort)
      return { output: this.#kept?.join('\n') ?? readText(file, this.#offset, bytes) };
    intake.warnOnce(
      'output',
      undefined,
      this.#isText
        ? `the output is longer than 64 KiB (${bytes} bytes), so the result only names the file that holds all of it: ${file}`
        : `the output is not UTF-8 text, so the result only names the file that holds its ${bytes} bytes: ${file}`,
    );
    return {
      output_file: file,
      ...(this.#offset > 0 && { offset: this.#offset }),
      bytes,
      ...(this.#isText ? { lines: this.lines } : { binary: true }),
    };
  }
}

/** As the program wrote it, but without the line end at its end, as `$(…)` of a shell returns it. */
function readText(file: string, offset: number, bytes: number): string {
  if (bytes === 0) return '';
  const log = openOwn(file);
  try {
    const text = Buffer.alloc(bytes);
    return text.toString('utf8', 0, readSync(log, text, 0, bytes, offset)).replace(/\r?\n$/, '');
  } finally {
    closeSync(log);
  }
}

function startsCharacter(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
