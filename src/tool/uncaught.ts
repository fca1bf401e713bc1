import { emitter } from './emit.ts';
import { ToolError } from './tool-error.ts';

const EXIT_RETRYABLE = 20;
const EXIT_FATAL = 30;

/** Reports a ToolError that the tool does not catch, and leaves each other error to the runtime. A tool with own handlers has caught it. */
export function reportUncaught(): void {
  process.on('uncaughtExceptionMonitor', (error) => {
    if (process.listenerCount('uncaughtException') === 0) end(error);
  });
  // Bun does not report a promise to the monitor.
  if (process.versions['bun'] === undefined) return;
  const onRejection = (error: unknown): void => {
    if (process.listenerCount('unhandledRejection') > 1) return;
    end(error);
    throw error;
  };
  process.on('unhandledRejection', onRejection);
}

function end(error: unknown): void {
  if (!(error instanceof ToolError) || emitter.ended) return;
  const { code, message, hint, retryable } = error;
  emitter.emitError(code, message, { hint, ...(retryable !== undefined && { retryable }) });
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exit(retryable === true ? EXIT_RETRYABLE : EXIT_FATAL);
}
