import type { EndingRace } from '../ending.ts';

/** Counts what the tool writes on both streams and ends the attempt at the limit (E_OUTPUT_LIMIT). */
export class OutputLimit {
  readonly #race: EndingRace;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(race: EndingRace, maxBytes: number) {
    this.#race = race;
    this.#maxBytes = maxBytes;
  }

  /** Counts bytes; returns how many of them are within the limit. */
  count(bytes: number): number {
    const room = Math.max(0, this.#maxBytes - this.#bytes);
    this.#bytes += bytes;
    if (bytes > room) this.#race.end({ kind: 'output-limit', maxBytes: this.#maxBytes });
    return Math.min(bytes, room);
  }
}
