import { cutToWidth } from '../compose/display-width.ts';
import type { Screen } from '../compose/screen.ts';
import { styled } from '../compose/style.ts';
import { safeLine, safeLines } from '../compose/terminal-text.ts';
import { LineReader } from '../protocol/jsonl.ts';
import { writeAsync } from '../util/write-async.ts';

type Event = Readonly<Record<string, unknown>>;

const REDRAW_MS = 100;

/** Shows a run to a person at a terminal while it goes: what it says, one line that shows how far it is, and how it ended. */
export class RunView {
  readonly #screen: Screen;
  readonly #fd: number;
  readonly #begunMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #asks: boolean;
  #status = '';
  #drawn = false;
  #isAside = false;
  #pending = '';

  private constructor(screen: Screen, fd: number, asks: boolean) {
    this.#screen = screen;
    this.#fd = fd;
    this.#asks = asks;
    this.#timer = setInterval(() => void this.#flush(), REDRAW_MS);
  }

  /** With `asks`, a dialog puts the questions for which the run waits: the view leaves them to it. */
  static open(screen: Screen, fd: number, { asks }: { asks: boolean }): RunView {
    return new RunView(screen, fd, asks);
  }

  /** Takes the next lines of the event log. */
  async show(lines: Uint8Array): Promise<'written' | 'closed'> {
    const reader = new LineReader((bytes, start, end) => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
      this.#take(JSON.parse(text));
    }, lines.length);
    reader.push(lines);
    return this.#flush();
  }

  /** Leaves the screen to somebody else. */
  async putAside(): Promise<void> {
    this.#isAside = true;
    await this.#flush();
  }

  /** Goes on where it was. */
  takeUp(): void {
    this.#isAside = false;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#status = '';
    await this.#flush();
  }

  #take(event: Event): void {
    if (event.type === 'progress' || event.type === 'start') this.#status = statusOf(event, this.#status);
    else if (event.type !== 'action_required' || event.blocking !== true || !this.#asks) {
      const line = lineOf(event, this.#screen);
      if (line !== undefined) this.#pending += `${line}\n`;
    }
  }

  /** Writes what is new, and brings the status line and its clock up to date. */
  async #flush(): Promise<'written' | 'closed'> {
    const text = `${this.#erase()}${this.#pending}${this.#draw()}`;
    this.#pending = '';
    return text === '' ? 'written' : writeAsync(this.#fd, Buffer.from(text));
  }

  #erase(): string {
    if (!this.#drawn) return '';
    this.#drawn = false;
    return '\r\u001b[2K';
  }

  #draw(): string {
    if (this.#status === '' || !this.#screen.live || this.#isAside) return '';
    this.#drawn = true;
    const seconds = Math.floor((performance.now() - this.#begunMs) / 1000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    const text = cutToWidth(
      `${clock}  ${this.#status}`,
      this.#screen.width - 1,
      this.#screen.unicode ? '…' : '...',
    );
    return styled(text, 'dim', this.#screen);
  }
}

function statusOf(event: Event, before: string): string {
  const step = typeof event.step === 'string' ? event.step : before;
  const pct = typeof event.pct === 'number' ? `${Math.floor(event.pct)}%` : '';
  const msg = typeof event.msg === 'string' ? event.msg : '';
  return safeLine([step, pct, msg].filter((part) => part !== '').join('  '));
}

/** What a person reads of an event; undefined for what says nothing to them. */
function lineOf(event: Event, screen: Screen): string | undefined {
  const text = (field: string) => safeLines(typeof event[field] === 'string' ? event[field] : '');
  switch (event.type) {
    case 'runner_start':
      return styled(`run ${text('run_id')}  ${text('tool')}`, 'dim', screen);
    case 'log':
      return text('msg');
    case 'diagnostic':
      return styled(text('line'), 'dim', screen);
    case 'runner_log':
      return styled(`${text('msg')}: ${text('line')}`, 'dim', screen);
    case 'runner_warning':
      return styled(`warning: ${text('msg')}`, 'yellow', screen);
    case 'action_required':
      return styled(
        `question ${text('action_id')}: ${text('msg') || text('action')} ${safeLine(JSON.stringify(event.context ?? {}))}`,
        'bold',
        screen,
      );
    case 'action_answered':
      return `answer to ${text('action_id')}: ${safeLine(JSON.stringify(event.answer) ?? '')}, by ${text('by')}`;
    case 'error':
    case 'runner_error': {
      const hint = text('hint');
      return `${styled(text('code'), 'red', screen)}: ${text('msg')}${hint === '' ? '' : `\n  ${hint}`}`;
    }
    case 'result':
      return resultLine(event);
    case 'artifact':
      return `${text('path')}  ${Number(event.size)} bytes  sha256 ${text('sha256').slice(0, 12)}`;
    case 'runner_end':
      return endLine(event, screen);
    default:
      return undefined;
  }
}

function resultLine(event: Event): string | undefined {
  const rest = { ...(event.metrics as object | undefined), ...(isRecord(event.data) ? event.data : {}) };
  const parts = Object.entries(rest)
    .filter(([, value]) => typeof value !== 'object')
    .map(([key, value]) => `${key} ${value}`);
  return parts.length === 0 ? undefined : safeLine(parts.join('  '));
}

function endLine(event: Event, screen: Screen): string {
  const state = safeLine(String(event.state));
  const look = state === 'completed' ? 'green' : 'red';
  const next = Array.isArray(event.next)
    ? event.next.map((command) => `\n  ${safeLine(String(command))}`).join('')
    : '';
  return `${styled(state, look, screen)} in ${Number(event.duration_s).toFixed(1)} s${next}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
