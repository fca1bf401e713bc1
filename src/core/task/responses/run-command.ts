import { spawn } from 'node:child_process';
import { inShort, MAX_CHARS } from './file-tools.ts';

/** Variables for this program and its supervisor, which commands must not get. */
const OWN_VARIABLES = ['SECRETS_DIR', 'ANSWERS_DIR', 'CANCEL_FILE', 'CHECKPOINT_DIR'];

/** Runs a command line and all that it starts, with a time limit in seconds. */
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
      // A background process would keep the pipes open for ever.
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
    // The process group has ended.
  }
}
