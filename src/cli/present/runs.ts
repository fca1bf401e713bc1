import { basename } from 'node:path';
import { padToWidth } from '../../compose/display-width.ts';
import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { type Look, type Mark, mark, styled } from '../../compose/style.ts';
import { cellText, renderTable } from '../../compose/table.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import { agoWords, durationWords, sizeWords } from '../../compose/time-words.ts';
import type { runArtifacts } from '../../operations/run/run-artifacts.ts';
import type { runDecisions } from '../../operations/run/run-decisions.ts';
import type { runList } from '../../operations/run/run-list.ts';
import { hanging, tableOf } from './views.ts';

type Data = DataOf<typeof runList>;
type Line = Data['runs'][number];

/** On a narrower screen, each run gets several lines. */
const MIN_TABLE_WIDTH = 72;
const NONE =
  'No runs to show. See all runs with: acor runs. See the tools with: acor list. Start one with: acor run <tool>';
/** A silence longer than this is shown. */
const SILENT_S = 10;

export const runsPresenter = {
  data: ({ runs }: Data, screen) => runsView(runs, screen, Date.now()),
} satisfies Presenter;

/** Runs for a person: the state of each, its start, its duration, and what it needs or why it failed. */
function runsView(runs: readonly Line[], screen: Screen, nowMs: number): string {
  if (runs.length === 0) return styled(hanging(NONE, 0, screen), 'dim', screen);
  const looks = new Map(runs.map(({ state }) => Object.values(stateWords(state, screen)) as [string, Look]));
  const rows = runs.map((run) => ({
    state: stateWords(run.state, screen).text,
    tool: toolWords(run, runs),
    started: agoWords(run.created_at, nowMs),
    took: tookWords(run, nowMs),
    run: run.run_id,
    note: noteOf(run),
  }));
  const table =
    screen.width < MIN_TABLE_WIDTH
      ? undefined
      : renderTable(rows, screen, ['state', 'tool', 'run'], (column, text) =>
          column === 'state' ? looks.get(text) : undefined,
        );
  return table ?? rows.map((row) => card(row, looks.get(row.state)!)).join('\n');

  function card({ state, tool, started, took, run, note }: (typeof rows)[number], look: Look): string {
    const lines = [
      `${styled(padToWidth(state, 11), look, screen)}  ${tool}`,
      `  ${run}`,
      `  ${started}, ${took}`,
    ];
    return [...lines, ...(note === '' ? [] : [`  ${hanging(note, 2, screen)}`])].join('\n');
  }
}

/** The name of what ran; of a workflow, with its file where another listed one has the same name. */
function toolWords({ tool, file }: Line, runs: readonly Line[]): string {
  const others = runs.flatMap((each) =>
    each.tool === tool && each.file !== undefined && each.file !== file ? [basename(each.file)] : [],
  );
  if (file === undefined || others.length === 0) return tool;
  return `${tool} (${others.includes(basename(file)) ? file : basename(file)})`;
}

/** The duration of a run, final or so far. */
function tookWords({ duration_s, created_at }: Line, nowMs: number): string {
  return durationWords(duration_s ?? (nowMs - Date.parse(created_at)) / 1000);
}

function noteOf({ state, code, message, question, silent_for_s, unverified }: Line): string {
  if (unverified !== undefined) return `UNVERIFIED: ${unverified}`;
  if (question !== null) return `asks: ${question}`;
  if (state === 'failed') return [code, message].filter((part) => part !== null).join(': ');
  return state === 'running' && silent_for_s !== null && silent_for_s >= SILENT_S
    ? `silent for ${durationWords(silent_for_s)}`
    : '';
}

const WORDS: Readonly<Record<string, readonly [Mark, string, Look]>> = {
  queued: ['waiting', 'queued', 'dim'],
  running: ['working', 'running', 'bold'],
  waiting_ai: ['waiting', 'waiting', 'yellow'],
  completed: ['done', 'completed', 'green'],
  failed: ['failed', 'failed', 'red'],
  cancelled: ['stopped', 'cancelled', 'yellow'],
};

/** The state of a run as a sign and a word, and the style of both. */
export function stateWords(state: string, screen: Screen): { text: string; look: Look } {
  const [sign, word, look] = WORDS[state] ?? ['waiting', state, 'dim'];
  return { text: `${mark(sign, screen)} ${word}`, look };
}

export const artifactsPresenter = {
  data({ artifacts }: DataOf<typeof runArtifacts>, screen) {
    const rows = artifacts.map(({ path, size, media_type, sha256 }) => ({
      path,
      size: sizeWords(size),
      type: media_type,
      sha256: sha256.slice(0, 12),
    }));
    const none =
      'The run made no artifacts: its tool put nothing into ARTIFACTS_DIR and named none in its result.';
    return tableOf(rows, screen, ['path', 'sha256'], none);
  },
} satisfies Presenter;

export const decisionsPresenter = {
  data({ decisions, cancelled }: DataOf<typeof runDecisions>, screen) {
    const rows = decisions.map(({ run_id, action_id, action, answer, by, reason, asked_at, state }) => ({
      run: run_id,
      asked: agoWords(asked_at),
      question: `${action_id} ${action}`,
      by,
      answer: [state === 'answered' ? cellText(answer, screen) : `(${state})`, reason ?? '']
        .filter((part) => part !== '')
        .join(': '),
    }));
    const none =
      'No questions to show. Runs that wait for an answer are listed by: acor runs --state waiting_ai';
    const end =
      cancelled &&
      `cancelled by ${safeLine(cancelled.by)}: ${safeLine(cancelled.reason ?? '')}, ${agoWords(cancelled.at)}`;
    if (end !== undefined && rows.length === 0) return end;
    const table = tableOf(rows, screen, ['run'], none, (column, text) =>
      column === 'answer' && text === '(open)' ? 'yellow' : undefined,
    );
    return end === undefined ? table : `${table}\n${end}`;
  },
} satisfies Presenter;
