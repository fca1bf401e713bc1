import type { Call } from '../compose/call-operation.ts';
import type { Route } from '../compose/cli-app.ts';
import { AcorError } from '../protocol/acor-error.ts';
import type { RunEvent } from '../protocol/index.ts';
import { nearest } from '../util/nearest.ts';
import type { AcorApp } from './acor-app.ts';
import type { CallOptions } from './library-options.ts';
import type { ProjectCache } from './project-cache.ts';
import { refuseAborted } from './refuse-aborted.ts';

/** Where a program calls from. */
interface Caller {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  config: Readonly<Record<string, unknown>> | undefined;
  projects: ProjectCache;
  note: (line: string) => void;
}

/** Calls an operation for a program that uses the library. Its failure is thrown as an AcorError. */
export async function callFromProgram(
  caller: Caller,
  operation: string,
  input: Readonly<Record<string, unknown>>,
  { signal = new AbortController().signal, onEvent, fields, limit, offset, maxTokens }: CallOptions = {},
): Promise<{ data: unknown; meta: object }> {
  const [{ callOperation }, { acorCli }, { AcorApp }, { eventsIn }] = await Promise.all([
    import('../compose/call-operation.ts'),
    import('./acor-cli.ts'),
    import('./acor-app.ts'),
    import('../core/store-files/follow.ts'),
  ]);
  const cli = acorCli();
  const route = cli.routes.find((each) => each.operation === operation && each.hidden !== true);
  if (route === undefined)
    throw new AcorError('E_USAGE', `there is no operation '${operation}'`, {
      hint: nearOperation(operation, cli.routes),
    });
  refuseAborted(signal);
  const { cwd, env, config, projects, note } = caller;
  const context = new AcorApp({ routes: cli.routes, surface: 'library', cwd, env, config, projects, note });
  const call: Call<AcorApp> = { context, cwd, env, signal, selection: { fields, limit, offset, maxTokens } };
  const failed: { listener?: { thrown: unknown } } = {};
  if (onEvent !== undefined)
    call.onEvents = (lines) => {
      try {
        for (const event of eventsIn(lines)) onEvent(event as RunEvent);
      } catch (thrown) {
        failed.listener = { thrown };
        throw thrown;
      }
      return 'more';
    };
  const envelope = await callOperation(cli, await route.load(), input, call);
  // The caller's own error is no failure of the operation.
  if (failed.listener !== undefined) throw failed.listener.thrown;
  if (envelope.ok) return { data: envelope.data, meta: envelope.meta };
  const { code, message, hint, details } = envelope.error;
  throw new AcorError(code, message, { hint, ...(details && { details }), next: envelope.meta.next ?? [] });
}

function nearOperation(
  operation: string,
  routes: readonly Pick<Route<AcorApp>, 'operation' | 'hidden'>[],
): string {
  const names = routes.filter(({ hidden }) => hidden !== true).map((route) => route.operation);
  const near = nearest(operation, names);
  return near === undefined ? "The operation 'system.tools' lists all." : `Did you mean '${near}'?`;
}
