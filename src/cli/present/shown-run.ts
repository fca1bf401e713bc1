import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { agoWords, durationWords, localTime, sizeWords } from '../../compose/time-words.ts';

import type { runShow } from '../../operations/run/run-show.ts';
import { execProgram } from '../../protocol/names.ts';
import { isFinal, isOrchestration, type RunState } from '../../protocol/run.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { costWords } from './costs.ts';
import { renderResult } from './result.ts';
import { stateWords } from './runs.ts';
import { pairsOf, tableOf } from './views.ts';

type Shown = DataOf<typeof runShow>;

export const shownRunPresenter = {
  data: (run: Shown, screen) => runShownView(run, screen, Date.now()),
} satisfies Presenter;

/** One run for a person: its state, its arguments, its outcome, its questions and its artifacts. */
function runShownView(run: Shown, screen: Screen, nowMs: number): string {
  const { text, look } = stateWords(run.state, screen);
  const artifacts = run.artifacts.map(({ path, size, sha256 }) => ({
    path,
    size: sizeWords(size),
    sha256: sha256.slice(0, 12),
  }));
  const parts = [
    `${styled(text, look, screen)}  ${run.title ?? run.tool} ${versionWords(run.tool_version)}`.trimEnd(),
    pairsOf(facts(run, nowMs), screen),
    ...(run.stderr === undefined ? [] : [[styled('stderr', 'bold', screen), ...run.stderr].join('\n')]),
    ...run.questions.map((question) => pairsOf(questionFacts(question, run.state), screen)),
    artifacts.length === 0 ? '' : tableOf(artifacts, screen, ['path', 'sha256'], ''),
    run.result === null ? '' : renderResult(run.result, screen),
    // What a failed program wrote is its answer as well.
    run.error?.['data'] === undefined ? '' : renderResult({ data: run.error['data'] }, screen),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function facts(run: Shown, nowMs: number): Record<string, unknown> {
  const { progress, error, result, usage, given_args, survivors } = run;
  const took = run.duration_s ?? (nowMs - Date.parse(run.created_at)) / 1000;
  const far = [progress?.step, percent(progress?.pct), progress?.msg].filter((part) => part);
  const why = [run.code, run.message ?? error?.msg].filter((part) => part);
  const hasSteps = isOrchestration(run.kind);
  return {
    run: run.run_id,
    call: given_args === null ? '' : callOf(run, given_args),
    started: `${localTime(run.created_at)} (${agoWords(run.created_at, nowMs)})`,
    took: `${durationWords(took)}${run.attempt > 1 ? `, attempt ${run.attempt}` : ''}`,
    silent: run.silent_for_s === null ? '' : durationWords(run.silent_for_s),
    // Of a workflow that has completed, it only names the last step.
    progress: hasSteps && run.state === 'completed' ? '' : far.join('  '),
    by: run.cancelled_by ?? '',
    why: run.state === 'failed' || run.state === 'cancelled' ? why.join(': ') : '',
    hint: run.hint ?? '',
    result: result === null ? '' : metricsOf(result),
    memory: typeof usage?.max_rss_bytes === 'number' ? sizeWords(usage.max_rss_bytes) : '',
    processor: typeof usage?.cpu_s === 'number' ? durationWords(usage.cpu_s) : '',
    cost: run.cost == null ? '' : costWords(run.cost),
    survivors: survivors.map(({ pid, command }) => `${pid} ${command}`),
    // What the steps run in, their own runs say.
    sandbox: hasSteps ? '' : run.isolation.backend,
    folder: run.dir,
  };
}

/** That of a workflow is the digest of its file. */
function versionWords(version: string | null): string {
  return version?.replace(/^(sha256:[0-9a-f]{12})[0-9a-f]{52}$/, '$1') ?? '';
}

/** The command that makes the same call again. */
function callOf(run: Shown, args: readonly string[]): string {
  const { kind, tool } = run;
  const program = execProgram(tool);
  // Before the name of the tool, which may have inputs of these names.
  const flags = flagsOf(run);
  if (kind === 'workflow') return shellCommand(['acor', 'workflow', 'run', ...flags, ...args]);
  if (kind === 'pipe') return shellCommand(['acor', 'pipe', ...flags, ...args]);
  // It is recorded as --task-id=…, --description=… and --plan=…
  if (kind === 'task')
    return shellCommand(['acor', 'task', ...flags, ...args.map((word) => word.slice(word.indexOf('=') + 1))]);
  if (program === undefined) return shellCommand(['acor', 'run', ...flags, tool, ...args]);
  const grants = args.slice(0, Math.max(0, args.indexOf('--')));
  return shellCommand(['acor', 'exec', ...flags, ...grants, '--', program, ...args.slice(grants.length + 1)]);
}

/** The flags of ACOR with which the caller limited the run. */
function flagsOf({ given_timeout_s, writes }: Shown): string[] {
  return [
    ...(given_timeout_s === undefined ? [] : ['--timeout', String(given_timeout_s)]),
    ...(writes === 'review' || writes === 'snapshot' ? [`--${writes}`] : []),
  ];
}

function questionFacts(
  { run_id, action_id, action, msg, context, options, schema, answer_with }: Shown['questions'][number],
  state: RunState,
) {
  return {
    [isFinal(state) ? 'unanswered' : 'asks']:
      `${action} (${run_id === undefined ? '' : `${run_id} `}${action_id})`,
    words: msg,
    context: Object.entries(context).map(([key, value]) => `${key} ${JSON.stringify(value)}`),
    options: options?.map(({ id, label }) => (label === undefined ? id : `${id} (${label})`)) ?? '',
    schema: schema === null ? '' : JSON.stringify(schema),
    answer: isFinal(state) ? '' : (answer_with ?? ''),
  };
}

/** The status and the metrics of the result; its data follow whole. */
function metricsOf({ status, metrics }: Readonly<Record<string, unknown>>): string {
  const fields = typeof metrics === 'object' && metrics !== null ? Object.entries(metrics) : [];
  const pairs = fields.map(
    ([key, value]) => `${key} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return [status, ...pairs].join('  ');
}

function percent(pct: number | null | undefined): string {
  return pct === null || pct === undefined ? '' : `${Math.floor(pct)}%`;
}
