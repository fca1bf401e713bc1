import type { NextStep, OperationStep } from '../compose/next-step.ts';
import { OWN_TOOLS } from './own-tools.ts';
import { RUN_TOOLS } from './run-tools.ts';

/**
 * A next step: a call of a tool of this server, or a command for an agent with a shell. `missing` has the JSON Schemas of
 * arguments that only the caller knows.
 */
export type NextCall =
  | { tool: string; arguments: Record<string, unknown>; missing?: Record<string, unknown> }
  | { command: string };

/** Operations that serve the same purpose here: attaching prints a stream, and resuming takes runs of every kind. */
const INSTEAD: Readonly<Record<string, string>> = {
  'run.attach': 'run.wait',
  'run.decisions': 'run.show',
  'run.artifacts': 'run.show',
  'workflow.resume': 'run.resume',
};

/** The steps that the policy leaves to others: no client is offered a call that would be refused. */
export type LeftToOthers = ReadonlySet<NextStep>;

/**
 * The next steps as calls of this server's tools, which a client may simply follow. Steps without a tool are omitted, those
 * that may do harm, and those for a person: the hint has them. Steps that come to the same call are one.
 */
export function nextCalls(steps: readonly NextStep[], left: LeftToOthers = new Set()): NextCall[] {
  const calls = steps.flatMap((step) => (isRisky(step) || left.has(step) ? [] : (nextCall(step) ?? [])));
  return [...new Map(calls.map((call) => [JSON.stringify(call), call])).values()];
}

/** Whether the step may repeat what the tool did before. */
export function isRisky(step: NextStep): boolean {
  return 'input' in step && step.input['force'] === true;
}

/** The step as a call; undefined for an operation that is not a tool of this server. */
export function nextCall(step: NextStep): NextCall | undefined {
  if ('command' in step) return { command: step.command };
  // The tools for these are offered only where there are too many project tools to list; the explanation always is.
  if (step.operation === 'tool.describe') return explainCall({ topic: `tool:${step.input['tool']}` });
  if (step.operation === 'tool.list') return explainCall({});
  if (step.operation === 'workflow.run') return workflowCall(step.input);
  const operation = INSTEAD[step.operation] ?? step.operation;
  const own = OWN_TOOLS.find((each) => each.operation === operation);
  if (own !== undefined) return { tool: own.name, arguments: argumentsOf(step, own.without) };
  const tool = RUN_TOOLS.find((each) => each.operation === operation);
  if (tool === undefined) return undefined;
  const given = argumentsOf(step, tool.without);
  switch (tool.name) {
    case 'acor_answer':
      return { tool: tool.name, arguments: withAnswer(given) };
    case 'acor_run':
      return runCall(given, step.input['args']);
    case 'acor_resume':
    case 'acor_wait':
      return { tool: tool.name, arguments: given };
  }
}

function explainCall(given: Record<string, unknown>): NextCall {
  return { tool: 'acor_explain', arguments: given };
}

/** The tool takes a workflow by its name alone. */
function workflowCall({ workflow, ...input }: OperationStep['input']): NextCall | undefined {
  if (String(workflow).includes('/')) return undefined;
  return nextCall({ operation: 'run.start', input: { tool: workflow, ...input }, why: '' });
}

function argumentsOf({ input }: OperationStep, without: readonly string[]): Record<string, unknown> {
  const given = Object.entries(input).filter(
    ([key, value]) => value !== undefined && value !== null && !without.includes(key),
  );
  return Object.fromEntries(given);
}

/** The operation takes an answer as JSON, the tool as the value itself. */
function withAnswer(given: Record<string, unknown>): Record<string, unknown> {
  const value = parsed(given['value']);
  return value === undefined ? given : { ...given, value };
}

/**
 * The operation takes the words of a command line, the tool the inputs; other words than those of `wordsForTool` cannot
 * be converted.
 */
function runCall(given: Record<string, unknown>, words: unknown): NextCall | undefined {
  const [form, ...rest] = Array.isArray(words) ? words : [];
  const { answer, ...others } = given;
  const call = { ...others, ...(Array.isArray(answer) && { answers: answersOf(answer) }) };
  if (form === undefined) return { tool: 'acor_run', arguments: call };
  if (form === '--') return { tool: 'acor_run', arguments: { ...call, arguments: { args: rest } } };
  const inputs = form === '--input-json' ? parsed(rest[0]) : undefined;
  return inputs === undefined ? undefined : { tool: 'acor_run', arguments: { ...call, arguments: inputs } };
}

/** The operation takes answers as `ACTION=VALUE`, where a value is JSON or else text; the tool takes an object. */
function answersOf(answers: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(
    answers.map((each) => {
      const text = String(each);
      const value = text.slice(text.indexOf('=') + 1);
      const json = parsed(value);
      return [text.slice(0, text.indexOf('=')), json === undefined ? value : json];
    }),
  );
}

/** The value of a JSON text; undefined for anything else. */
function parsed(json: unknown): unknown {
  try {
    return JSON.parse(String(json));
  } catch {
    return undefined;
  }
}
