/** Turns what a program writes on stdout into protocol events. One for each attempt. */
export interface Adapter {
  /** One line, `bytes[start..end)`; `cut` when it was longer than the limit. The bytes are only valid during the call. */
  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void;
  /** The program has ended by itself with this exit code; null when a signal or a guard ended it. */
  end(rc: number | null): void;
}

export type AdapterOptions = { output: 'text' | 'json'; isOk: (rc: number) => boolean };
