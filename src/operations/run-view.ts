import { cutToWidth } from '../compose/display-width.ts';
import type { OperationContext } from '../compose/operation.ts';
import type { Screen } from '../compose/screen.ts';
import { styled } from '../compose/style.ts';
import { safeText } from '../compose/terminal-text.ts';
import { LineReader } from '../protocol/jsonl.ts';
import { writeAsync } from '../util/write-async.ts';
import type { AcorApp } from './acor-app.ts';

type Event = Readonly<Record<string, unknown>>;

const REDRAW_MS = 100;

/** Shows a run to a person at a terminal while it goes: what it says, one line that shows how far it is, and how it ended. */
export async function watchRun(
  source: AsyncIterable<Uint8Array>,
  ctx: OperationContext<AcorApp>,
): Promise<void> {
  const view = new RunView(ctx.screen!, ctx.stdoutFd);
  const timer = setInterval(() => view.redraw(), REDRAW_MS);
  try {
    for await (const lines of source) {
      const reader = new LineReader((bytes, start, end) => {
        view.take(
          JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')),
        );
      }, lines.length);
      reader.push(lines);
      await view.flush();
    }
  } finally {
    clearInterval(timer);
    await view.close();
  }
}

class RunView {
  readonly #screen: Screen;
  readonly #fd: number;
  readonly #begunMs = performance.now();
  #status = '';
  #drawn = false;
  #pending = '';

  constructor(screen: Screen, fd: number) {
    this.#screen = screen;
    this.#fd = fd;
  }

  take(event: Event): void {
    if (event.type === 'progress' || event.type === 'start') this.#status = statusOf(event, this.#status);
    else {
      const line = lineOf(event, this.#screen);
      if (line !== undefined) this.#pending += `${line}\n`;
    }
  }

  /** Brings the status line up to date, with the time that has passed. */
  redraw(): void {
    void this.flush();
  }

  async flush(): Promise<void> {
    const text = `${this.#erase()}${this.#pending}${this.#draw()}`;
    this.#pending = '';
    if (text !== '') await writeAsync(this.#fd, Buffer.from(text));
  }

  async close(): Promise<void> {
    this.#status = '';
    await this.flush();
  }

  #erase(): string {
    if (!this.#drawn) return '';
    this.#drawn = false;
    return '\r\u001b[2K';
  }

  #draw(): string {
    if (this.#status === '' || !this.#screen.live) return '';
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
  return safeText([step, pct, msg].filter((part) => part !== '').join('  ')).replaceAll('\n', ' ');
}

/** What a person reads of an event; undefined for what says nothing to them. */
function lineOf(event: Event, screen: Screen): string | undefined {
  const text = (field: string) => safeText(typeof event[field] === 'string' ? (event[field] as string) : '');
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
        `question: ${text('action')} ${safeText(JSON.stringify(event.context ?? {}))}`,
        'bold',
        screen,
      );
    case 'error':
    case 'runner_error': {
      const hint = text('hint');
      return `${styled(text('code'), 'red', screen)}: ${text('msg')}${hint === '' ? '' : `\n  ${hint}`}`;
    }
    case 'result':
      return resultLine(event);
    case 'artifact':
      return `${text('path')}  ${event.size} bytes  sha256 ${text('sha256').slice(0, 12)}`;
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
  return parts.length === 0 ? undefined : safeText(parts.join('  '));
}

function endLine(event: Event, screen: Screen): string {
  const state = String(event.state);
  const look = state === 'completed' ? 'green' : 'red';
  const next = Array.isArray(event.next)
    ? event.next.map((command) => `\n  ${safeText(String(command))}`).join('')
    : '';
  return `${styled(state, look, screen)} in ${Number(event.duration_s).toFixed(1)} s${next}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
