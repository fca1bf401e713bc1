import type { CallToolResult, TextContent } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { usageError } from '../compose/app-error.ts';
import type { SuccessEnvelope } from '../compose/envelope.ts';
import type { NextStep, OperationStep } from '../compose/next-step.ts';
import { cutTexts } from '../util/cut-text.ts';
import { withShortData } from './bounded-answer.ts';
import { boundedText } from './bounded-text.ts';
import type { Host, OpenHost } from './host.ts';
import { jsonSchemaOf, type OwnTool, PAGE } from './own-tools.ts';
import { explanationInCalls, explanationText, inCalls } from './surface-words.ts';
import { envelopeResult, thrownResult } from './tool-result.ts';

/** The operation's own default names its command. */
const REASON = { reason: 'cancelled by the MCP client' };

/** Calls an operation as an MCP tool. */
export async function callOwnTool(
  host: Host,
  open: OpenHost,
  own: OwnTool,
  given: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const hidden = own.without.filter((key) => key in given);
  if (hidden.length > 0) {
    const message = `${own.name} has no ${hidden.join(', ')}`;
    return thrownResult(host, usageError([{ parameter: hidden[0]!, message }]));
  }
  const typed = await inTypes(host, own, given);
  const { limit, offset, max_tokens, ...input } = typed;
  const page = (await isPage(host, own, given))
    ? z.object(PAGE).safeParse({ limit, offset, max_tokens })
    : undefined;
  if (page?.success === false) {
    const message = 'limit, offset and max_tokens must be whole numbers that are not negative';
    return thrownResult(host, usageError([{ parameter: 'limit', message }]));
  }
  const asked = { ...(own.operation === 'run.cancel' && REASON), ...(page === undefined ? typed : input) };
  const { max_tokens: maxTokens, ...part } = page?.data ?? {};
  const selection = { ...part, maxTokens };
  const envelope = await open.call(own.operation, asked, { signal, selection });
  if (!envelope.ok) return envelopeResult(open, envelope);
  switch (own.operation) {
    case 'run.logs':
      return logsResult(open, envelope, given);
    case 'run.show':
      return shownResult(open, envelope);
    case 'run.list':
      return envelopeResult(open, withNextPage(envelope, given));
    case 'system.explain':
      return explanationResult(open, envelope);
    default:
      return envelopeResult(open, envelope);
  }
}

/** The values in the types of the operation, which a client cannot mean otherwise: a number for a text, and one text for a list. */
async function inTypes(host: Host, own: OwnTool, given: Given): Promise<Given> {
  const { properties = {} } = jsonSchemaOf((await host.load(own.operation)).input);
  const typed = Object.entries(given).map(([key, value]) => {
    const { type } = (properties[key] ?? {}) as { type?: unknown };
    if (type === 'string' && typeof value === 'number') return [key, String(value)];
    return [key, type === 'array' && typeof value === 'string' ? [value] : value];
  });
  return Object.fromEntries(typed);
}

/** Whether to cut the list of the answer: always a long one, any other when the client asks for it. */
async function isPage(host: Host, own: OwnTool, given: Given): Promise<boolean> {
  if (own.pages) return true;
  if (!Object.keys(PAGE).some((key) => key in given)) return false;
  return (await host.load(own.operation)).list !== undefined;
}

type Answered = SuccessEnvelope<unknown, NextStep>;
type Given = Readonly<Record<string, unknown>>;

/** A cut list of runs with the step that reads on; the id of a run keeps its place when new ones start. */
function withNextPage(envelope: Answered, { offset: _, ...given }: Given): Answered {
  const before = (envelope.data as { runs: { run_id: string }[] }).runs.at(-1)?.run_id;
  if (envelope.meta.hasMore !== true || before === undefined) return envelope;
  const step: OperationStep = {
    operation: 'run.list',
    input: { ...given, before },
    why: 'List the next runs.',
  };
  return { ...envelope, meta: { ...envelope.meta, next: [...(envelope.meta.next ?? []), step] } };
}

/** A run, whose text has only the beginning of data and of other texts that are long. */
async function shownResult(open: OpenHost, envelope: Answered): Promise<CallToolResult> {
  const whole = await envelopeResult(open, envelope);
  const { result, ...about } = envelope.data as { run_id: string; result: { data?: unknown } | null };
  const short = {
    ...(cutTexts(about) as typeof about),
    result: result && withShortData(result, about.run_id),
  };
  return { ...whole, content: (await envelopeResult(open, { ...envelope, data: short })).content };
}

/** An explanation as text; the data have it in parts. */
async function explanationResult(open: OpenHost, envelope: Answered): Promise<CallToolResult> {
  const data = explanationInCalls(envelope.data);
  return {
    ...(await envelopeResult(open, { ...envelope, data })),
    content: [{ type: 'text', text: explanationText(data) }],
  };
}

/** Events as lines of text: as JSON, each would cost a model about three times as much. */
async function logsResult(
  open: OpenHost,
  { data, meta, ...envelope }: Answered,
  { offset: _, ...given }: Given,
): Promise<CallToolResult> {
  const page = data as { run_id: string; events: Record<string, unknown>[]; last_seq: number };
  const isCut = meta.hasMore === true && page.events.length > 0;
  const step = {
    operation: 'run.logs',
    input: { ...given, run: page.run_id, since: page.last_seq },
    why: 'Read the next events.',
  };
  const answered = { ...envelope, meta: { ...meta, ...(isCut && { next: [step] }) } };
  const { events, ...about } = page;
  const [{ text }] = (await envelopeResult(open, { ...answered, data: about })).content as [TextContent];
  return {
    ...(await envelopeResult(open, { ...answered, data: { ...about, events } })),
    content: [{ type: 'text', text: [...events.map(logLine), text].join('\n') }],
  };
}

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
