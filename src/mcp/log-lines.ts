import { boundedText } from './bounded-text.ts';
import { inCalls } from './surface-words.ts';

const MAX_REST_CHARS = 160;

type Event = Readonly<Record<string, unknown>>;

/** Fields that every event has, or that a model does not need. */
const LEFT_OUT = [
  'v',
  'type',
  'ts',
  'seq',
  'run_id',
  'trace_id',
  'span_id',
  'attempt',
  'msg',
  'level',
  'pct',
  'step',
];

/** An event as one line for a model; the resource `acor://runs/{run}/events` has it whole. */
export function logLine(event: Event): string {
  const { seq, type, level, step, pct, msg } = event;
  const rest = Object.entries(event).filter(([key, value]) => !LEFT_OUT.includes(key) && value !== null);
  const words = [
    level,
    step,
    pct === undefined ? undefined : `${String(pct)}%`,
    msg,
    ...rest.map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ];
  const text = words
    .filter((word) => word !== undefined)
    .map(String)
    .join(' ');
  // The runner writes its events for a command line; those of a tool are the tool's own.
  const said = String(type).startsWith('runner_') ? inCalls(text) : text;
  return `${String(seq)} ${String(type)} ${boundedText(said, MAX_REST_CHARS)}`.trimEnd();
}
