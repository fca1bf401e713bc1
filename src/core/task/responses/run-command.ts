import { spawn } from 'node:child_process';
import { inShort, MAX_CHARS } from './file-tools.ts';

/** What belongs to this program and its supervisor, and is none of a command's business. */
const OWN_VARIABLES = ['SECRETS_DIR', 'ANSWERS_DIR', 'CANCEL_FILE', 'CHECKPOINT_DIR'];

/** Runs a command line, with all that it starts, for so many seconds at most. */
export function runCommand(root: string, command: string, timeoutS: number): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !OWN_VARIABLES.includes(name)),
  );
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (said[name].length <= MAX_CHARS) said[name] += text;
      });
    }
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child.pid);
    }, timeoutS * 1000);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      // What it left in the background would hold the pipes open for ever.
      endGroup(child.pid);
      const how = isLate
        ? `ended after ${timeoutS} s`
        : code === null
          ? `ended by ${signal}`
          : `exit code ${code}`;
      child.once('close', () =>
        resolve(`${how}\n--- stdout\n${inShort(said.stdout)}\n--- stderr\n${inShort(said.stderr)}`),
      );
    });
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
