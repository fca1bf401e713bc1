import type { CliApp, Route } from '../cli-app.ts';
import type { HealthCheck } from '../health-shape.ts';
import type { Operation } from '../operation.ts';
import type { Setting } from './config.ts';

/** What the built-in commands know besides the application. */
export interface BuiltinParts<C> {
  checks: ((context: C) => Promise<HealthCheck[]> | HealthCheck[]) | undefined;
  settings: ((context: C) => Promise<Setting[]> | Setting[]) | undefined;
}

/** The command that the completion scripts call at each Tab. */
export const ASKS = 'complete-words';

/** The commands that every application of the kit has. Each is loaded when it is called. */
export function builtins<C>(app: CliApp<C>, { checks, settings }: BuiltinParts<C>): Route<C>[] {
  return [
    route('tools', 'system.tools', ['name'], async () => (await import('./catalog.ts')).catalogCommand(app)),
    route('health', 'system.health', [], async () =>
      (await import('./health.ts')).healthCommand(app, checks),
    ),
    route('config show', 'config.show', ['key'], async () =>
      (await import('./config.ts')).configCommand(app, settings),
    ),
    route('errors', 'system.errors', ['code'], async () => (await import('./errors.ts')).errorsCommand(app)),
    route('explain', 'system.explain', [], async () => (await import('./guide.ts')).guideCommand(app)),
    ...[
      route('complete', 'system.complete', ['shell'], async () =>
        (await import('./complete.ts')).completeCommand(app.name, ASKS),
      ),
      route('man', 'system.man', [], async () => (await import('./man.ts')).manCommand(app)),
      route('mcp', 'system.mcp', [], async () => (await import('./mcp.ts')).mcpCommand(app)),
      {
        ...route('complete-words', 'system.complete-words', ['words'], async () =>
          (await import('./complete-words.ts')).completeWordsCommand(app),
        ),
        hidden: true,
      },
    ].map((each) => ({ ...each, shellOnly: true })),
  ];
}

function route<C>(
  command: string,
  operation: string,
  positionals: readonly string[],
  // biome-ignore lint/suspicious/noExplicitAny: an operation is contravariant in its input.
  load: () => Promise<Operation<any, any, any>>,
): Route<C> {
  let loaded: Promise<Operation<C>> | undefined;
  return { operation, command, positionals, load: () => (loaded ??= load()) };
}
