/** An end of a run in the ledger: the number of events, and the hash of their bytes. */
export interface EnteredEnd {
  events: number;
  sha256: string;
}

export type EnteredRun = EnteredEnd & { path: string; line: number };

const NONE = -1;
const FIRST_ENTRIES = 256;
/** Layout of an entry: SHA-256, events and line as doubles, the file's number, and the number of the run's entry before this one. */
const SHA_BYTES = 32;
const [EVENTS, LINE, FILE, BEFORE] = [32, 40, 48, 52];
const ENTRY_BYTES = 56;
const SHA_PATTERN = /^[0-9a-f]{64}$/;

/** The ends of runs in a ledger, in a few bytes each: `acor verify` holds those of all runs at once. */
export class EnteredRuns {
  /** The number of a run's last entry. */
  readonly #last = new Map<string, number>();
  readonly #paths: string[] = [];
  /** What a changed line has in place of a hash. */
  readonly #otherHashes = new Map<number, string>();
  #bytes = Buffer.alloc(FIRST_ENTRIES * ENTRY_BYTES);
  #count = 0;

  get size(): number {
    return this.#last.size;
  }

  has(runId: string): boolean {
    return this.#last.has(runId);
  }

  keys(): IterableIterator<string> {
    return this.#last.keys();
  }

  /** The ends of a run in the order of the ledger. */
  get(runId: string): EnteredRun[] | undefined {
    const found: EnteredRun[] = [];
    for (let number = this.#last.get(runId) ?? NONE; number !== NONE; ) {
      const at = number * ENTRY_BYTES;
      found.push({
        path: this.#paths[this.#bytes.readInt32LE(at + FILE)]!,
        line: this.#bytes.readDoubleLE(at + LINE),
        events: this.#bytes.readDoubleLE(at + EVENTS),
        sha256: this.#otherHashes.get(number) ?? this.#bytes.toString('hex', at, at + SHA_BYTES),
      });
      number = this.#bytes.readInt32LE(at + BEFORE);
    }
    return found.length === 0 ? undefined : found.reverse();
  }

  add(runId: string, { path, line, events, sha256 }: EnteredRun): void {
    const number = this.#count++;
    const at = number * ENTRY_BYTES;
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * at);
    if (this.#paths.at(-1) !== path) this.#paths.push(path);
    if (SHA_PATTERN.test(sha256)) this.#bytes.write(sha256, at, 'hex');
    else this.#otherHashes.set(number, sha256);
    this.#bytes.writeDoubleLE(events, at + EVENTS);
    this.#bytes.writeDoubleLE(line, at + LINE);
    this.#bytes.writeInt32LE(this.#paths.length - 1, at + FILE);
    this.#bytes.writeInt32LE(this.#last.get(runId) ?? NONE, at + BEFORE);
    this.#last.set(runId, number);
  }

  /** Forgets a run that was verified. */
  delete(runId: string): void {
    this.#last.delete(runId);
  }
}
