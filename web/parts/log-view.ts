import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { client, onChanges } from '../connection.ts';
import { hrefOf } from '../route.ts';
import { type LogEvent, textOf } from './event-text.ts';
import { plain } from './plain-text.ts';

const ROW_PX = 20;
const VISIBLE_ROWS = 25;
/** Browsers limit the height of an element, so that the scroll bar of a longer log is scaled. */
const MAX_PX = 8_000_000;
const PAGE_EVENTS = 200;
const MAX_PAGES = 20;

/** The log of a run of any length: only the visible rows exist, and their events are loaded in windows. */
export function LogView({ run, at }: { run: string; at: number }) {
  const total = useTotal(run);
  const box = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const events = useWindow(run, first, total);
  const last = Math.max(0, total - VISIBLE_ROWS);
  const height = Math.min(total * ROW_PX, MAX_PX);
  const room = Math.max(1, height - VISIBLE_ROWS * ROW_PX);
  /** Where the scroll bar was put for a row: it may stand for several rows. */
  const put = useRef({ top: -1, row: 0 });
  const goTo = (row: number) => {
    const to = Math.min(Math.max(row, 0), last);
    setFirst(to);
    if (box.current === null) return;
    box.current.scrollTop = last === 0 ? 0 : Math.round((to / last) * room);
    put.current = { top: box.current.scrollTop, row: to };
  };
  useEffect(() => {
    if (at > 0 && total > 0) goTo(at - 1);
  }, [at, total > 0]);
  const onScroll = () => {
    const top = box.current?.scrollTop ?? 0;
    if (top !== put.current.top) setFirst(Math.min(last, Math.round((top / room) * last)));
  };
  const onKey = (event: KeyboardEvent) => {
    const row = rowAfter(event.key, first, last);
    if (row === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    goTo(row);
  };
  const rows = Array.from(
    { length: Math.min(VISIBLE_ROWS, total - first) },
    (_, offset) => first + offset + 1,
  );
  return html`
    <${Search} run=${run} after=${first + 1} onFound=${(seq: number) => goTo(seq - 1)} />
    <p class="note" role="status">Events ${total === 0 ? 0 : first + 1}–${Math.min(first + VISIBLE_ROWS, total)} of ${total}</p>
    <div ref=${box} class="log" role="log" aria-live="off" aria-label="Events" tabindex="0" style=${{ height: `${Math.min(Math.max(total, 1), VISIBLE_ROWS) * ROW_PX}px` }} onScroll=${onScroll} onKeyDown=${onKey}>
      <div class="log-space" style=${{ height: `${height}px` }}>
        <div class="log-rows">
          ${rows.map((seq) => html`<${Row} key=${seq} run=${run} seq=${seq} event=${events.get(seq)} isMarked=${seq === at} />`)}
        </div>
      </div>
    </div>`;
}

function rowAfter(key: string, first: number, last: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return first + 1;
    case 'ArrowUp':
      return first - 1;
    case 'PageDown':
      return first + VISIBLE_ROWS;
    case 'PageUp':
      return first - VISIBLE_ROWS;
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}

function Row({
  run,
  seq,
  event,
  isMarked,
}: {
  run: string;
  seq: number;
  event: LogEvent | undefined;
  isMarked: boolean;
}) {
  const text = event === undefined ? '…' : plain(textOf(event));
  return html`<div class=${isMarked ? 'row marked' : 'row'} title=${text.slice(0, 2000)}>
    <a href=${hrefOf('runs', run, { seq: String(seq) })} tabindex="-1">${seq}</a>
    <span class="type">${plain(event?.type ?? '')}</span>
    <span>${text.slice(0, 1000)}</span>
  </div>`;
}

function Search({ run, after, onFound }: { run: string; after: number; onFound: (seq: number) => void }) {
  const [note, setNote] = useState('');
  const search = async (event: Event) => {
    event.preventDefault();
    const text = String(new FormData(event.target as HTMLFormElement).get('text'));
    if (text === '') return;
    const answer = await client
      .call('run.logs', { run, text, since: after }, { limit: 1 })
      .catch(() => undefined);
    const found = answer?.ok ? answer.data.events[0] : undefined;
    setNote(found === undefined ? 'Not found below.' : `Found in ${String(found['seq'])}.`);
    if (found !== undefined) onFound(Number(found['seq']));
  };
  return html`<form class="filters" role="search" onSubmit=${search}>
    <label>Search the log <input name="text" /></label>
    <button type="submit">Next</button>
    <span role="status">${note}</span>
  </form>`;
}

/** The number of events, also while the run works. */
function useTotal(run: string): number {
  const [total, setTotal] = useState(0);
  useEffect(() => {
    const grow = (seq: number) => setTotal((before) => Math.max(before, seq));
    void lastSeq(run).then(grow, () => {});
    return onChanges(({ runs }) => {
      for (const { run_id, seq } of runs) if (run_id === run) grow(seq);
    });
  }, [run]);
  return total;
}

async function lastSeq(run: string): Promise<number> {
  const answer = await client.call('run.show', { run });
  if (answer.ok && answer.data.events !== null) return answer.data.events;
  // A live run: the stream of changes has its last event from now on.
  const log = await client.call('run.logs', { run });
  return log.ok ? log.data.last_seq : 0;
}

/** The events around the visible rows, by their `seq`. */
function useWindow(run: string, first: number, total: number): ReadonlyMap<number, LogEvent> {
  const [events, setEvents] = useState<ReadonlyMap<number, LogEvent>>(new Map());
  const pages = useRef(new Map<number, LogEvent[]>());
  useEffect(() => {
    let isWanted = true;
    const from = Math.floor(first / PAGE_EVENTS);
    const to = Math.floor((first + VISIBLE_ROWS) / PAGE_EVENTS);
    const isWhole = (page: number) =>
      (pages.current.get(page)?.length ?? 0) >= Math.min(PAGE_EVENTS, total - page * PAGE_EVENTS);
    const load = async () => {
      for (const page of new Set([from, to])) {
        if (total === 0 || isWhole(page)) continue;
        const answer = await client.call(
          'run.logs',
          { run, since: page * PAGE_EVENTS },
          { limit: PAGE_EVENTS },
        );
        if (!answer.ok) return;
        pages.current.delete(page);
        pages.current.set(page, answer.data.events as LogEvent[]);
      }
      for (const oldest of pages.current.keys()) {
        if (pages.current.size <= MAX_PAGES) break;
        pages.current.delete(oldest);
      }
      if (isWanted) setEvents(new Map([...pages.current.values()].flat().map((event) => [event.seq, event])));
    };
    void load().catch(() => {});
    return () => {
      isWanted = false;
    };
  }, [run, Math.floor(first / PAGE_EVENTS), Math.floor((first + VISIBLE_ROWS) / PAGE_EVENTS), total]);
  return events;
}
