import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { ScratchTree } from './scratch-tree.ts';

const FAILED = /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/m;
const ERROR = /^(?:\w*[Ee]rror|panic).*$/m;

export type TestRun =
  | { outcome: 'passed'; ms: number }
  | { outcome: 'failed'; ms: number; title: string }
  | { outcome: 'hung'; ms: number };

/**
 * Runs test files of the copy in one process until the first failure, or only the test with the title `only` of them. After `limitMs`, or
 * when `signal` says so, its processes are killed.
 */
export async function runTestFiles(
  tree: ScratchTree,
  tests: readonly string[],
  limitMs: number,
  { signal, only }: { signal?: AbortSignal; only?: string } = {},
): Promise<TestRun> {
  const start = performance.now();
  // Bun's own limit ends only asynchronous tests; a loop without an end is what `limitMs` is for.
  const named = only === undefined ? [] : ['--test-name-pattern', patternOf(only)];
  const args = [
    'test',
    '--bail',
    '--timeout',
    String(limitMs),
    ...named,
    ...tests.map((test) => `./${test}`),
  ];
  const [program, ...rest] = [...namespace(), join(tree.root, 'node_modules/.bin/bun'), ...args];
  const child = spawn(program!, rest, {
    cwd: tree.root,
    env: { ...process.env, TMPDIR: tree.temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => output.push(bytes));
  const timeout = AbortSignal.timeout(limitMs);
  const stop = AbortSignal.any(signal === undefined ? [timeout] : [timeout, signal]);
  const kill = () => process.kill(-child.pid!, 'SIGKILL');
  stop.addEventListener('abort', kill);
  // Not 'close': a process that a fault left running may hold the pipes open.
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  stop.removeEventListener('abort', kill);
  const isStopped = signal?.aborted ?? false;
  const isHung = isStopped || (timeout.aborted && child.signalCode === 'SIGKILL');
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  tree.clean();
  const ms = performance.now() - start;
  if (isHung) return { outcome: 'hung', ms };
  if (code === 0) return { outcome: 'passed', ms };
  const text = Buffer.concat(output).toString();
  const title = FAILED.exec(text)?.[1] ?? ERROR.exec(text)?.[0];
  // A test that could not even begin, as with a wrong option of Bun, says nothing about the fault.
  if (title === undefined)
    throw new Error(`${tests.join(' ')} ended with ${code} and named no failure:\n${text}`);
  return { outcome: 'failed', ms, title };
}

/** Bun reports a title as `group > test`, and matches the pattern with `group test`. */
function patternOf(title: string): string {
  return `^${title
    .split(' > ')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*')}$`;
}

const PRIVATE_PIDS = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
let prefix: readonly string[] | undefined;

/** Where it may be made, a PID namespace: a fault in the search for the processes of a run must not kill those of the machine. */
function namespace(): readonly string[] {
  const [program = '', ...args] = PRIVATE_PIDS;
  prefix ??= spawnSync(program, [...args, 'true'], { stdio: 'ignore' }).status === 0 ? PRIVATE_PIDS : [];
  return prefix;
}
