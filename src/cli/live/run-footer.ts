import { cutToWidth, fitParts, type Part } from '../../compose/display-width.ts';
import { progressBar, spinner } from '../../compose/live/bar.ts';
import type { Screen } from '../../compose/screen.ts';
import { type Look, mark } from '../../compose/style.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import { clockFace } from '../../compose/time-words.ts';
import type { RunCourse, RunExecutor } from './run-course.ts';

const MAX_TASKS_SHOWN = 4;
/** Longer lines do not fit any screen, and take long to measure. */
const MAX_CHARS = 400;
const SILENT_MS = 5_000;
const LONG_SILENT_MS = 30_000;
/** A deadline is near when this much time, or this share of it, is left. */
const NEAR_MS = 60_000;
const NEAR_SHARE = 0.2;

/** What is known of a run besides its events. */
export interface FooterFacts {
  nowMs: number;
  /** False for a recording: its silence and its deadline are in the past. */
  isLive: boolean;
  /** The response to a request of the person, such as an interrupt. */
  word: string;
}

/** The state of a run in a few lines: the current work, its duration, and what is about to happen. */
export function runFooter(course: RunCourse, facts: FooterFacts, screen: Screen): string[] {
  // One column stays free: terminals differ in where the cursor is after the last one.
  const width = screen.width - 1;
  const rows = [...taskRows(course), ...workRows(course, screen, facts.nowMs), clockRow(course, facts)];
  if (facts.word !== '') rows.push([[facts.word, 'yellow']]);
  return rows.map((parts) => fitParts(parts, width, screen));

  function taskRows({ tasks }: RunCourse): Part[][] {
    const shown = [...tasks.values()].slice(0, MAX_TASKS_SHOWN);
    const more = tasks.size - shown.length;
    const lines = shown.map((task) => workRow(task, screen, facts.nowMs));
    return more > 0 ? [...lines, [[`  and ${more} more`, 'dim']]] : lines;
  }
}

function workRows(course: RunCourse, screen: Screen, nowMs: number): Part[][] {
  if (course.state === 'waiting_ai')
    return [[[`${mark('waiting', screen)} waits for an answer: ${short(course.question)}`, 'yellow']]];
  if (course.state === 'queued') return [[[`${spinner(nowMs, screen)} waits for a queue slot`, 'dim']]];
  if (course.work !== undefined) return [workRow(course.work, screen, nowMs)];
  return course.tasks.size > 0 ? [] : [[`${spinner(nowMs, screen)} works`]];
}

function workRow({ name, pct, msg }: RunExecutor, screen: Screen, nowMs: number): Part[] {
  const sign = `${spinner(nowMs, screen)} `;
  const room = Math.max(8, Math.floor(screen.width / 3));
  const head: Part[] = [sign, [cutToWidth(short(name), room, screen.unicode ? '…' : '...'), 'bold']];
  const bar = pct === undefined ? [] : ['  ', ...progressBar(pct, barColumns(screen), screen)];
  return [...head, ...bar, msg === '' ? '' : `  ${short(msg)}`];
}

function barColumns(screen: Screen): number {
  return Math.min(30, Math.max(6, Math.floor(screen.width / 5)));
}

function clockRow(course: RunCourse, { nowMs, isLive }: FooterFacts): Part[] {
  const { startedMs, deadlineMs, lastMs } = course;
  if (startedMs === undefined) return [['  0:00', 'dim']];
  const parts: Part[] = [[`  ${clockFace((isLive ? nowMs : lastMs) - startedMs)}`, 'dim']];
  if (!isLive || course.state !== 'running') return parts;
  const leftMs = (deadlineMs ?? Number.POSITIVE_INFINITY) - nowMs;
  if (leftMs < Math.min(NEAR_MS, (deadlineMs! - startedMs) * NEAR_SHARE))
    parts.push([`  deadline in ${clockFace(leftMs)}`, leftMs < NEAR_MS / 6 ? 'red' : 'yellow']);
  const silentMs = nowMs - lastMs;
  const look: Look = silentMs >= LONG_SILENT_MS ? 'yellow' : 'dim';
  if (silentMs >= SILENT_MS) parts.push([`  last sign of life ${clockFace(silentMs)} ago`, look]);
  return parts;
}

function short(text: string): string {
  return safeLine(text.slice(0, MAX_CHARS));
}
