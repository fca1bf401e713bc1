import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The model gets at most this much of a text at once. */
const MAX_CHARS = 60_000;
const MAX_FILE_BYTES = 5_000_000;
const MAX_ENTRIES = 500;

// These functions check no paths: the sandbox limits them, as it limits the model's commands.

export function listFiles(root: string, path: string): string {
  const entries = readdirSync(resolve(root, path), { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const more = names.length > MAX_ENTRIES ? [`… and ${names.length - MAX_ENTRIES} more`] : [];
  return [...names.slice(0, MAX_ENTRIES), ...more].join('\n');
}

export function readFile(root: string, path: string): string {
  return inShort(textOf(resolve(root, path)));
}

export function writeFile(root: string, path: string, content: string): string {
  const file = resolve(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return `written: ${Buffer.byteLength(content)} bytes`;
}

export function editFile(root: string, path: string, old: string, replacement: string): string {
  const file = resolve(root, path);
  const text = textOf(file);
  const parts = text.split(old);
  if (old === '' || parts.length !== 2) {
    const count = old === '' ? 'an empty passage' : `the passage ${parts.length - 1} times`;
    throw new Error(`${path} holds ${count}, and it must be there exactly once`);
  }
  writeFileSync(file, parts.join(replacement));
  return 'replaced';
}

/** The text, or its beginning and the number of omitted characters. */
function inShort(text: string): string {
  return text.length <= MAX_CHARS
    ? text
    : `${text.slice(0, MAX_CHARS)}\n… ${text.length - MAX_CHARS} characters are left out`;
}

function textOf(file: string): string {
  const { size } = statSync(file);
  if (size > MAX_FILE_BYTES) throw new Error(`it has ${size} bytes; look at parts of it with run_command`);
  return readFileSync(file, 'utf8');
}

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
