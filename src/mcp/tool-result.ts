import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Envelope, EnvelopeError } from '../compose/envelope.ts';
import { toFailure } from '../compose/failure.ts';
import type { NextStep } from '../compose/next-step.ts';
import { acceptedSteps } from '../operations/accepted-steps.ts';
import { commandOf } from '../operations/command-forms.ts';
import { leftToPersons } from '../operations/needs-person.ts';
import { inInputs } from '../operations/tool/input-words.ts';
import { boundedText } from './bounded-text.ts';
import type { Host, OpenHost } from './host.ts';
import { isRisky, type LeftToOthers, type NextCall, nextCall, nextCalls } from './next-calls.ts';
import { errorInCalls, inCalls } from './surface-words.ts';

const MAX_STDERR_LINES = 5;
const MAX_STDERR_CHARS = 300;

/** The envelope of an operation as the result of a tool. */
export async function envelopeResult(open: OpenHost, envelope: Envelope<NextStep>): Promise<CallToolResult> {
  const steps = envelope.meta.next ?? [];
  const left = await leftIn(open, steps);
  if (!envelope.ok) return errorResult(envelope.error, steps, { left });
  const next = nextCalls(steps, left);
  const { total, hasMore, warnings } = envelope.meta;
  const note = hintOf('', steps, left);
  const answer = {
    data: envelope.data,
    ...(total !== undefined && { total }),
    ...(hasMore !== undefined && { hasMore }),
    ...(note !== '' && { note }),
    ...(warnings !== undefined && warnings.length > 0 && { warnings: warnings.map(inCalls) }),
    ...(next.length > 0 && { next }),
  };
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

/** The steps that the policy leaves to a person, or to other callers. */
export async function leftIn(open: OpenHost, steps: readonly NextStep[]): Promise<LeftToOthers> {
  const operations = steps.flatMap((step) => ('operation' in step ? [step.operation] : []));
  const forPersons = await leftToPersons(open.app, operations);
  const { refused } = await acceptedSteps(open.app, steps);
  return new Set([
    ...refused,
    ...steps.filter((step) => 'operation' in step && forPersons.has(step.operation)),
  ]);
}

/** The failure of a tool, as text and as data: what happened, whether to retry, and what to do. */
export function errorResult(
  failure: EnvelopeError,
  steps: readonly NextStep[],
  {
    about = {},
    left = new Set(),
    next = nextCalls(steps, left),
  }: { about?: Readonly<Record<string, unknown>>; left?: LeftToOthers; next?: readonly NextCall[] } = {},
): CallToolResult {
  const plain = errorInCalls(inInputs(failure), about['run_id'] !== undefined);
  const error = { ...plain, hint: hintOf(plain.hint, steps, left) };
  const { code, message, hint, retryable, action } = error;
  const text = [
    `${code}: ${message}`,
    ...(hint === '' ? [] : [`Hint: ${hint}`]),
    `Retryable: ${retryable ? 'yes' : 'no'}. ${action}`,
    ...stderrOf(error),
    ...next.map((call) => `Next: ${JSON.stringify(call)}`),
  ].join('\n');
  return {
    content: [{ type: 'text', text }],
    structuredContent: { ...about, error, ...(next.length > 0 && { next }) },
    isError: true,
  };
}

/** The last lines of stderr, which often say more than the code. */
function stderrOf({ details }: EnvelopeError): string[] {
  const lines = details?.['stderr'];
  if (!Array.isArray(lines)) return [];
  return [
    'Stderr:',
    ...lines.slice(-MAX_STDERR_LINES).map((line) => boundedText(String(line), MAX_STDERR_CHARS)),
  ];
}

/** The same for a thrown value. */
export function thrownResult(host: Host, thrown: unknown, next?: readonly NextCall[]): CallToolResult {
  const problem = toFailure(thrown, host.cli, { signal: new AbortController().signal, showsStack: false });
  return errorResult(problem.error, problem.next ?? [], next === undefined ? {} : { next });
}

/** Steps that may do harm are not among the next calls; steps for others, or without a tool here, such as an approval, are for a terminal. */
export function hintOf(hint: string, steps: readonly NextStep[], left: LeftToOthers = new Set()): string {
  const risky = steps.filter(isRisky).map((step) => `${step.why} ${JSON.stringify(nextCall(step))}`);
  const elsewhere = steps.filter((step) => nextCall(step) === undefined || left.has(step)).map(commandOf);
  const terminal = elsewhere.length === 0 ? [] : [`At a terminal: ${elsewhere.join('; ')}`];
  const sentence = /[\w"')\]]$/.test(hint) && risky.length + terminal.length > 0 ? `${hint}.` : hint;
  return [sentence, ...risky, ...terminal].join(' ').trim();
}
