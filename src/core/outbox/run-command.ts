import { spawn } from 'node:child_process';

const TIMEOUT_MS = 30_000;
const SHOWN_CHARS = 300;

/** Runs a command with a text on its standard input, and throws unless it exits with 0 within 30 s. */
export function runCommand(
  [program, ...args]: readonly [string, ...string[]],
  input: string,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<void> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that what it started ends with it at the time limit.
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
    let stderr = '';
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, TIMEOUT_MS);
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-SHOWN_CHARS);
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      child.stderr.destroy();
      if (code === 0) return resolve();
      const end = code === null ? `was ended by ${signal}` : `exited with ${code}`;
      reject(new Error([`${program} ${end}`, stderr.trim()].filter(Boolean).join(': ')));
    });
  });
}
