import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processors } from './system.ts';

/** So many starts at once keep a processor busy; each more one makes all of them slower. */
const TURNS_PER_PROCESSOR = 2;
const BUSY_PER_PROCESSOR = 4;
/** Then it starts without a turn: something has stopped the one before it. */
const MOST_WAIT_S = 10;
/** A start that waits for something, such as an approval, must not keep other processes waiting. */
const MOST_TURN_MS = 1000;
/** Its lock belongs to this process's open file, and the kernel releases it when this process ends in whatever way. */
const FLOCK = '/usr/bin/flock';

let turn: number | undefined;

/**
 * Waits until only few other processes that take a turn in this folder are at their start, when many processes want a processor. Of 200 runs
 * that start at once, each would otherwise live for seconds, and what the runtime does by the clock (it collects garbage, returns memory,
 * compiles) would cost each a quarter of its processor time. Never an error: without the program `flock` no process waits.
 */
export async function takeStartTurn(
  folder: string,
  { isBusy = isMachineBusy, turns = TURNS_PER_PROCESSOR * processors() } = {},
): Promise<void> {
  if (process.versions.bun === undefined || !isBusy()) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    turn = openSync(join(folder, `${Math.floor(Math.random() * turns)}`), 'a', 0o600);
    const stdio = ['ignore', 'ignore', 'ignore', turn] as const;
    const wait = Bun.spawn([FLOCK, '-w', `${MOST_WAIT_S}`, '3'], { stdio: [...stdio], env: {} });
    if ((await wait.exited) === 0) setTimeout(endStartTurn, MOST_TURN_MS).unref();
    else endStartTurn();
  } catch {
    endStartTurn();
  }
}

/** Lets the next process start, when this one has a turn. */
export function endStartTurn(): void {
  if (turn !== undefined) closeSync(turn);
  turn = undefined;
}

/** Whether more threads want a processor than the machine can serve soon. */
function isMachineBusy(): boolean {
  try {
    const [, , , running = ''] = readFileSync('/proc/loadavg', 'utf8').split(' ');
    return Number.parseInt(running, 10) >= BUSY_PER_PROCESSOR * processors();
  } catch {
    return false;
  }
}
