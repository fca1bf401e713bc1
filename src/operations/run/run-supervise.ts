import * as z from 'zod';
import type { Interrupts } from '../../compose/interrupts.ts';
import { LineQueue } from '../../compose/line-queue.ts';
import { ProjectCache } from '../../core/project/project-cache.ts';
import { runnerServices } from '../../core/project/runner-services.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { SupervisorReply, SupervisorRequest } from '../../core/supervision/start-supervisor.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { readLines } from '../../util/read-lines.ts';
import { commandOf } from '../command-forms.ts';
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
  async run(_input, { interrupts }) {
    const replies = new LineQueue();
    const served = serve(interrupts, (message) => replies.push(message)).finally(() => replies.end());
    // The error is thrown where the end is awaited.
    served.catch(() => {});
    return {
      kind: 'events',
      stream: true,
      events: replies.lines(),
      // Whether or not the process that asked still reads: the run goes on.
      ended: async () => ({ answer: { kind: 'data', data: {}, exit: await served } }),
    };
  },
});

/** Supervises the runs that are asked for on standard input; the exit code is that of the last one. */
async function serve(interrupts: Interrupts, reply: Reply): Promise<0 | 1> {
  const projects = new ProjectCache();
  let exit: 0 | 1 = 0;
  for await (const line of readLines(process.stdin)) {
    const { stdin, ...asked } = JSON.parse(line) as SupervisorRequest;
    const request: RunRequest = { ...asked, ...(stdin !== undefined && { readStdin: () => stdin }) };
    exit = await superviseOne(projects, request, interrupts, reply);
  }
  return exit;
}

type Reply = (message: SupervisorReply) => void;

async function superviseOne(
  projects: ProjectCache,
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
    const project = await projects.open({ cwd: request.cwd, env: request.env, commandOf });
    const services = await runnerServices(project, { env: request.env, adoptOrphans: true });
    run = await startRun(services, request);
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    const { code, message, hint, details, next } = error;
    reply({
      error: {
        code,
        message,
        ...(hint && { hint }),
        ...(details && { details }),
        ...(next && { next }),
      },
    });
    return 1;
  }
  reply({ run_id: run.runId });
  // One that was started before, with the same key, has its own supervisor, or had one.
  if (run instanceof Run) {
    const stopListening = interrupts.listen((signal, count) =>
      run.cancel(`interrupted by ${signal}`, { force: count > 1 }),
    );
    await run.ended;
    stopListening();
  }
  reply({ free: true });
  return 0;
}
