/** So many lines of an attempt have an event each. Later ones share an event with those that arrive at the same time. */
const LINES_WITH_OWN_EVENT = 10_000;
/** The length from which joined text is stored. */
const FULL_CHARS = 65_536;

type StoreText = (text: string) => void;

/**
 * Stores lines of text as events. An event is about a hundred bytes longer than its line, so a flood of short lines would make a log
 * that is many times as long as the tool's output, and take as much longer to store. Joined lines are separated by newlines.
 */
export class TextLines {
  readonly #ownEvents: number;
  #stored = 0;
  #joined: { kind: string; lines: string[]; chars: number; store: StoreText } | undefined;

  /** `joins`: false when another run reads the events as records, one for each line. */
  constructor({ joins }: { joins: boolean }) {
    this.#ownEvents = joins ? LINES_WITH_OWN_EVENT : Number.POSITIVE_INFINITY;
  }

  /** Lines of different kinds share no event. Call `flush` before any other event, and at the end of each read of output. */
  add(kind: string, line: string, store: StoreText): void {
    if (this.#stored < this.#ownEvents) {
      this.#stored++;
      store(line);
      return;
    }
    if (this.#joined !== undefined && (this.#joined.kind !== kind || this.#joined.chars >= FULL_CHARS))
      this.flush();
    this.#joined ??= { kind, lines: [], chars: 0, store };
    this.#joined.lines.push(line);
    this.#joined.chars += line.length + 1;
  }

  /** Stores the joined lines; false when there are none. */
  flush(): boolean {
    if (this.#joined === undefined) return false;
    const { lines, store } = this.#joined;
    this.#joined = undefined;
    store(lines.join('\n'));
    return true;
  }
}
