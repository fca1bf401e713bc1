const MAX_ENTRIES = 400;
const MAX_CHARS = 200_000;

interface Entry {
  order: number;
  text: string;
}

/** The most recent texts, in bounded memory. Texts that must be kept are not displaced by the others. */
export class RecentLines {
  readonly #passing = new Window();
  readonly #kept = new Window();
  #order = 0;

  get isEmpty(): boolean {
    return this.#order === 0;
  }

  push(text: string, kept?: 'kept'): void {
    (kept ? this.#kept : this.#passing).push({ order: this.#order++, text });
  }

  /** Removes and returns all texts in order, with the number of dropped ones. */
  take(): { texts: string[]; leftOut: number } {
    const entries = [...this.#passing.entries, ...this.#kept.entries].sort((a, b) => a.order - b.order);
    const leftOut = this.#order - entries.length;
    this.#passing.clear();
    this.#kept.clear();
    this.#order = 0;
    return { texts: entries.map(({ text }) => text), leftOut };
  }
}

class Window {
  #entries: Entry[] = [];
  #from = 0;
  #chars = 0;

  get entries(): Entry[] {
    return this.#entries.slice(this.#from);
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
    this.#chars += entry.text.length;
    while (
      this.#entries.length - this.#from > 1 &&
      (this.#entries.length - this.#from > MAX_ENTRIES || this.#chars > MAX_CHARS)
    )
      this.#chars -= this.#entries[this.#from++]!.text.length;
    // Not at each one: moving them all costs more than adding one.
    if (this.#from > MAX_ENTRIES) {
      this.#entries = this.entries;
      this.#from = 0;
    }
  }

  clear(): void {
    this.#entries = [];
    this.#from = 0;
    this.#chars = 0;
  }
}
