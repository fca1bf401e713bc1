import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A program with its arguments, and where and with what it runs. */
export interface Command {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** What a process took, itself and the children it waited for. */
export interface Ended {
  wallMs: number;
  cpuMs: number;
}

/** So much of what a failed program wrote is in the error. */
const SHOWN_CHARS = 2000;

const running = new Set<Bun.Subprocess>();

/** Runs `command > stdout` to its end; a failure throws. */
export async function runProcess(command: Command, stdout: string): Promise<Ended> {
  const fd = openSync(stdout, 'w');
  const begunMs = performance.now();
  const child = start(command, { stdout: fd });
  closeSync(fd);
  const cpuMs = await finish(child, command).catch((error: Error) => {
    const said = stdout === '/dev/null' ? '' : readFileSync(stdout, 'utf8').slice(-SHOWN_CHARS);
    throw new Error(`${error.message}: ${said}`);
  });
  return { wallMs: performance.now() - begunMs, cpuMs };
}

/** Runs `producer | consumer > stdout`: a shell's pipeline, of which each half is measured by itself. */
export async function runPipeline(
  producer: Command,
  consumer: Command,
  stdout: string,
): Promise<{ wallMs: number; producerCpuMs: number; consumerCpuMs: number }> {
  const fifo = join(producer.cwd, 'pipe');
  rmSync(fifo, { force: true });
  execFileSync('mkfifo', [fifo]);
  const keeper = openSync(fifo, constants.O_RDWR);
  const fds = [openSync(fifo, 'w'), openSync(fifo, 'r'), openSync(stdout, 'w')] as const;
  const begunMs = performance.now();
  const second = start(consumer, { stdin: fds[1], stdout: fds[2] });
  const first = start(producer, { stdout: fds[0] });
  for (const fd of [keeper, ...fds]) closeSync(fd);
  const [producerCpuMs, consumerCpuMs] = await Promise.all([
    finish(first, producer),
    finish(second, consumer),
  ]);
  const wallMs = performance.now() - begunMs;
  rmSync(fifo);
  return { wallMs, producerCpuMs, consumerCpuMs };
}

/** Starts a program that is spoken to over its standard streams; end it with `finish`. */
export function startServer({ argv, cwd, env }: Command): Bun.Subprocess<'pipe', 'pipe', 'inherit'> {
  const child = Bun.spawn({
    cmd: [...argv],
    cwd,
    env: { ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  running.add(child);
  return child;
}

/** Starts a program without waiting for its end; the caller calls `finish`. */
export function start(
  { argv, cwd, env }: Command,
  streams: { stdin?: number; stdout?: number } = {},
): Bun.Subprocess {
  const child = Bun.spawn({
    cmd: [...argv],
    cwd,
    env: { ...env },
    stdin: streams.stdin ?? 'ignore',
    stdout: streams.stdout ?? 'ignore',
    stderr: 'inherit',
  });
  running.add(child);
  return child;
}

/** Waits for a program's end and returns its processor time; a failure throws. */
export async function finish(child: Bun.Subprocess, { argv }: Pick<Command, 'argv'>): Promise<number> {
  await child.exited;
  running.delete(child);
  if (child.exitCode !== 0) {
    throw new Error(`${argv.join(' ')} ended with ${child.signalCode ?? child.exitCode}`);
  }
  return Number(child.resourceUsage()!.cpuTime.total) / 1000;
}

/** Ends whatever this process has started and not seen end. */
export async function endAll(): Promise<void> {
  for (const child of running) child.kill('SIGTERM');
  await Promise.all([...running].map((child) => child.exited));
}
