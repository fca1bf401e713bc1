import { relative } from 'node:path';
import type { StagedOutput } from '../../registry/arguments.ts';
import type { RunWorkspace } from '../workspace.ts';

const LF = 10;

/** A message with the final paths of outputs. */
export function finalPathsIn(
  text: string,
  outputs: readonly StagedOutput[],
  workspace: RunWorkspace,
): string {
  const paths = new FinalPaths(outputs, workspace, { json: false });
  return Buffer.concat([paths.push(Buffer.from(text)), paths.end()]).toString();
}

/** A path as a stream may contain it, and the path that replaces it. `markAt` is where the name of the staging folder begins. */
interface Needle {
  from: Buffer;
  to: Buffer;
  markAt: number;
}

/**
 * Replaces the paths of staged outputs by their final paths in what a tool writes, however the stream is cut into chunks: the path in
 * the workspace does not exist after the run (contract §5). It holds back only bytes that may be the beginning of such a path.
 */
export class FinalPaths {
  readonly #needles: readonly Needle[];
  readonly #mark: Buffer;
  #held = Buffer.alloc(0);

  constructor(outputs: readonly StagedOutput[], workspace: RunWorkspace, options: { json: boolean }) {
    const { work, staging } = workspace;
    const mark = relative(work, staging);
    this.#mark = Buffer.from(mark);
    const forms = options.json ? JSON_FORMS : [(text: string) => text];
    const needles = outputs
      .filter(({ stays }) => !stays)
      .flatMap(({ staged, target }) =>
        forms.flatMap((form) => {
          const to = Buffer.from(form(target));
          const prefix = Buffer.from(form(`${work}/`));
          const inWork = Buffer.from(form(relative(work, staged)));
          return [
            { from: Buffer.concat([prefix, inWork]), to, markAt: prefix.length },
            { from: inWork, to, markAt: 0 },
          ];
        }),
      );
    // A path may be the beginning of another one.
    this.#needles = needles.toSorted((a, b) => b.from.length - a.from.length);
  }

  /** Takes the next bytes, and returns the bytes to pass on. */
  push(chunk: Uint8Array): Uint8Array {
    if (this.#held.length === 0 && chunk.at(-1) === LF) {
      const whole = bufferOf(chunk);
      if (!whole.includes(this.#mark)) return chunk;
    }
    const data = this.#held.length === 0 ? bufferOf(chunk) : Buffer.concat([this.#held, chunk]);
    const { out, end } = this.#replaced(data, this.#beginningAt(data));
    this.#held = Buffer.from(data.subarray(end));
    return out;
  }

  /** The stream has ended: returns the held bytes. */
  end(): Uint8Array {
    const { out } = this.#replaced(this.#held, this.#held.length);
    this.#held = Buffer.alloc(0);
    return out;
  }

  /** Replaces all paths that begin before `limit`, where a path may begin that the next bytes complete. */
  #replaced(data: Buffer, limit: number): { out: Buffer; end: number } {
    const parts: Buffer[] = [];
    let done = 0;
    for (
      let at = data.indexOf(this.#mark);
      at !== -1;
      at = data.indexOf(this.#mark, Math.max(at + 1, done))
    ) {
      const needle = this.#needles.find(({ from, markAt }) => {
        const start = at - markAt;
        return (
          start >= done &&
          start + from.length <= data.length &&
          data.compare(from, 0, from.length, start, start + from.length) === 0
        );
      });
      if (needle === undefined) continue;
      const start = at - needle.markAt;
      if (start >= limit) break;
      parts.push(data.subarray(done, start), needle.to);
      done = start + needle.from.length;
    }
    const end = Math.max(done, Math.min(limit, data.length));
    parts.push(data.subarray(done, end));
    return { out: parts.length === 1 ? parts[0]! : Buffer.concat(parts), end };
  }

  /** The index at which the data's end begins to look like a path, the longest such end; the data's length if no end does. */
  #beginningAt(data: Buffer): number {
    let first = data.length;
    if (data.at(-1) === LF) return first;
    for (const { from } of this.#needles) {
      for (let start = Math.max(0, data.length - from.length + 1); start < first; start++) {
        if (data.compare(from, 0, data.length - start, start) === 0) first = start;
      }
    }
    return first;
  }
}

/** How programs write a path into JSON: as it is, in ASCII (Python), with escaped slashes (PHP). */
const JSON_FORMS: readonly ((text: string) => string)[] = [
  jsonText,
  (text) => jsonText(text).replaceAll(/[\u0080-\uffff]/g, escapedChar),
  (text) => jsonText(text).replaceAll('/', '\\/'),
];

function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapedChar(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
