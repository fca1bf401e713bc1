import { relative } from 'node:path';
import { displayWidth, padToWidth } from '../../compose/display-width.ts';
import type { Screen } from '../../compose/screen.ts';
import { mark, styled } from '../../compose/style.ts';
import type { Place } from '../../compose/terminal.ts';
import { safeLine, safeText } from '../../compose/terminal-text.ts';
import { durationWords, sizeWords } from '../../compose/time-words.ts';
import { wrapToWidth } from '../../compose/wrap-to-width.ts';
import { renderResult } from '../present/result.ts';

type Event = Readonly<Record<string, unknown>>;

const MAX_ARTIFACTS = 10;
const MAX_FIGURES = 40;
const MAX_CHARS = 2000;

type EndPlace = Pick<Place, 'cwd' | 'fromCaller'>;

/** The end of a run: its outcome, its artifacts, the next commands, and last the data of its result. `said` is what stands above already. */
export function renderEnd(
  end: Event,
  {
    result,
    said,
    place,
    screen,
  }: { result: Event | undefined; said: string; place: EndPlace; screen: Screen },
): string {
  return [
    figures(result, screen),
    artifacts(end, place, screen),
    headline(end, screen),
    hintOf(end, said, screen),
    next(end, place, screen),
    result === undefined ? '' : renderResult(result, screen),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function headline(end: Event, screen: Screen): string {
  const state = safeLine(String(end.state));
  const sign = state === 'completed' ? 'done' : state === 'failed' ? 'failed' : 'stopped';
  const look = sign === 'done' ? 'green' : sign === 'failed' ? 'red' : 'yellow';
  const took = `in ${durationWords(Number(end.duration_s))}`;
  return `${styled(`${mark(sign, screen)} ${state}`, look, screen)} ${took}`;
}

/** How to fix the failure, unless the error or a warning above says so. */
function hintOf({ hint }: Event, said: string, screen: Screen): string {
  if (typeof hint !== 'string' || hint === '' || said.includes(hint)) return '';
  return wrapToWidth(safeText(hint), Math.max(8, screen.width - 2))
    .map((line) => `  ${line}`)
    .join('\n');
}

/** The metrics of the result, as names and values. */
function figures(result: Event | undefined, screen: Screen): string {
  if (result === undefined) return '';
  const pairs = entriesOf(result.metrics)
    .filter(([, value]) => typeof value !== 'object')
    .slice(0, MAX_FIGURES)
    .map(([key, value]) => `${key} ${value}`);
  const lines = wrapToWidth(safeLine(pairs.join('   ').slice(0, MAX_CHARS)), Math.max(8, screen.width - 2));
  return pairs.length === 0 ? '' : lines.map((line) => `  ${line}`).join('\n');
}

function artifacts(end: Event, { cwd, fromCaller }: EndPlace, screen: Screen): string {
  const all = Array.isArray(end.artifacts) ? (end.artifacts as Event[]) : [];
  const shown = all.slice(0, MAX_ARTIFACTS).map((each) => {
    const inside = relative(cwd, String(each.path));
    const path = safeLine(inside.startsWith('..') ? String(each.path) : inside);
    const facts = `${sizeWords(Number(each.size))}  sha256 ${safeLine(String(each.sha256).slice(0, 12))}`;
    return { path, facts };
  });
  const more = all.length - shown.length;
  const fits = ({ path, facts }: { path: string; facts: string }) =>
    4 + Math.max(24, displayWidth(path)) + facts.length <= screen.width;
  return [
    // A path is there to be copied: it is never cut, and the terminal may wrap it.
    ...shown.map(({ path, facts }) =>
      fits({ path, facts })
        ? `  ${padToWidth(path, 24)}  ${styled(facts, 'dim', screen)}`
        : `  ${path}\n    ${styled(facts, 'dim', screen)}`,
    ),
    ...(more > 0 ? [`  and ${more} more: ${safeLine(fromCaller(`acor artifacts ${end.run_id}`))}`] : []),
  ].join('\n');
}

function next(end: Event, { fromCaller }: EndPlace, screen: Screen): string {
  if (!Array.isArray(end.next) || end.next.length === 0) return '';
  const commands = end.next.map((command) => `  ${safeLine(fromCaller(String(command)))}`);
  return [styled('Next', 'bold', screen), ...commands].join('\n');
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
