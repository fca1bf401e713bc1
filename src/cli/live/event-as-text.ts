import { safeText } from '../../compose/terminal-text.ts';
import { durationWords, sizeWords } from '../../compose/time-words.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { plainOutput } from '../present/result.ts';

type Event = Readonly<Record<string, unknown>>;

/** An event as readable text, safe for a terminal, cut to this length; undefined for an event without information for a person. */
export function eventAsText(
  event: Event,
  maxChars: number,
  fromCaller = (command: string) => command,
): string | undefined {
  const time = String(event.ts).slice(11, 19);
  const body = bodyOf(event);
  if (body === undefined) return undefined;
  const left = body.length - maxChars;
  const text =
    left > 0
      ? `${body.slice(0, maxChars)} […]\n${sizeWords(left)} more: ${fromCaller(wholeEvent(event))}`
      : body;
  return safeText(`${time} ${text}`).replaceAll('\n', '\n         ');
}

/** The command that answers with this event alone. */
function wholeEvent({ run_id: run, seq }: Event): string {
  const command = commandOf({ operation: 'run.logs', input: { run, since: Number(seq) - 1 }, why: '' });
  return `${command} --limit 1 --json`;
}

function bodyOf(event: Event): string | undefined {
  const { type, msg } = event;
  switch (type) {
    case 'heartbeat':
      return undefined;
    case 'log':
      return `${event.level}: ${msg}`;
    case 'diagnostic':
      return `stderr: ${event.line}`;
    case 'runner_log':
      return joined(': ', ['runner', msg, event.line]);
    case 'runner_warning':
      return `warning: ${msg}`;
    case 'start':
      return joined(' ', ['start:', event.step, msg, pairs(event.args)]);
    case 'progress':
      return joined(' ', ['progress:', event.step, event.pct === undefined ? '' : `${event.pct}%`, msg]);
    case 'action_required':
      return joined(' ', [`question ${event.action_id}:`, msg ?? event.action, pairs(event.context)]);
    case 'action_answered':
      return `answer to ${event.action_id}: ${valueText(event.answer)}, by ${event.by}`;
    case 'artifact':
      return `artifact: ${event.path}, ${sizeWords(Number(event.size))}`;
    case 'result':
      return joined(' ', [`result: ${event.status}`, msg, plainOutput(event.data) ?? pairs(event.data)]);
    case 'error':
    case 'runner_error':
      return `${event.code}: ${msg}${event.hint ? ` (${event.hint})` : ''}`;
    case 'task_submitted':
    case 'task_started':
    case 'task_progress':
    case 'task_action_required':
    case 'task_error':
    case 'task_done':
      return ofTask(event);
    case 'runner_start':
      return beginning(event);
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
      return joined(' ', [`${type}:`, pairs(rest)]);
    }
  }
}

/** An event of a step of a workflow; an event of its run reads as in the log of that run. */
function ofTask({ type, task_id, payload, child_run_id, child_event, ...done }: Event): string | undefined {
  const task = `task ${task_id}:`;
  switch (type) {
    case 'task_submitted':
      return joined(' ', [task, 'submitted,', ((payload ?? {}) as Event).command]);
    case 'task_started':
      return `${task} started as ${child_run_id}`;
    case 'task_done': {
      const { status, code, msg } = done;
      return `${task} ${joined(': ', [joined(' ', [status, code]), msg])}`;
    }
    default: {
      const body = bodyOf((child_event ?? {}) as Event);
      return body === undefined ? undefined : `${task} ${body}`;
    }
  }
}

function beginning({ tool, args, attempt, timeout_s, isolation }: Event): string {
  const { backend } = (isolation ?? {}) as Event;
  return joined(', ', [
    `begin: ${shellCommand([String(tool), ...(Array.isArray(args) ? args.map(String) : [])])}`,
    Number(attempt) > 1 ? `attempt ${attempt}` : '',
    `at most ${durationWords(Number(timeout_s))}`,
    backend === undefined ? '' : `isolation ${backend}`,
  ]);
}

/** An object as `name=value` pairs; any other value as itself. */
function pairs(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object' || Array.isArray(value)) return valueText(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}=${valueText(each)}`)
    .join(' ');
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function joined(between: string, parts: readonly unknown[]): string {
  return parts.filter((part) => part !== undefined && part !== null && part !== '').join(between);
}
