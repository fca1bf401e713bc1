import { isatty } from 'node:tty';
import type { Place, Presenter } from '../../compose/terminal.ts';
import { writeLines } from '../../compose/write-out.ts';
import type { LogAbout } from '../../operations/run/read-logs.ts';
import { LineReader } from '../../protocol/jsonl.ts';
import { parseEvent } from '../../protocol/parse-event.ts';
import { estimateTokens } from '../../util/estimate-tokens.ts';
import type { TerminalPerson } from '../dialog/terminal-person.ts';
import { eventAsText } from './event-as-text.ts';
import { RunView } from './run-view.ts';
import { placeOf, showEvents } from './show-run.ts';

/** A longer event is cut on the screen. */
const MAX_CHARS = 4000;

type Event = Readonly<Record<string, unknown>>;

/** Shows a log as one line of text per event; while following at a terminal, with the progress of the run below. */
export function logPresenter(person: TerminalPerson) {
  return {
    async events(stream, place) {
      const about = (await stream.about?.()) as LogAbout;
      const { isWanted, follows } = about;
      // A file or a pipe gets each event whole.
      const maxChars = isatty(place.stdoutFd) ? MAX_CHARS : Number.POSITIVE_INFINITY;
      const texts = new TextsInPart(place.part);
      const asText = (event: Event) =>
        isWanted(event) ? texts.take(eventAsText(event, maxChars, place.fromCaller)) : undefined;
      if (follows && place.screen.live) {
        const view = new RunView({ ...about, ...placeOf(place), asLog: asText });
        await showEvents(stream, view, about, place, person);
      } else await writeTexts(stream.events, asText, texts, place);
      return 'shown';
    },
  } satisfies Presenter;
}

async function writeTexts(
  events: AsyncIterable<Uint8Array>,
  asText: (event: Event) => string | undefined,
  part: TextsInPart,
  { stdoutFd }: Place,
): Promise<void> {
  for await (const lines of events) {
    const texts: string[] = [];
    const reader = new LineReader((bytes, start, end) => {
      const line = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
      const text = asText(parseEvent(line));
      if (text !== undefined) texts.push(`${text}\n`);
    }, lines.length);
    reader.push(lines);
    if ((await writeLines(stdoutFd, Buffer.from(texts.join('')))) === 'closed') return;
    if (part.isFull) return;
  }
}

/** The lines of text that `--limit`, `--offset` and `--max-tokens` leave. Of the tokens, one line may need more. */
class TextsInPart {
  readonly #part: Place['part'];
  #seen = 0;
  #taken = 0;
  #tokens = 0;
  isFull: boolean;

  constructor(part: Place['part']) {
    this.#part = part;
    this.isFull = part.limit === 0;
  }

  take(text: string | undefined): string | undefined {
    const { limit, offset = 0, maxTokens } = this.#part;
    if (text === undefined || this.isFull || this.#seen++ < offset) return undefined;
    if (maxTokens !== undefined) this.#tokens += estimateTokens(text);
    this.isFull = maxTokens !== undefined && this.#tokens > maxTokens && this.#taken > 0;
    if (this.isFull) return undefined;
    this.isFull = ++this.#taken === limit;
    return text;
  }
}
