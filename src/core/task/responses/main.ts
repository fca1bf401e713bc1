import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  checkCancel,
  emit,
  emitError,
  emitResult,
  emitStart,
  saveCheckpoint,
  secret,
  startHeartbeat,
  ToolError,
} from '../../../tool/index.ts';
import type { ClientClass } from './api.ts';
import { markersIn } from './ask-user.ts';
import { Conversation } from './conversation.ts';
import { functionTools } from './function-tools.ts';
import { Spending } from './spending.ts';
import type { TurnFile } from './turn-file.ts';

/**
 * The program of the executor `responses`: it gives a model of the Responses API functions for files and commands,
 * inside the sandbox that this program runs in. Its one argument is the entry of the package `openai`.
 */
async function main(): Promise<void> {
  const turn: TurnFile = JSON.parse(
    readFileSync(join(dirname(process.env['CANCEL_FILE'] ?? ''), 'turn.json'), 'utf8'),
  );
  const Client = clientOf(process.argv[2] ?? '');
  const client = new Client({ apiKey: keyOf() });
  emitStart('responses', { model: turn.model }, turn.session === null ? {} : { session_id: turn.session });
  const cancelWatch = setInterval(checkCancel, 200);
  cancelWatch.unref();
  await using _heartbeat = startHeartbeat({ step: 'model' });
  spending = new Spending(turn);
  const tools = functionTools(turn);
  const talk = new Conversation(client, turn, tools);
  for (let iteration = 1; iteration <= turn.max_iterations; iteration++) {
    checkCancel();
    const metrics = iteration === 1 ? {} : { metrics: spending.metrics };
    emit('progress', { step: 'model', msg: `call ${iteration} of the model`, iteration, ...metrics });
    const reply = await talk.next();
    spending.add(reply);
    saveCheckpoint('session', { agent: 'responses', session_id: talk.session });
    const said = await markersIn(reply.output_text);
    if (said !== undefined) talk.say(said);
    const isDone = await talk.carryOut(reply);
    saveCheckpoint('session', { agent: 'responses', session_id: talk.session });
    if (isDone || (!talk.hasMore && said === undefined)) {
      emitResult({
        data: { output: tools.summary ?? reply.output_text, files_modified: tools.filesModified },
        metrics: { iterations: iteration, ...spending.metrics },
      });
      return;
    }
    if (spending.isOver) {
      throw new ToolError(
        'E_BUDGET',
        `the turn has cost ${spending.usd} USD; it was given ${turn.max_cost_usd}`,
        'Raise task.max_cost_usd or the budget, and continue with the same task id.',
      );
    }
  }
  throw new ToolError(
    'E_TOOL_FAILED',
    `the model was called ${turn.max_iterations} times and is not done (task.max_iterations)`,
    'Raise task.max_iterations, or continue with the same task id.',
  );
}

/** The project's package, wherever it is installed. */
function clientOf(entry: string): ClientClass {
  const loaded = createRequire(entry)(entry);
  return loaded.OpenAI;
}

/** A service on localhost may need no key. */
function keyOf(): string {
  try {
    return secret('OPENAI_API_KEY');
  } catch {
    return 'none';
  }
}

/** For the error that ends a turn early: what it has used is spent. */
let spending: Spending | undefined;

try {
  await main();
  process.exit(0);
} catch (error) {
  const { code, message, hint, retryable } = errorOf(error);
  emitError(code, message, { hint, retryable, ...(spending && { metrics: spending.metrics }) });
  process.exit(retryable ? 20 : 30);
}

/** Maps an error of the service, its client or this program to the error of the run. */
function errorOf(error: unknown): { code: string; message: string; hint: string; retryable: boolean } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ToolError)
    return { code: error.code, message, hint: error.hint ?? '', retryable: false };
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 429) return { code: 'E_RATE_LIMIT', message, hint: '', retryable: true };
  if (status === 401 || status === 403) {
    return {
      code: 'E_PERMISSION',
      message,
      hint: 'Store a valid key of the service as the secret OPENAI_API_KEY.',
      retryable: false,
    };
  }
  const isOfNetwork = /^(APIConnection|APIConnectionTimeout)Error$/.test(error?.constructor.name ?? '');
  if (isOfNetwork || (typeof status === 'number' && status >= 500))
    return { code: 'E_TRANSIENT_NET', message, hint: '', retryable: true };
  return { code: 'E_TOOL_FAILED', message, hint: '', retryable: false };
}
