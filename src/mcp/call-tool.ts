import {
  type CallToolRequest,
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type * as z from 'zod';
import { usageError } from '../compose/app-error.ts';
import { checkFields } from '../compose/check-fields.ts';
import { PLAIN_WORDS } from '../compose/describe-issue.ts';
import { namedRun, runQuestions } from '../operations/run/run-status.ts';
import { jsonWords, offeredTool, wordsForTool } from '../operations/tool/offered-tools.ts';
import { isWorkflow } from '../operations/workflow/is-workflow.ts';
import type { Manifest } from '../protocol/manifest.ts';
import { inexactNumber, lossOfNumber } from '../util/exact-json.ts';
import { answerCalls, possibleAnswers } from './answer-calls.ts';
import { boundedAnswer } from './bounded-answer.ts';
import { callOwnTool } from './call-own-tool.ts';
import { type Client, clientOf } from './client-of.ts';
import type { Host, OpenHost } from './host.ts';
import type { KeptTools } from './kept-tools.ts';
import { withLiveRuns } from './live-runs.ts';
import { type LogThreshold, logThresholdOf } from './log-messages.ts';
import { OWN_TOOLS } from './own-tools.ts';
import { type AskedState, type CallAnswer, followCall, type RunCall } from './run-call.ts';
import { answerInput, RUN_TOOLS, resumeInput, runInput, waitInput } from './run-tools.ts';
import { envelopeResult, errorResult, thrownResult } from './tool-result.ts';

const WAIT_S = 45;
/** For a tool with at most this deadline, the server waits for the result instead of creating a task. */
const QUICK_S = 20;

/** What one server needs to answer calls. */
export interface CallServices {
  server: Server;
  host: Host;
  states: RequestStateCodec<AskedState>;
  kept: KeptTools;
  cancelsByLeaving: boolean;
  callLimitS: number | undefined;
  /** The level that the session has set for log messages. */
  sessionLogLevel: LogThreshold;
}

type Requiring = Pick<Manifest, 'requires'>;
type Given = Readonly<Record<string, unknown>>;
type Called = Pick<
  RunCall,
  'host' | 'open' | 'client' | 'ctx' | 'states' | 'tool' | 'cancelsByLeaving' | 'callLimitS' | 'logThreshold'
>;

/** Answers `tools/call`. A failure of a tool is a result; only an unknown name is a protocol error. */
export async function callTool(
  services: CallServices,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallAnswer> {
  const { server, sessionLogLevel, kept, ...rest } = services;
  const { name: tool, arguments: given = {} } = params;
  const client = clientOf(server, ctx);
  const open = services.host.open(client);
  const logThreshold = logThresholdOf(ctx, sessionLogLevel);
  const called: Called = { ...rest, open, client, ctx, tool, logThreshold };
  const named = () => namedRun(open.app, String(given['run'])).catch(() => undefined);
  try {
    const answer = await answerCall(called, given);
    if (!isResult(answer)) return answer;
    kept.see(answer);
    return await withLiveRuns(open, boundedAnswer(answer), await named());
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return withLiveRuns(open, thrownResult(services.host, error), await named());
  }
}

/** Whether the call is over: not a task, and not a form for the user. */
function isResult(answer: CallAnswer): answer is CallToolResult {
  return 'content' in answer;
}

async function answerCall(called: Called, given: Given): Promise<CallAnswer> {
  const { host, open, ctx, tool } = called;
  const asked = ctx.mcpReq.requestState<AskedState>();
  if (asked !== undefined) {
    if (asked.tool === tool && tool === 'acor_wait') return wait(called, given);
    if (asked.tool === tool) return followCall({ ...called, run: asked.run, isWait: false, isQuick: false });
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'the requestState belongs to another tool');
  }
  const own = OWN_TOOLS.find(({ name }) => name === tool);
  if (own !== undefined) return callOwnTool(host, open, own, given, ctx.mcpReq.signal);
  switch (RUN_TOOLS.find(({ name }) => name === tool)?.name) {
    case 'acor_answer':
      return answer(called, given);
    case 'acor_wait':
      return wait(called, given);
    case 'acor_resume':
      return resume(called, given);
    case 'acor_run':
      return runByName(called, given);
    case undefined:
      return runTool(called, given);
  }
}

async function wait(called: Called, given: Given): Promise<CallAnswer> {
  const { run: named, timeout = WAIT_S } = checked(waitInput, given);
  const run = await namedRun(called.open.app, named);
  return followCall({ ...called, run, isWait: true, waitMs: timeout * 1000, isQuick: false });
}

async function resume(called: Called, given: Given): Promise<CallAnswer> {
  const input = checked(resumeInput, given);
  const operation = input.from === undefined ? 'run.resume' : 'workflow.resume';
  return startAndFollow(called, operation, { ...input, detach: true });
}

async function runTool(called: Called, given: Given): Promise<CallAnswer> {
  const { open, tool } = called;
  const offered = await offeredTool(open.app, tool);
  if (offered === undefined) {
    const message = `there is no tool ${JSON.stringify(tool.slice(0, 100))}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  demandCapabilities(called.client, offered.manifest);
  const input = { tool, args: await wordsForTool(open.app, tool, given), detach: true };
  return startAndFollow(
    called,
    'run.start',
    input,
    (offered.manifest.timeout_s ?? Number.POSITIVE_INFINITY) <= QUICK_S,
  );
}

async function runByName(called: Called, given: Given): Promise<CallAnswer> {
  const { open, ctx } = called;
  const { arguments: inputs, detach, answers = {}, ...options } = checked(runInput, given);
  const answer = Object.entries(answers).map(([action, value]) => `${action}=${JSON.stringify(value)}`);
  const { operation, input } = await startOf(
    called,
    { ...options, detach: !options.dry_run || detach, ...(answer.length > 0 && { answer }) },
    inputs,
  );
  if (!options.dry_run && !detach) return startAndFollow(called, operation, input);
  return envelopeResult(open, await open.call(operation, input, { signal: ctx.mcpReq.signal }));
}

/** The start of a tool by its name; of a workflow where no tool has the name. */
async function startOf(
  { open, client }: Called,
  options: Omit<z.output<typeof runInput>, 'arguments' | 'answers'> & { answer?: string[] },
  inputs: Given,
): Promise<{ operation: 'run.start' | 'workflow.run'; input: Given }> {
  const { tool, ...flags } = options;
  const offered = await offeredTool(open.app, tool);
  if (offered !== undefined) demandCapabilities(client, offered.manifest);
  else if (await isWorkflow(open.app, tool)) {
    // An option that workflows do not have is refused only if it is set.
    const set = Object.entries(flags).filter(([, value]) => value !== undefined && value !== false);
    const args = jsonWords(inputs);
    return {
      operation: 'workflow.run',
      input: { ...Object.fromEntries(set), workflow: tool, args },
    };
  }
  const args = await wordsForTool(open.app, tool, inputs);
  return { operation: 'run.start', input: { ...defined(options), args } };
}

/** Throws the protocol error for a client that lacks what the tool requires of it. */
function demandCapabilities({ elicits, samples, hasRoots }: Client, { requires = [] }: Requiring): void {
  const has = { elicitation: elicits, sampling: samples, roots: hasRoots };
  const missing = requires.filter((each) => !has[each]);
  if (missing.length === 0) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: Object.fromEntries(missing.map((each) => [each, {}])),
  });
}

/** Each run has its own supervisor process, so that it outlives the request, the connection and the server. */
async function startAndFollow(
  called: Called,
  operation: 'run.start' | 'run.resume' | 'workflow.run' | 'workflow.resume',
  input: Given,
  isQuick = false,
): Promise<CallAnswer> {
  const { open } = called;
  // A start cannot be interrupted; a cancelled request then cancels the run.
  const started = await open.call(operation, input, { signal: new AbortController().signal });
  if (!started.ok) return envelopeResult(open, started);
  const { run_id: run } = started.data as { run_id: string };
  return followCall({ ...called, run, isWait: false, isQuick });
}

async function answer({ host, open, ctx }: Called, given: Given): Promise<CallAnswer> {
  const { run: named, action_id, choice, value, reason } = checked(answerInput, given);
  const run = await namedRun(open.app, named);
  if (choice !== undefined && value !== undefined)
    throw usageError([{ parameter: 'choice', message: 'give choice or value, not both' }]);
  const answered = value === undefined ? { choice } : { value: JSON.stringify(value) };
  const input = defined({ run, action_id, ...answered, reason });
  if (choice === undefined && value === undefined) return withoutAnswer(host, open, run, action_id);
  const envelope = await open.call('run.answer', input, { signal: ctx.mcpReq.signal });
  if (envelope.ok || envelope.error.code !== 'E_BAD_ANSWER') return envelopeResult(open, envelope);
  const asked = await runQuestions(open.app, run);
  const meant = asked.questions.find((each) => each.action_id === action_id || asked.questions.length === 1);
  if (meant === undefined) return envelopeResult(open, envelope);
  const hint = `The question is still open: give ${possibleAnswers(meant)}.`;
  return errorResult({ ...envelope.error, hint }, [], { next: answerCalls(run, asked) });
}

async function withoutAnswer(
  host: Host,
  open: OpenHost,
  run: string,
  actionId: string | undefined,
): Promise<CallToolResult> {
  const asked = await runQuestions(open.app, run);
  const problems = asked.questions
    .filter(({ action_id }) => actionId === undefined || action_id === actionId)
    .map((question) => ({
      parameter: 'choice',
      message: `the answer to '${question.action_id}' is missing`,
      fix: `Give ${possibleAnswers(question)}.`,
    }));
  const none = { parameter: 'action_id', message: `run ${run} has no such open question` };
  const error = usageError(problems.length === 0 ? [none] : problems);
  return thrownResult(host, error, answerCalls(run, asked));
}

function checked<S extends z.ZodObject>(schema: S, given: Given): z.output<S> {
  const { problems, value } = checkFields({ input: schema }, given, schema.safeParse(given, PLAIN_WORDS));
  if (problems.length > 0) throw usageError(problems);
  refuseInexact(given);
  return value as z.output<S>;
}

/** The arguments of another tool are refused by its inputs. */
function refuseInexact({ arguments: _, ...own }: Given): void {
  const problems = Object.entries(own).flatMap(([parameter, value]) => {
    const number = inexactNumber(value);
    if (number === undefined) return [];
    const { mistake, fix } = lossOfNumber(number);
    return { parameter, message: `${parameter} ${mistake}`, fix };
  });
  if (problems.length > 0) throw usageError(problems);
}

function defined(values: Given): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
