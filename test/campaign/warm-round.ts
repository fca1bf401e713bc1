import { existsSync, readdirSync } from 'node:fs';
import { isFinal } from '../../src/protocol/run.ts';
import {
  childrenOf,
  commandLineOf,
  environmentOf,
  identify,
  isRunning,
  type ProcessIdentity,
  readProcess,
} from '../../src/util/process-table.ts';
import type { HostProject } from '../support/host.ts';
import { parseLines, processesOf } from '../support/project.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { gapsIn, recordLies, stateBreaks } from './invariants.ts';
import { killNow } from './kill-now.ts';
import { recordIn } from './record-in.ts';
import { waitFor } from './wait-for.ts';

const VICTIMS = ['host', 'waiting', 'host and waiting', 'tool', 'caller'] as const;
type Victim = (typeof VICTIMS)[number];
/** Between the call and the kill, so that kills fall before, into and behind the run, and into the start of the next interpreter. */
const MAX_DELAY_MS = 150;
/** The first two let the host prepare a sandbox, the others use it. */
const CALLS_BEFORE = 4;
/** So much of a command shows which process it is. */
const SHOWN_CHARS = 80;

/** Reports what an earlier run could have left to it, and leaves all of that itself. */
export const WARM_TOOL = {
  'tools/remembers/tool.yaml':
    'name: remembers\nversion: 1.0.0\ndescription: Looks for traces of earlier runs.\nwarm: true\ninputs:\n  - { name: word, type: string, required: true }\n',
  'tools/remembers/main.py': `import json, os, random, sys, time
import decimal, hashlib, urllib.request
with open("/proc/self/stat") as file:
    started = int(file.read().rpartition(")")[2].split()[19])
found = [each for each in (os.path.exists("/tmp/left") and "/tmp/left", getattr(decimal, "left", None), os.environ.get("LEFT"), *os.listdir(".")) if each and each != ".checkpoints"]
open("/tmp/left", "w").close()
open("left", "w").close()
decimal.left = os.environ["LEFT"] = sys.argv[2]
for n in range(5):
    print(json.dumps({"type": "progress", "current": n, "total": 5}), flush=True)
    time.sleep(0.005)
print(json.dumps({"type": "result", "status": "ok", "data": {"word": sys.argv[2], "found": found, "random": random.random(), "started": started}}))
`,
};

interface Answer {
  word: string;
  found: string[];
  random: number;
  /** When its process has started, in ticks of the kernel's clock. */
  started: number;
}

/** The outcome of a round of one kill; no problems means that every invariant holds. */
export interface WarmRoundResult {
  number: number;
  victim: Victim;
  /** The commands of the processes that were killed. */
  killed: string[];
  /** How many runs had an interpreter that was there before the call. */
  warm: number;
  problems: string[];
}

/** Plays one round: calls through a host whose interpreters wait, kills one of its processes during another call, and calls again. */
export async function playWarmRound(
  project: HostProject,
  random: SeededRandom,
  number: number,
): Promise<WarmRoundResult> {
  const round = new WarmRound(project, random, number);
  try {
    await round.play();
  } catch (error) {
    round.result.problems.push(error instanceof Error ? error.message : String(error));
  }
  return round.result;
}

class WarmRound {
  readonly result: WarmRoundResult;
  readonly #project: HostProject;
  readonly #random: SeededRandom;
  readonly #randoms = new Set<number>();
  #calls = 0;

  constructor(project: HostProject, random: SeededRandom, number: number) {
    this.#project = project;
    this.#random = random;
    this.result = { number, victim: random.pick(VICTIMS), killed: [], warm: 0, problems: [] };
  }

  async play(): Promise<void> {
    for (let call = 0; call < CALLS_BEFORE; call++) await this.#callUndisturbed();
    const { pid } = await this.#project.warmUp();
    const before = [identify(pid), ...descendantsOf(pid).map(identify)];
    await this.#callAndKill(pid);
    if (this.result.victim.startsWith('host'))
      await waitFor('the end of what a killed host had started', () => !before.some(isRunning));
    await this.#callUndisturbed();
    await this.#judge();
  }

