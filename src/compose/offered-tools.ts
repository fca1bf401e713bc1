import * as z from 'zod';
import { lossOfValue } from '../util/exact-json.ts';
import { AppError } from './app-error.ts';
import { type Call, callOperation } from './call-operation.ts';
import { loadAll } from './catalog.ts';
import type { CliApp, CliIo } from './cli-app.ts';
import { type Envelope, failure } from './envelope.ts';
import { toFailure } from './failure.ts';
import { NO_GLOBAL_FLAGS } from './globals.ts';
import type { NextStep } from './next-step.ts';
import type { Effect, Operation } from './operation.ts';
import { calledAs, writeCommand } from './write-command.ts';

/** What a server lets its callers do: everything up to this effect. */
export type Allowed = Effect;

const ORDER: readonly Effect[] = ['reads', 'writes', 'destroys'];

/** A command as a function that another program calls. */
export interface OfferedTool<C> {
  /** `items_list`: MCP and the APIs of models take no dots. */
  name: string;
  command: string;
  op: Operation<C>;
  inputSchema: Record<string, unknown>;
}

/** The commands that a server offers, the same ones in the same order each time. Throws E_USAGE for another `allow`. */
export async function offeredTools<C>(app: CliApp<C>, allow: Allowed): Promise<OfferedTool<C>[]> {
  if (!ORDER.includes(allow))
    throw new AppError('E_USAGE', `allow must be one of ${ORDER.join(', ')}, not ${JSON.stringify(allow)}`, {
      hint: `Pass the most that callers may do: { allow: 'reads' }`,
    });
  const offered = (await loadAll(app.routes.filter(({ shellOnly }) => shellOnly !== true))).filter(
    ({ op }) => op.passthrough === undefined && ORDER.indexOf(op.effect) <= ORDER.indexOf(allow),
  );
  return offered.map(({ command, op }) => ({
    name: op.name.replaceAll('.', '_'),
    command,
    op,
    inputSchema: inputSchemaOf(op),
  }));
}

/** Calls a command as the command line does, with a context of its own. Never throws. */
export async function callTool<C>(
  app: CliApp<C>,
  op: Operation<C>,
  input: Readonly<Record<string, unknown>>,
  { signal, ...rest }: Pick<Call<C>, 'signal'> & Partial<Pick<Call<C>, 'selection' | 'cwd' | 'env'>>,
): Promise<Envelope<NextStep>> {
  const { cwd = process.cwd(), env = process.env } = rest;
  const io: CliIo = {
    stdoutFd: 2,
    stderrFd: 2,
    stdoutIsTTY: false,
    stdinIsTTY: false,
    columns: undefined,
    env,
    cwd,
    signal,
    readStdin: async () => '',
  };
  try {
    const loss = lossOfValue(input);
    if (loss !== undefined) throw new AppError('E_USAGE', `the input ${loss.mistake}`, { hint: loss.fix });
    const context = await app.openContext(NO_GLOBAL_FLAGS, io);
    try {
      return await callOperation(app, op, input, { context, cwd, env, signal, ...rest });
    } finally {
      await app.closeContext?.(context);
    }
  } catch (thrown) {
    const { error, next } = toFailure(thrown, app, { signal, showsStack: false });
    return failure(error, { tool: op.name, elapsed: 0, ...(next !== undefined && { next }) });
  }
}

/** The envelope with its next steps as command lines. */
export function withCommands<C>(app: CliApp<C>, envelope: Envelope<NextStep>): Envelope<string> {
  const next = (envelope.meta.next ?? []).map((step) => writeCommand(calledAs(app), app.routes, step));
  const meta = { ...envelope.meta, ...(next.length > 0 && { next }) } as Envelope<string>['meta'];
  return { ...envelope, meta } as Envelope<string>;
}

function inputSchemaOf({ input }: Operation<never>): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return schema;
}
