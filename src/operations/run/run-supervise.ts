import * as z from 'zod';
import type { Interrupts } from '../../compose/interrupts.ts';
import { LineQueue } from '../../compose/line-queue.ts';
import { loadedRuntime } from '../../core/process/load-runtime.ts';
import { ProjectCache } from '../../core/project/open-project.ts';
import { runnerServices } from '../../core/project/runner-services.ts';
import { type RunRequest, runRequestOf } from '../../core/run/run-request.ts';
import {
  RUNTIME_SETTINGS,
  type RunReply,
  type SupervisorReply,
  type SupervisorRequest,
} from '../../core/supervision/start-supervisor.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorMessage } from '../../util/error-code.ts';
import { readLines } from '../../util/streams.ts';
import { neverWaits } from '../../util/write-async.ts';
import { commandOf } from '../command-forms.ts';
import { acorOperation } from '../define.ts';

/**
 * The process that `startSupervisor`, and a workflow for its children, start. Internal: it reads requests from standard input, one a line,
 * and supervises each run from then on.
 */
export const runSupervise = acorOperation({
  name: 'run.supervise',
  summary: 'Supervise runs in a process of its own (used by ACOR itself).',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({}),
  output: z.object({}),
  example: 'acor supervise',
  async run(_input, { interrupts }) {
    // The runtime has read them, and no program that it starts must.
    for (const name of Object.keys(RUNTIME_SETTINGS)) delete process.env[name];
    // Its reader waits for each reply, and they are short.
    neverWaits(STDOUT);
    const replies = new LineQueue();
    const served = serve(interrupts, (message) => replies.push(message)).finally(() => replies.end());
    // `ended` throws the error.
    served.catch(() => {});
    return {
      kind: 'events',
      stream: true,
      events: replies.lines(),
      // The run continues also when the process that requested it has stopped reading.
      ended: async () => ({ answer: { kind: 'data', data: {}, programExit: await served } }),
    };
  },
});

const STDOUT = 1;
/** Left to itself, the runtime lets a supervisor of many short runs grow by 10 MB before it collects what is old. */
const RUNS_BETWEEN_COLLECTIONS = 100;

/** Supervises the runs that standard input requests; returns the exit code of the last request. */
async function serve(interrupts: Interrupts, reply: Reply): Promise<0 | 1> {
  const projects = new ProjectCache();
  // A supervisor that waits for its first request is ready for it.
  void loadRunner();
  let last: Promise<0 | 1> = Promise.resolve(0);
  const open = new Set<Promise<unknown>>();
  let ended = 0;
  for await (const line of readLines(process.stdin)) {
    const { nr, request } = JSON.parse(line) as SupervisorRequest;
    const run = superviseOne(projects, runRequestOf(request), interrupts, (message) =>
      reply({ nr, ...message }),
    );
    last = run;
    open.add(run);
    // The last `all` throws the error.
    run.then(
      () => {
        open.delete(run);
        ended++;
        if (ended % RUNS_BETWEEN_COLLECTIONS === 0) loadedRuntime()?.collectGarbage();
      },
      () => undefined,
    );
  }
  await Promise.all(open);
  return last;
}

function loadRunner() {
  return Promise.all([
    import('../../core/run/start-run.ts'),
    import('../../core/run/run.ts'),
    import('../../core/run/attempt/attempt.ts'),
  ]);
}

type Reply = (message: SupervisorReply) => void;

async function superviseOne(
  projects: ProjectCache,
  request: RunRequest,
  interrupts: Interrupts,
  reply: (message: RunReply) => void,
): Promise<0 | 1> {
  const [{ startRun }] = await loadRunner();
  let run: Awaited<ReturnType<typeof startRun>>;
  try {
    const project = await projects.open({ cwd: request.cwd, env: request.env, commandOf });
    const services = await runnerServices(project, { env: request.env, adoptOrphans: true, projects });
    run = await startRun(services, request);
  } catch (error) {
    if (!(error instanceof AcorError)) {
      // The caller gives nothing more to this process.
      reply({ error: { code: 'E_SPAWN_FAILED', message: errorMessage(error) } });
      throw error;
    }
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
  // A run that an earlier call with the same idempotency key has started has its own supervisor.
  if (!run.isKnown) {
    const stopListening = interrupts.listen((signal, count) =>
      run.cancel(`interrupted by ${signal}`, { force: count > 1 }),
    );
    const log =
      process.env['ACOR_LOG'] && (await import('../../util/log.ts')).openLog(process.env['ACOR_LOG']);
    if (log) log('info', 'run supervised', { run_id: run.runId, tool: request.tool });
    void run.recorded.then(() => reply({ recorded: true }));
    try {
      const { state, code } = await run.ended;
      if (log) log('info', 'run ended', { run_id: run.runId, state, code });
    } finally {
      stopListening();
      reply({ free: true });
    }
  } else reply({ free: true });
  return 0;
}
