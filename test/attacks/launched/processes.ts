import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadRuntime } from '../../../src/core/process/load-runtime.ts';
import { Watchdog } from '../../../src/core/process/watchdog.ts';
import { endLeftovers } from '../../../src/core/run/attempt/wind-down.ts';
import { processesOf, until } from '../../support/project.ts';
import { type AttemptOutcome, isConfined, type Payload } from './payload.ts';

/** Children in their own sessions, forked twice, that ignore every signal they can ignore. */
const FAMILY = `trap '' TERM INT HUP; setsid sh -c 'trap "" TERM; sleep 600' & (setsid sleep 600 &) ; sleep 600 & echo ready`;

/** A daemon in a session of its own, by which nothing but its parents says of which run it is. */
class Nameless {
  readonly #command = `sleep ${600 + Math.random()}`;

  get start(): string {
    return `(setsid env -i sh -c 'trap "" TERM; exec ${this.#command}' > /dev/null 2>&1 < /dev/null & sleep 0.3)`;
  }

  /** Whether it is alive; it ends here. */
  probe(probe: string): AttemptOutcome {
    const words = `${this.#command.replace(' ', '\0')}\0`;
    const alive = pidsNow().filter((pid) => readText(`/proc/${pid}/cmdline`) === words);
    for (const pid of alive) process.kill(pid, 'SIGKILL');
    return { probe, harm: alive.length > 0, word: `${alive.length} alive` };
  }
}

function pidsNow(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function hasMark(pid: number, mark: string): boolean {
  return readText(`/proc/${pid}/environ`).split('\0').includes(`MARK=${mark}`);
}

const daemon: Payload = async ({ rig }, backend) => {
  const nameless = new Nameless();
  // On a busy machine the sandbox of the attack before may not be gone yet, and has the same run.
  const mark = `mark-${Math.random()}`;
  const running = await rig.start(backend, `${nameless.start}; ${FAMILY}; exit 0`, { env: { MARK: mark } });
  await running.ended;
  if (isConfined(backend)) await endLeftovers(running.tree);
  const alive = pidsNow().filter((pid) => hasMark(pid, mark)).length;
  await running.tree.kill();
  return [
    { probe: 'after the end of the tool', harm: alive > 0, word: `${alive} alive` },
    nameless.probe('without an environment'),
  ];
};

const stubborn: Payload = async ({ rig }, backend) => {
  const nameless = new Nameless();
  const running = await rig.start(backend, `${nameless.start}; ${FAMILY}; wait; sleep 600`);
  await until(() => running.stdout() === 'ready\n');
  running.tree.signal('SIGTERM');
  // The control is a runner that sends SIGTERM and nothing else.
  if (isConfined(backend)) await running.tree.kill();
  const alive = processesOf(rig.runId).length;
  await running.tree.kill();
  await running.ended;
  return [
    { probe: 'after the grace', harm: alive > 0, word: `${alive} alive` },
    nameless.probe('without an environment'),
  ];
};

const zombies: Payload = async ({ rig }, backend) => {
  const script = `python3 -c 'import os
for n in range(300):
    if os.fork() == 0: os._exit(0)'`;
  const { rc } = await rig.bash(backend, script, { request: { commands: ['python3'] } });
  // On a busy machine the last children reach their `_exit` after their parent has ended.
  await until(() => processesOf(rig.runId).length === 0);
  return [{ probe: '300 of them', harm: rc !== 0, word: `rc ${rc}` }];
};

const killAll: Payload = async ({ rig, canary }, backend) => {
  // Without a sandbox, only check whether it could: it would kill the tests.
  const reach = `kill -0 ${canary.pid} 2> /dev/null && echo reached`;
  const { stdout } = await rig.bash(backend, isConfined(backend) ? `${reach} || kill -9 -1` : reach);
  const isDead = canary.exitCode !== null || canary.signalCode !== null;
  return [{ probe: 'kill -9 -1', harm: stdout !== '' || isDead, word: 'ESRCH' }];
};

/** The state after the supervisor was killed: no process holds the writing end of the watchdog's pipe any more. */
const abandoned: Payload = async ({ rig }, backend) => {
  const watchdog = new Watchdog(await loadRuntime(), rig.runId);
  const nameless = new Nameless();
  const running = await rig.start(backend, `${nameless.start}; ${FAMILY}; wait; sleep 600`);
  await until(() => running.stdout() === 'ready\n');
  if (isConfined(backend)) {
    watchdog.watchGroup(running.rootPid, running);
    watchdog.abandon();
    await until(() => processesOf(rig.runId).length === 0);
  } else watchdog[Symbol.dispose]();
  const alive = processesOf(rig.runId).length;
  await running.tree.kill();
  await running.ended;
  return [
    { probe: 'without a supervisor', harm: alive > 0, word: `${alive} alive` },
    nameless.probe('without an environment'),
  ];
};

const ENDINGS = [
  ['exit 0', 0, null],
  ['exit 7', 7, null],
  ['exit 130', 130, null],
  ['exit 255', 255, null],
  ['kill -SEGV $$', null, 'SIGSEGV'],
  ['kill -KILL $$', null, 'SIGKILL'],
  ['sleep 600 & exit 9', 9, null],
] as const;

const exits: Payload = async ({ rig }, backend) => {
  const tried = [];
  for (const [script, rc, signal] of ENDINGS) {
    const running = await rig.start(backend, script);
    const { exit } = await running.ended;
    await running.tree.kill();
    const word = `${exit.rc} ${exit.signal}`;
    tried.push({ probe: script, harm: word !== `${rc} ${signal}`, word });
  }
  return tried;
};

const descriptors: Payload = async ({ rig }, backend) => {
  const list = 'ls /proc/self/fd | sort -n | tr "\\n" " "';
  if (!isConfined(backend)) {
    const { stdout } = spawnSync('bash', ['-c', `exec 200<${rig.secret}; ${list}`], { encoding: 'utf8' });
    return [{ probe: 'inherited', harm: stdout.includes('200'), word: stdout }];
  }
  const { stdout } = await rig.bash(backend, list);
  // The last entry is the one of ls itself.
  return [{ probe: 'inherited', harm: stdout !== '0 1 2 3 ', word: stdout }];
};

/** A layer that cannot be set up: the folder of the run does not exist. */
const failedLayer: Payload = async ({ rig }, backend) => {
  const missing = join(rig.root, 'missing');
  mkdirSync(missing);
  const folders = { work: missing, writable: [missing], readable: [] };
  const beforeLaunch = () => rmSync(missing, { recursive: true, force: true });
  const trace = join(rig.writable, 'trace');
  try {
    await rig.bash(backend, `touch ${trace}`, { request: { folders }, beforeLaunch });
    return [{ probe: 'its folder', harm: existsSync(trace), word: 'ended' }];
  } catch (error) {
    return [{ probe: 'its folder', harm: existsSync(trace), word: (error as { code?: string }).code ?? '' }];
  }
};

export const processes: Readonly<Record<number, Payload>> = {
  21: daemon,
  22: stubborn,
  24: zombies,
  26: killAll,
  28: abandoned,
  29: exits,
  35: descriptors,
  74: failedLayer,
};
