import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { foldersOfHosts, hostFolder, isLive, processesIn } from '../../core/host/host-folder.ts';
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
    const { config } = await ctx.app.project();
    const folder = hostFolder(ctx.cwd, ctx.env);
    return {
      kind: 'data',
      data: {
        host: config.config.host,
        is_possible: folder !== undefined,
        processes: liveProcesses(ctx.env).map(({ pid, state, of }) => ({
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
    const found = liveProcesses(ctx.env);
    const processes = found.map(({ pid, state }) => ({ pid, state, project: projectOf(pid) }));
    if (!dry_run)
      for (const { of, pid, name, state } of found) {
        // Without its socket a process gets no call any more, and ends after the one that it has.
        rmSync(join(of, name), { force: true });
        if (state === 'idle') process.kill(pid, 'SIGTERM');
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
    await ctx.app.surfaces?.host({ cwd: ctx.cwd, env: ctx.env });
    return { kind: 'data', data: {} };
  },
});

function liveProcesses(env: Readonly<Record<string, string | undefined>>) {
  return foldersOfHosts(env).flatMap((of) =>
    processesIn(of)
      .filter(isLive)
      .map((each) => ({ ...each, of })),
  );
}

/** `startHost` gives it as the last word. */
function projectOf(pid: number): string {
  return commandLineOf(pid).replace(/^.* --cwd /, '');
}
