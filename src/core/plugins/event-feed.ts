import type { EventsAnswer } from './messages.ts';
import type { PluginProcess } from './plugin-process.ts';

/** The maximum queue of events for a plugin. Further events are dropped and counted. */
const MAX_EVENTS = 1000;
const MAX_BYTES = 1 << 20;

/** The maximum time that the end of a run waits for a slow plugin, and for one that gets the final event. */
const FAREWELL_MS = 2000;

/** How long the hook may take for the events that the plugin gets at once: what it has got counts as delivered. */
const PORTION_MS = 10;

const LF = 10;

/** Delivers the events of one run to one plugin. The run only waits for it briefly at its end. */
export class EventFeed {
  readonly #process: PluginProcess;
  readonly #onTrouble: (text: string) => void;
  #queue: string[] = [];
  #bytes = 0;
  /** The number of events that the plugin gets at once. */
  #portion = 1;
  #atWork: Promise<void> | undefined;
  #isOver = false;
  #dropped = 0;

  /** `onTrouble` gets a phrase that follows the plugin's name, possibly the same one several times. */
  constructor(process: PluginProcess, onTrouble: (text: string) => void) {
    this.#process = process;
    this.#onTrouble = onTrouble;
  }

  /** Queues whole lines; they are copied. */
  push(stored: Uint8Array): void {
    if (this.#isOver) return;
    const lines = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(LF, start);
      this.#take(lines, start, end);
      start = end + 1;
    }
    if (this.#queue.length > 0) this.#atWork ??= this.#work();
  }

  /** Waits briefly until the plugin has processed the queue, and drops the rest. Returns the number of dropped events. */
  async catchUp(): Promise<number> {
    if (this.#isOver) return 0;
    const missed = this.#dropped + ((await this.#isIdle()) ? 0 : this.#queue.length);
    this.#queue = [];
    this.#bytes = 0;
    this.#dropped = 0;
    return missed;
  }

  #take(lines: Buffer, start: number, end: number): void {
    const bytes = end - start;
    const isFull = this.#queue.length >= MAX_EVENTS || this.#bytes + bytes > MAX_BYTES;
    if (isFull && this.#queue.length > 0) {
      this.#dropped++;
      return;
    }
    this.#queue.push(lines.toString('utf8', start, end));
    this.#bytes += bytes;
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0 && !this.#isOver) {
      const events = this.#queue.splice(0, this.#portion);
      for (const event of events) this.#bytes -= Buffer.byteLength(event);
      try {
        const answer = await this.#process.askAtLeisure({ ask: 'onEvent', events });
        const { failed, first, ms } = answer as EventsAnswer;
        this.#portion = Math.max(1, Math.floor((events.length * PORTION_MS) / ms));
        if (failed > 0) this.#onTrouble(`threw ${JSON.stringify(first)} in onEvent`);
      } catch (error) {
        this.#isOver = true;
        this.#onTrouble(`${(error as Error).message}; it hears of nothing more`);
      }
    }
    this.#atWork = undefined;
  }

  async #isIdle(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), FAREWELL_MS);
    });
    const idle = (this.#atWork ?? Promise.resolve()).then(() => true);
    const isIdle = await Promise.race([idle, late]);
    clearTimeout(timer);
    return isIdle;
  }
}
