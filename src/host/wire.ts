import type { UnixSocket } from '../util/unix-socket.ts';

/**
 * What a caller and a process of the host say to each other, one JSON value a line. A caller opens three connections with the same `id`: one for
 * these messages, and two whose further bytes are the process's stdout and stderr.
 */
export type FromCaller =
  | { call: Call; id: string }
  | { stream: 'stdout' | 'stderr'; id: string }
  | { signal: string }
  /** What standard input had, in base64, or the error code of its read. */
  | { stdin: string; problem?: string | undefined }
  /** Whether standard input has bytes that are not read yet. */
  | { unread: boolean }
  /** The process ends when it has no work. */
  | { stop: true };

export type FromHost =
  /** The process does not take the call: nothing has happened. */
  | { refused: string }
  /** The command begins: from here on the caller must not run it again. */
  | { begun: true }
  | { want: 'stdin' | 'unread' }
  /** After both streams. */
  | { exit: number };

/** A command line, as the process that got it knows it. */
export interface Call {
  argv: string[];
  cwd: string;
  env: Record<string, string | undefined>;
  stdinIsTTY: boolean;
  /** Whether standard input can hold bytes, as /dev/null and a terminal cannot. */
  mayHoldInput: boolean;
}

export function say<T extends FromCaller | FromHost>(socket: UnixSocket, message: T): void {
  socket.send(`${JSON.stringify(message)}\n`);
}

/** Takes messages out of the bytes of one connection. */
export class Messages<T> {
  readonly #decoder = new TextDecoder();
  #text = '';

  take(bytes: Uint8Array): T[] {
    // Only what is new is searched: standard input may be one line of 90 MB.
    const lines = this.#decoder.decode(bytes, { stream: true }).split('\n');
    lines[0] = this.#text + lines[0];
    this.#text = lines.pop() ?? '';
    return lines.map((line) => JSON.parse(line) as T);
  }
}
