import * as z from 'zod';
import {
  foldersOfHosts,
  hostFolder,
  isLive,
  processesIn,
  removeIfLeft,
  removeSocket,
} from '../../core/host/host-folder.ts';
import { commandLineOf } from '../../util/process-table.ts';
import { acorOperation } from '../define.ts';

const hostProcess = z.object({
  pid: z.int().describe('The process.'),
  state: z.enum(['idle', 'busy']).describe('Whether it waits for a call.'),
  project: z.string().describe('The folder for whose project it was started.'),
  is_ours: z.boolean().describe('Whether a call from here may reach it.'),
});

export const hostShow = acorOperation({
  name: 'host.show',
  summary:
    'Show the processes that wait to run commands of programs faster, and whether calls from here use them.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output: z.object({
    host: z.enum(['auto', 'off']).describe('The key `host` of the configuration.'),
    is_possible: z
      .boolean()
      .describe(
        'False for a caller in a sandbox or with limited processor time, and without the compiled program on Linux.',
      ),
    processes: z.array(hostProcess).describe('The processes of this user.'),
  }),
  list: 'processes',
  example: 'acor host',
  async run(_input, ctx) {
    const { config } = await ctx.app.tools();
    const folder = hostFolder(ctx.cwd, ctx.env);
    return {
      kind: 'data',
      data: {
        host: config.config.host,
        is_possible: folder !== undefined,
        processes: allProcesses(ctx.env)
          .filter(isLive)
          .map(({ pid, state, of }) => ({
            pid,
            state,
            project: projectOf(pid),
            is_ours: of === folder,
          })),
      },
    };
  },
});

export const hostStop = acorOperation({
  name: 'host.stop',
  summary: 'End the processes that wait to run commands; one that runs a command ends after it.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    dry_run: z.boolean().default(false).describe('List what would end, and change nothing.'),
  }),
  output: z.object({
    processes: z.array(hostProcess.omit({ is_ours: true })).describe('What ends.'),
    dry_run: z.boolean(),
  }),
  list: 'processes',
  example: 'acor host stop',
  async run({ dry_run }, ctx) {
    const all = allProcesses(ctx.env);
    const found = all.filter(isLive);
    const processes = found.map(({ pid, state }) => ({ pid, state, project: projectOf(pid) }));
    if (!dry_run) {
      for (const each of all) {
        // Without its socket a process gets no call any more, and ends after the one that it has. One that was killed has left it.
        if (removeSocket(each.of, each) === 'idle' && isLive(each)) process.kill(each.pid, 'SIGTERM');
      }
      for (const folder of foldersOfHosts(ctx.env)) removeIfLeft(folder);
    }
    return { kind: 'data', data: { processes, dry_run } };
  },
});

/** The process that `startHost` starts. Internal. */
export const hostServe = acorOperation({
  name: 'host.serve',
  summary: 'Wait for calls of programs, and run them (used by ACOR itself).',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output: z.object({}),
  example: 'acor host serve',
  async run(_input, ctx) {
    await ctx.app.surfaces?.host({ cwd: ctx.cwd, env: ctx.env, interrupts: ctx.interrupts });
    return { kind: 'data', data: {} };
  },
});

/** Also those that were killed, by the sockets that they have left. */
function allProcesses(env: Readonly<Record<string, string | undefined>>) {
  return foldersOfHosts(env).flatMap((of) => processesIn(of).map((each) => ({ ...each, of })));
}

/** `startHost` gives it as the last word. */
function projectOf(pid: number): string {
  return commandLineOf(pid).replace(/^.* --cwd /, '');
}
