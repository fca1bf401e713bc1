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
import { offeredTool, wordsForTool } from '../operations/tool/offered-tools.ts';
import type { Manifest } from '../protocol/manifest.ts';
import { callOwnTool } from './call-own-tool.ts';
import { type Client, clientOf } from './client-of.ts';
import type { Host } from './host.ts';
import { withLiveRuns } from './live-runs.ts';
import { type LogThreshold, logThresholdOf } from './log-messages.ts';
import { OWN_TOOLS } from './own-tools.ts';
import { type AskedState, type CallAnswer, followCall, type RunCall } from './run-call.ts';
import { answerInput, RUN_TOOLS, resumeInput, runInput, waitInput } from './run-tools.ts';
import { envelopeResult, thrownResult } from './tool-result.ts';

const WAIT_S = 45;
/** For a tool with at most this deadline, the server waits for the result instead of creating a task. */
const QUICK_S = 20;

/** What one server needs to answer calls. */
export interface CallServices {
  server: Server;
  host: Host;
  states: RequestStateCodec<AskedState>;
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
  const { server, sessionLogLevel, ...rest } = services;
  const { name: tool, arguments: given = {} } = params;
  const client = clientOf(server, ctx);
  const open = services.host.open(client);
  const logThreshold = logThresholdOf(ctx, sessionLogLevel);
  const called: Called = { ...rest, open, client, ctx, tool, logThreshold };
  try {
    const answer = await answerCall(called, given);
    return isResult(answer) ? await withLiveRuns(open, answer) : answer;
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return withLiveRuns(open, thrownResult(services.host, error));
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
    if (asked.tool === tool) return followCall({ ...called, run: asked.run, isQuick: false });
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'the requestState belongs to another tool');
  }
  const own = OWN_TOOLS.find(({ name }) => name === tool);
  if (own !== undefined) return callOwnTool(host, open, own, given, ctx.mcpReq.signal);
  switch (RUN_TOOLS.find(({ name }) => name === tool)?.name) {
    case 'acor_answer':
      return answer(called, given);
    case 'acor_wait': {
      const { run, timeout = WAIT_S } = checked(waitInput, given, tool);
      return followCall({ ...called, run, waitMs: timeout * 1000, isQuick: false });
    }
    case 'acor_resume':
      return startAndFollow(called, 'run.resume', { ...checked(resumeInput, given, tool), detach: true });
    case 'acor_run':
      return runByName(called, given);
    case undefined:
      return runTool(called, given);
  }
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
  const { arguments: inputs, detach, ...options } = checked(runInput, given, called.tool);
  const offered = await offeredTool(open.app, options.tool);
  if (offered !== undefined) demandCapabilities(called.client, offered.manifest);
  const args = await wordsForTool(open.app, options.tool, inputs);
  const input = { ...defined(options), args, detach: true };
  if (!options.dry_run && !detach) return startAndFollow(called, 'run.start', input);
  return envelopeResult(await open.call('run.start', input, { signal: ctx.mcpReq.signal }));
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
  operation: 'run.start' | 'run.resume',
  input: Given,
  isQuick = false,
): Promise<CallAnswer> {
  const { open } = called;
  // A start cannot be interrupted; a cancelled request then cancels the run.
  const started = await open.call(operation, input, { signal: new AbortController().signal });
  if (!started.ok) return envelopeResult(started);
  const { run_id: run } = started.data as { run_id: string };
  return followCall({ ...called, run, isQuick });
}

async function answer({ open, ctx, tool }: Called, given: Given): Promise<CallAnswer> {
  const { run, action_id, choice, value, reason } = checked(answerInput, given, tool);
  if ((choice === undefined) === (value === undefined)) {
    const message = 'pass either choice or value, not both';
    throw usageError([{ parameter: 'choice', message }]);
  }
  const answered = value === undefined ? { choice } : { value: JSON.stringify(value) };
  const input = defined({ run, action_id, ...answered, reason });
  return envelopeResult(await open.call('run.answer', input, { signal: ctx.mcpReq.signal }));
}

function checked<S extends z.ZodType>(schema: S, given: Given, tool: string): z.output<S> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => ({
    parameter: path.join('.'),
    message: `${path.length === 0 ? 'the arguments' : path.join('.')}: ${message}`,
    fix: `Compare the arguments with the inputSchema of ${tool}.`,
  }));
  throw usageError(problems);
}

function defined(values: Given): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
