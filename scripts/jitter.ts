import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readProcess } from '../src/util/process-table.ts';
import { SeededRandom } from '../test/support/seeded-random.ts';

// `npm run jitter`: runs test files while random processes of theirs are paused, as a busy machine pauses them. A failure is a test that
// assumes an order of concurrent processes, or a fault of the product: a race, or a limit that is too tight.

const USAGE = `npm run jitter -- FILE… [--seed N] [--times 1]

  --seed N   the seed of the first run of each file; left out, a new one. It does not repeat a failure by itself: the machine decides, too
  --times N  how often each file runs (1), each time with the next seed
`;
const SHORTEST_MS = 5;
const LONGEST_MS = 400;
const MOST_PAUSED = 4;
/** On average; half of the pauses meet a process of less than a second, if there is one: starts and ends have most of the races. */
const BETWEEN_MS = 40;
const YOUNG_MS = 1000;
const TIMEOUT_MS = 300_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    times: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const [seed, times] = [Number(values.seed), Number(values.times)];
if (values.help || positionals.length === 0 || !Number.isSafeInteger(seed) || !Number.isSafeInteger(times)) {
  process.stderr.write(USAGE);
  process.exit(values.help ? 0 : 1);
}

/** The processes of one run of a test file: those below it, and those that left its tree and name its temporary folder. */
class Processes {
  readonly #folder: string;
  /** When each was first seen. */
  readonly #members: Map<number, number>;
  readonly #others = new Set<number>([process.pid]);

  constructor(root: number, folder: string) {
    this.#members = new Map([[root, performance.now()]]);
    this.#folder = folder;
  }

  look(): { all: number[]; young: number[] } {
    const live = new Set(
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(Number),
    );
    for (const pid of this.#members.keys()) if (!live.has(pid)) this.#members.delete(pid);
    for (const pid of this.#others) if (!live.has(pid)) this.#others.delete(pid);
    const nowMs = performance.now();
    for (const pid of live) {
      if (this.#members.has(pid) || this.#others.has(pid)) continue;
      if (this.#isMember(pid)) this.#members.set(pid, nowMs);
      else this.#others.add(pid);
    }
    const all = [...this.#members.keys()];
    return { all, young: all.filter((pid) => nowMs - this.#members.get(pid)! < YOUNG_MS) };
  }

  #isMember(pid: number): boolean {
    if (this.#members.has(readProcess(pid)?.parentPid ?? 0)) return true;
    try {
      const texts = ['environ', 'cmdline'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8'));
      return [...texts, readlinkSync(`/proc/${pid}/cwd`)].some((text) => text.includes(this.#folder));
    } catch {
      return false;
    }
  }
}

/** The paused processes, and the timers that continue them. */
const paused = new Map<number, NodeJS.Timeout>();

function pause(pid: number, ms: number): void {
  // A process that a test has stopped stays so.
  if (paused.has(pid) || !/[RSD]/.test(readProcess(pid)?.state ?? '')) return;
  try {
    process.kill(pid, 'SIGSTOP');
  } catch {
    return;
  }
  paused.set(
    pid,
    setTimeout(() => goOn(pid), ms),
  );
}

function goOn(pid: number): void {
  clearTimeout(paused.get(pid));
  paused.delete(pid);
  try {
    process.kill(pid, 'SIGCONT');
  } catch {}
}

async function runWithPauses(
  file: string,
  random: SeededRandom,
): Promise<{ isPassed: boolean; pauses: number }> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'j-')));
  const command = ['test', '--timeout', String(TIMEOUT_MS), `./${file}`];
  const test = spawn(process.execPath, command, {
    env: { ...process.env, TMPDIR: folder },
    stdio: 'inherit',
  });
  const ended = new Promise<boolean>((resolve) => test.once('close', (code) => resolve(code === 0)));
  const processes = new Processes(test.pid!, folder);
  let pauses = 0;
  let next: NodeJS.Timeout;
  const step = () => {
    next = setTimeout(step, -Math.log(1 - random.next()) * BETWEEN_MS);
    const { all, young } = processes.look();
    const among = young.length > 0 && random.chance(0.5) ? young : all;
    if (paused.size >= MOST_PAUSED || among.length === 0) return;
    pause(random.pick(among), SHORTEST_MS * (LONGEST_MS / SHORTEST_MS) ** random.next());
    pauses++;
  };
  step();
  const isPassed = await ended;
  clearTimeout(next!);
  for (const pid of paused.keys()) goOn(pid);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  return { isPassed, pauses };
}

process.once('exit', () => {
  for (const pid of paused.keys()) goOn(pid);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

const results: string[] = [];
for (const file of positionals)
  for (let time = 0; time < times; time++) {
    const { isPassed, pauses } = await runWithPauses(file, new SeededRandom(seed + time));
    results.push(`${isPassed ? 'ok' : 'failed'}  ${file}  --seed ${seed + time}, ${pauses} pauses`);
    if (!isPassed) process.exitCode = 1;
  }
process.stderr.write(`\n${results.join('\n')}\n`);
