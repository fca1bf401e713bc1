import { closeSync, constants, writeSync } from 'node:fs';
import { openOwn, readOwn } from '../../util/regular-file.ts';
import type { RecordsReader } from '../ports/control-channel.ts';

const DIGITS = 16;

/** Stores in a file how many bytes of a run's log the reader of its records has consumed. */
export class ConsumedBytes implements RecordsReader {
  readonly #fd: number;

  constructor(path: string) {
    this.#fd = openOwn(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
    this.acknowledge(0);
  }

  acknowledge(consumedBytes: number): void {
    // A fixed length in one write: a concurrent reader always finds a complete number.
    writeSync(this.#fd, String(consumedBytes).padStart(DIGITS, '0'), 0);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Undefined while no other run reads the records. */
export function readConsumedBytes(path: string): number | undefined {
  try {
    const text = readOwn(path).toString();
    return text.length === DIGITS ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