  async #callUndisturbed(): Promise<void> {
    const word = this.#nextWord();
    const waiting = await this.#waitingStarts();
    const { code, stdout } = await this.#project.acor(['run', 'remembers', '--word', word], {
      env: this.#project.auto,
    });
    if (code !== 0) this.#emit(`a call without a kill ended with ${code}: ${stdout}`);
    this.#check(stdout, word, waiting);
  }

  async #callAndKill(host: number): Promise<void> {
    const word = this.#nextWord();
    const waiting = await this.#waitingStarts();
    const call = this.#project.start(['run', 'remembers', '--word', word], { env: this.#project.auto });
    await new Promise((resolve) => setTimeout(resolve, this.#random.below(MAX_DELAY_MS)));
    for (const pid of this.#find(host, call.child.pid!)) {
      this.result.killed.push(commandLineOf(pid).slice(0, SHOWN_CHARS));
      killNow(pid);
    }
    const { code, stdout } = await call.finished;
    if (code === 0) this.#check(stdout, word, waiting);
  }

  #find(host: number, caller: number): number[] {
    const below = descendantsOf(host);
    const waiting = below.filter((pid) => environmentOf(pid, 'RUN_ID') === undefined);
    switch (this.result.victim) {
      case 'host':
        return [host];
      case 'caller':
        return [caller];
      case 'waiting':
        return waiting.length === 0 ? [] : [this.#random.pick(waiting)];
      case 'host and waiting':
        return [host, ...(waiting.length === 0 ? [] : [this.#random.pick(waiting)])];
      case 'tool':
        return below.filter((pid) => !waiting.includes(pid)).slice(-1);
    }
  }

  /** A run that completed has its own word, and nothing of another run. */
  #check(stdout: string, word: string, waiting: readonly number[]): void {
    const events = parseLines(stdout);
    const end = events.at(-1);
    const answer = events.find(({ type }) => type === 'result')?.['data'] as Answer | undefined;
    if (end?.type !== 'runner_end' || end['state'] !== 'completed' || answer === undefined) {
      this.#emit(`a call succeeded without its end: ${stdout}`);
      return;
    }
    if (answer.word !== word) this.#emit(`the run of '${word}' answered for '${answer.word}'`);
    if (answer.found.length > 0) this.#emit(`the run of '${word}' found ${answer.found}`);
    if (this.#randoms.has(answer.random)) this.#emit(`two runs had the random number ${answer.random}`);
    this.#randoms.add(answer.random);
    if (waiting.includes(answer.started)) this.result.warm++;
  }

  /** Also after a kill, each run has ended, is recorded as it was, and has no process; the folder of no dead process is left. */
  async #judge(): Promise<void> {
    const project = this.#project;
    await project.envelope(['health', '--fix'], { env: project.off });
    // Where a process was killed while it created the run, there is no record, and no tool was started.
    const records = project.runIds().flatMap((id) => recordIn(project.runsDir, id) ?? []);
    for (const record of records) {
      const id = record.run_id;
      await waitFor('the end of the last process', () => processesOf(id).length === 0);
      const events = project.events(id);
      if (!isFinal(record.state)) this.#emit(`${id} is ${record.state}`);
      const starts = events.filter(({ type }) => type === 'runner_start').length;
      if (starts > 1) this.#emit(`${id} was started ${starts} times`);
      this.#emit(...gapsIn(events), ...stateBreaks(events), ...recordLies(record, events));
    }
    const { ok, error } = await project.envelope(['verify'], { env: project.off });
    if (!ok) this.#emit(`acor verify: ${error.message}`);
    const left = () => standbyOwners(project).filter((owner) => !isRunning(owner));
    // The next process that prepares a sandbox removes them.
    for (let call = 0; left().length > 0 && call < CALLS_BEFORE; call++) await this.#callUndisturbed();
    if (left().length > 0) this.#emit(`folders of dead processes are left: ${left().map(({ pid }) => pid)}`);
  }

  async #waitingStarts(): Promise<number[]> {
    const hosts = (await this.#project.processes()).map(({ pid }) => pid);
    return hosts.flatMap(descendantsOf).flatMap((pid) => readProcess(pid)?.startTime ?? []);
  }

  #nextWord(): string {
    return `${this.result.number}-${++this.#calls}`;
  }

  #emit(...problems: string[]): void {
    this.result.problems.push(...problems);
  }
}

function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** The processes whose sandboxes wait in folders of the project, as the names of these say. */
function standbyOwners(project: HostProject): ProcessIdentity[] {
  const folder = `${project.runsDir}/cache/standby`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => {
    const [boot_id = '', pid, start] = name.split('.');
    return { boot_id, pid: Number(pid), start_time: Number(start) };
  });
}
