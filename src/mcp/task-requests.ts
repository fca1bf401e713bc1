import {
  inputResponse,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { answerIn, handIn } from './client-answers.ts';
import { type Client, clientOf, TASKS } from './client-of.ts';
import type { Host, OpenHost } from './host.ts';
import { blockingQuestions, type DetailedTask, taskOf } from './task.ts';

const taskId = z.looseObject({ taskId: z.string() });

/** Questions that a user has declined, by run: they are not asked again. */
export type Declined = Map<string, Set<string>>;

/** Implements the tasks extension: every run of the project is a task with the run's id. */
export function serveTasks(server: Server, host: Host, declined: Declined): void {
  const opened = async (id: string, ctx: ServerContext) => {
    const client = clientOf(server, ctx);
    if (!client.takesTasks) {
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS]: {} } },
      });
    }
    return { client, open: await openTask(host, client, id) };
  };
  server.setRequestHandler('tasks/get', { params: taskId }, async (params, ctx): Promise<DetailedTask> => {
    const { client, open } = await opened(params.taskId, ctx);
    const options = { client, declined: declined.get(params.taskId) ?? new Set<string>() };
    return taskOf(host, open, params.taskId, options);
  });
  server.setRequestHandler('tasks/update', { params: taskId }, async (params, ctx) => {
    const { open } = await opened(params.taskId, ctx);
    for (const question of await blockingQuestions(open, params.taskId)) {
      const given = answerIn(question, inputResponse(ctx.mcpReq.inputResponses, question.action_id));
      if (given === undefined) continue;
      if (given === 'declined') remember(declined, params.taskId, question.action_id);
      else await handIn(open, params.taskId, question, given);
    }
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params: taskId }, async (params, ctx) => {
    const { open } = await opened(params.taskId, ctx);
    // The client sees the end with tasks/get: the tool may use its grace period.
    const input = { run: params.taskId, reason: 'cancelled by the MCP client' };
    void open.call('run.cancel', input, { signal: new AbortController().signal });
    return {};
  });
}

async function openTask(host: Host, client: Client, id: string): Promise<OpenHost> {
  const open = host.open(client);
  const { store } = await open.app.project();
  try {
    await store.read(id);
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, (error as Error).message);
  }
  return open;
}

function remember(declined: Declined, run: string, actionId: string): void {
  const known = declined.get(run);
  if (known === undefined) declined.set(run, new Set([actionId]));
  else known.add(actionId);
}
