import * as z from 'zod';
import type { Interrupts } from '../../cli/dialog/interrupts.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { RunnerServices } from '../../core/run/services.ts';
import type { SupervisorReply, SupervisorRequest } from '../../core/supervision/start-supervisor.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { readLines } from '../../util/read-lines.ts';
import { writeAsync } from '../../util/write-async.ts';
import { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';

/**
 * The other end of `startSupervisor` and of the hosts of a workflow's children. Nobody calls it by hand: it reads requests from
 * standard input, a line each, and supervises one run after the other, so that the orphans it adopts are those of one run.
 */
export const runSupervise = acorOperation({
  name: 'run.supervise',
  summary: 'Supervise runs apart from whoever asked for them (used by ACOR itself).',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({}),
  output: z.object({}),
  example: 'acor supervise',
  async run(_input, ctx) {
    const reply: Reply = async (message) => {
      // Who asked may have gone: the run goes on all the same.
      await writeAsync(ctx.stdoutFd, Buffer.from(`${JSON.stringify(message)}\n`)).catch(() => undefined);
    };
    let project: OpenProject | undefined;
    let exit: 0 | 1 = 0;
    for await (const line of readLines(process.stdin)) {
      const { stdin, ...asked } = JSON.parse(line) as SupervisorRequest;
      const request: RunRequest = { ...asked, ...(stdin !== undefined && { readStdin: () => stdin }) };
      project = openProject(request, ctx.app.interrupts, project);
      exit = await superviseOne(await project.services, request, ctx.app.interrupts, reply);
    }
    return { kind: 'streamed', exit };
  },
});

type Reply = (message: SupervisorReply) => Promise<void>;

interface OpenProject {
  key: string;
  services: Promise<RunnerServices>;
}

/** The project of a request: opened once for all that come from the same place. */
function openProject(
  { cwd, env }: RunRequest,
  interrupts: Interrupts,
  last: OpenProject | undefined,
): OpenProject {
  const key = JSON.stringify([cwd, env]);
  if (last?.key === key) return last;
  return { key, services: new AcorApp({ cwd, env, interrupts }).services() };
}

async function superviseOne(
  services: RunnerServices,
  request: RunRequest,
  interrupts: Interrupts,
  reply: Reply,
): Promise<0 | 1> {
  const [{ startRun }, { Run }] = await Promise.all([
    import('../../core/run/start-run.ts'),
    import('../../core/run/run.ts'),
  ]);
  let run: Awaited<ReturnType<typeof startRun>>;
  try {
    run = await startRun(services, request);
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
    return 1;
  }
  await reply({ run_id: run.runId });
  // One that was started before, with the same key, has its own supervisor, or had one.
  if (run instanceof Run) {
    const stopListening = interrupts.listen((signal, count) =>
      run.cancel(`interrupted by ${signal}`, { force: count > 1 }),
    );
    await run.ended;
    stopListening();
  }
  await reply({ free: true });
  return 0;
}
