import type { Place, Presenter } from '../../compose/terminal.ts';
import { safeText } from '../../compose/terminal-text.ts';
import { writeLines } from '../../compose/write-out.ts';
import type { LogAbout } from '../../operations/run/run-logs.ts';
import { LineReader } from '../../protocol/jsonl.ts';
import { parseEvent } from '../../protocol/parse-event.ts';
import type { TerminalPerson } from '../dialog/terminal-person.ts';
import { RunView } from './run-view.ts';
import { placeOf, showEvents } from './show-run.ts';

type Event = Readonly<Record<string, unknown>>;

/** Shows a log as one line of text per event; while following at a terminal, with the progress of the run below. */
export function logPresenter(person: TerminalPerson) {
  return {
    async events(stream, place) {
      const about = (await stream.about?.()) as LogAbout;
      const { types, follows } = about;
      const asText = (event: Event) =>
        types.length === 0 || types.includes(String(event['type'])) ? eventAsText(event) : undefined;
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

/** An event as one readable line, safe for a terminal; undefined for an event without information for a person. */
function eventAsText(event: Readonly<Record<string, unknown>>): string | undefined {
  const time = String(event.ts).slice(11, 19);
  const body = bodyOf(event);
  return body === undefined ? undefined : safeText(`${time} ${body}`).replaceAll('\n', '\n         ');
}

function bodyOf(event: Readonly<Record<string, unknown>>): string | undefined {
  const { type } = event;
  switch (type) {
    case 'heartbeat':
      return undefined;
    case 'log':
      return `${event.level}: ${event.msg}`;
    case 'diagnostic':
      return `stderr: ${event.line}`;
    case 'progress':
      return ['progress:', event.step, event.pct === undefined ? undefined : `${event.pct}%`, event.msg]
        .filter(Boolean)
        .join(' ');
    case 'error':
    case 'runner_error':
      return `${event.code}: ${event.msg}${event.hint ? ` (${event.hint})` : ''}`;
    case 'runner_state':
      return `${event.from} → ${event.to}${event.reason ? ` (${event.reason})` : ''}`;
    case 'runner_end':
      return `end: ${event.state}${event.code ? ` ${event.code}` : ''}, ${event.duration_s} s`;
    default: {
      const {
        v: _v,
        ts: _ts,
        run_id: _run,
        seq: _seq,
        type: _type,
        trace_id: _trace,
        span_id: _span,
        ...rest
      } = event;
      return `${type}: ${JSON.stringify(rest)}`;
    }
  }
}
