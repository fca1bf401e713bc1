import { closeSync } from 'node:fs';
import * as z from 'zod';
import type { RunRequest } from '../core/runner/services.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { writeAsync } from '../util/write-async.ts';
import { AcorApp } from './acor-app.ts';
import { acorOperation } from './define.ts';
import type { SupervisorReply, SupervisorRequest } from './start-supervisor.ts';

/** The other end of `startSupervisor`. Nobody calls it by hand: it reads its request from standard input. */
export const runSupervise = acorOperation({
  name: 'run.supervise',
  summary: 'Supervise one run apart from whoever asked for it (used by ACOR itself).',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({}),
  output: z.object({}),
  example: 'acor supervise',
  async run(_input, ctx) {
    const { stdin, ...asked } = JSON.parse(await ctx.readStdin()) as SupervisorRequest;
    const request: RunRequest = { ...asked, ...(stdin !== undefined && { readStdin: () => stdin }) };
    const reply = async (message: SupervisorReply) => {
      await writeAsync(ctx.stdoutFd, Buffer.from(`${JSON.stringify(message)}\n`));
      closeSync(ctx.stdoutFd);
    };
    const app = new AcorApp({ cwd: request.cwd, env: request.env, interrupts: ctx.app.interrupts });
    const [{ startRun }, { Run }] = await Promise.all([
      import('../core/runner/start-run.ts'),
      import('../core/runner/run.ts'),
    ]);
    let run: Awaited<ReturnType<typeof startRun>>;
    try {
      run = await startRun(await app.services(), request);
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      const { code, message, hint, details, next } = error;
      await reply({
        error: {
          code,
          message,
          ...(hint && { hint }),
          ...(details && { details }),
          ...(next && { next: [...next] }),
        },
      });
      return { kind: 'streamed', exit: 1 };
    }
    if (!(run instanceof Run)) {
      // One that was started before, with the same key, has its own supervisor, or had one.
      await reply({ run_id: run.runId });
      return { kind: 'streamed', exit: 0 };
    }
    const stopListening = ctx.app.interrupts.listen((signal, count) =>
      run.cancel(`interrupted by ${signal}`, { now: count > 1 }),
    );
    await reply({ run_id: run.runId });
    await run.ended;
    stopListening();
    return { kind: 'streamed', exit: 0 };
  },
});
