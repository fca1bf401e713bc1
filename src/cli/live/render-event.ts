import type { Screen } from '../../compose/screen.ts';
import { type Look, mark, styled } from '../../compose/style.ts';
import { safeLine, safeText } from '../../compose/terminal-text.ts';
import { wrapToWidth } from '../../compose/wrap-to-width.ts';

type Event = Readonly<Record<string, unknown>>;

/** Longer texts are cut on the screen; the log has all of it. */
const MAX_CHARS = 4000;

/** The permanent lines of an event; undefined for an event that is not shown, or shown in another way. */
export interface Reported {
  text: string;
  /** Not dropped when the tool writes more than a person can read. */
  isKept: boolean;
}

/** The field with the text of events that a flood of lines shares. */
const TEXT_FIELDS: Readonly<Record<string, string>> = { log: 'msg', diagnostic: 'line', runner_log: 'line' };

/** An event that several lines of text share, as one event for each line; any other event as it is. */
export function linesOf(event: Event): Event[] {
  const field = TEXT_FIELDS[String(event.type)];
  const text = field === undefined ? undefined : event[field];
  if (field === undefined || typeof text !== 'string' || !text.includes('\n')) return [event];
  // The runner joins lines only of this level; a message of another one is the tool's own.
  if (event.type === 'log' && event.level !== 'info') return [event];
  return text.split('\n').map((line) => ({ ...event, [field]: line }));
}

/** Renders an event. The tool's text follows a bar on the left, so that it cannot look like the runner's. */
export function renderEvent(event: Event, screen: Screen): Reported | undefined {
  const text = (field: string) => cut(typeof event[field] === 'string' ? event[field] : '');
  const kept = (line: string) => ({ text: line, isKept: true });
  switch (event.type) {
    case 'runner_start': {
      const again = Number(event.attempt) > 1 ? `, attempt ${Number(event.attempt)}` : '';
      const title = text('title');
      const name = title === '' ? text('tool') : `${title} (${text('tool')})`;
      return kept(styled(`${safeLine(name)}  ${safeLine(text('run_id'))}${again}`, 'bold', screen));
    }
    case 'log':
      return {
        text: behindBar(levelWords(event.level) + text('msg'), screen, levelLook(event.level)),
        isKept: false,
      };
    case 'diagnostic':
      return { text: behindBar(text('line'), screen, 'dim'), isKept: false };
    case 'runner_log':
      return {
        text: behindBar(runnerLogWords(text('msg'), text('line')), screen, 'dim'),
        isKept: false,
      };
    case 'runner_warning':
      return kept(words('warning', `warning: ${text('msg')}`, screen, 'yellow'));
    case 'action_required':
      return kept(
        words(
          'waiting',
          `question ${safeLine(text('action_id'))}: ${text('msg') || text('action')} ${cut(JSON.stringify(event.context ?? {}))}`,
          screen,
          'bold',
        ),
      );
    case 'action_answered': {
      const answer = cut(JSON.stringify(event.answer) ?? '');
      return kept(
        words('done', `answer to ${safeLine(text('action_id'))}: ${answer}, by ${text('by')}`, screen),
      );
    }
    case 'error':
    case 'runner_error': {
      const hint = text('hint');
      const line = words('failed', `${safeLine(text('code'))}: ${text('msg')}`, screen, 'red');
      return kept(hint === '' ? line : `${line}\n${indented(hint, screen)}`);
    }
    case 'task_error':
      return kept(words('failed', `${safeLine(text('task_id'))}: ${childWords(event)}`, screen, 'red'));
    case 'cancelled':
      return kept(words('stopped', `the tool has stopped: ${text('reason')}`, screen));
    default:
      return undefined;
  }
}

/** A line of the runner, with its sign; further lines are indented. */
function words(sign: Parameters<typeof mark>[0], text: string, screen: Screen, look?: Look): string {
  const [first = '', ...rest] = wrapToWidth(safeText(text), Math.max(8, screen.width - 2));
  const styledLine = (line: string) => (look === undefined ? line : styled(line, look, screen));
  return [
    styledLine(`${mark(sign, screen)} ${safeLine(first)}`),
    ...rest.map((line) => styledLine(`  ${safeLine(line)}`)),
  ].join('\n');
}

function indented(text: string, screen: Screen): string {
  return wrapToWidth(safeText(text), Math.max(8, screen.width - 2))
    .map((line) => `  ${line}`)
    .join('\n');
}

/** A line that is not the protocol is shown as the tool wrote it. */
const UNPARSED = ['non-json stdout', 'json without a type'];

function runnerLogWords(msg: string, line: string): string {
  if (line === '') return msg;
  return UNPARSED.includes(msg) ? line : `${msg}: ${line}`;
}

/** What a program that rewrites its line with carriage returns shows last. */
function lastState(text: string): string {
  return text.replace(/\r+$/gm, '').replace(/^.*\r/gm, '');
}

function behindBar(text: string, screen: Screen, look: Look | undefined): string {
  const bar = styled(mark('gutter', screen), 'dim', screen);
  return wrapToWidth(safeText(lastState(text)).replaceAll('\t', '    '), Math.max(8, screen.width - 2))
    .map((line) => `${bar} ${look === undefined ? line : styled(line, look, screen)}`)
    .join('\n');
}

function levelWords(level: unknown): string {
  return level === 'warn' || level === 'error' ? `${level}: ` : '';
}

function levelLook(level: unknown): Look | undefined {
  if (level === 'error') return 'red';
  if (level === 'warn') return 'yellow';
  return level === 'debug' ? 'dim' : undefined;
}

function childWords(event: Event): string {
  const { code, msg } = (event.child_event ?? {}) as Event;
  return cut([code, msg].filter((part) => typeof part === 'string').join(': '));
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)} […]`;
}
