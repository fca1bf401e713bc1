import { isatty } from 'node:tty';
import type { Place, Presenter } from '../../compose/terminal.ts';
import { writeLines } from '../../compose/write-out.ts';
import type { LogAbout } from '../../operations/run/run-logs.ts';
import { LineReader } from '../../protocol/jsonl.ts';
import { parseEvent } from '../../protocol/parse-event.ts';
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
      const asText = (event: Event) => (isWanted(event) ? eventAsText(event, maxChars) : undefined);
      if (follows && place.screen.live) {
        const view = new RunView({ ...about, ...placeOf(place), asLog: asText });
        await showEvents(stream, view, about, place, person);
      } else await writeTexts(stream.events, asText, place);
      return 'shown';
    },
  } satisfies Presenter;
}

async function writeTexts(
  events: AsyncIterable<Uint8Array>,
  asText: (event: Event) => string | undefined,
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
  }
}
