import { loadAll } from '../../compose/catalog.ts';
import type { Candidate } from '../../compose/completion/candidates.ts';
import type { ValuesOf } from '../../compose/completion/values-of.ts';
import { agoWords } from '../../compose/time-words.ts';
import { findOpenQuestion, openQuestionNames } from '../../core/run/answers/submit-answer.ts';
import { openQuestionsOf } from '../../core/supervision/run-status.ts';
import { ERROR_CODES } from '../../protocol/error-codes.ts';
import type { RunKind, RunState } from '../../protocol/run.ts';
import type { AcorApp } from '../acor-app.ts';
import { namedRun } from '../run/last-run.ts';

const MAX_RUNS = 50;

/** The values of a parameter, by its name: a name means the same in every command. */
export const completionValues: ValuesOf<AcorApp> = async ({ op, key, given }, app) => {
  try {
    switch (`${op.name} ${key}`) {
      case 'system.tools name':
        return (await loadAll(app.routes)).map(({ op: each }) => ({ value: each.name, about: each.summary }));
      case 'system.errors code':
        return Object.entries(ERROR_CODES).map(([value, { action }]) => ({ value, about: action }));
      case 'system.explain topic':
        return await topics(app);
      case 'run.answer action_id':
        return await questionNames(app, given);
      case 'run.answer choice':
        return await choices(app, given);
      default:
    }
    if (key === 'tool') return await tools(app);
    if (key === 'run' || (key === 'more' && op.name === 'run.remove'))
      return await runs(app, STATES[op.name], op.name === 'workflow.resume' ? 'workflow' : undefined);
    if (key === 'workflow' || key === 'workflows') return await workflows(app);
    if (key === 'reason' || key === 'by') return [];
    return undefined;
  } catch {
    // When the project cannot be read, complete nothing; the command itself reports the error.
    return [];
  }
};

async function tools(app: AcorApp): Promise<Candidate[]> {
  const { registry } = await app.project();
  return (await registry.list()).map(({ name, manifest }) => ({
    value: name,
    about: manifest.description ?? '',
  }));
}

/** Undefined when the project has no workflows: the shell then completes paths. */
async function workflows(app: AcorApp): Promise<Candidate[] | undefined> {
  const { workflowFiles, workflowNameOf } = await import('../../core/workflow/file/find-workflow.ts');
  const { config } = await app.project();
  const named = workflowFiles(config).map((file) => ({ value: workflowNameOf(file), about: file }));
  return named.length > 0 ? named : undefined;
}

async function topics(app: AcorApp): Promise<Candidate[]> {
  const { TOPICS } = await import('./explain/topics.ts');
  const own = (await tools(app)).map(({ value, about }) => ({ value: `tool:${value}`, about }));
  return [...Object.entries(TOPICS).map(([value, { about }]) => ({ value, about })), ...own];
}

const LIVE: readonly RunState[] = ['queued', 'running', 'waiting_ai'];
const STOPPED: readonly RunState[] = ['failed', 'cancelled'];

/** The states of the runs that an operation accepts; any state for the others. */
const STATES: Readonly<Record<string, readonly RunState[]>> = {
  'run.answer': ['waiting_ai', 'running'],
  'run.attach': LIVE,
  'run.wait': LIVE,
  'run.cancel': LIVE,
  'run.resume': STOPPED,
  'run.retry': STOPPED,
  'workflow.resume': STOPPED,
  'run.replay': [...STOPPED, 'completed'],
  'run.remove': [...STOPPED, 'completed'],
};

/** Why no run is offered for an operation although the project has runs. */
export async function whyNoRun(operation: string, key: string, app: AcorApp): Promise<string | undefined> {
  const states = STATES[operation];
  if (key !== 'run' || states === undefined || (await runs(app)).length === 0) return undefined;
  if (states === STOPPED) return 'No run has failed or was cancelled.';
  return states.includes('running') ? 'No run is live.' : 'No run has ended.';
}

/** The newest runs first. */
async function runs(
  app: AcorApp,
  states: readonly (RunState | undefined)[] = [undefined],
  kind?: RunKind,
): Promise<Candidate[]> {
  const index = await (await app.project()).index();
  const found = await Promise.all(states.map((state) => index.query({ state, kind, limit: MAX_RUNS })));
  const newest = found.flatMap(({ runs }) => runs).toSorted((a, b) => (a.run_id < b.run_id ? 1 : -1));
  return newest.slice(0, MAX_RUNS).map(({ run_id, state, tool, created_at }) => ({
    value: run_id,
    about: `${state} ${tool} ${agoWords(created_at)}`,
  }));
}

/** The action ids, and the names of steps where they are others. */
async function questionNames(app: AcorApp, given: ReadonlyMap<string, string>): Promise<Candidate[]> {
  const { store } = await app.project();
  const open = await openQuestionNames(store, await namedRun(app, given.get('run') ?? ''));
  return open.flatMap(({ actionId, action, step = actionId }) =>
    [...new Set([actionId, step])].map((value) => ({ value, about: action })),
  );
}

async function choices(app: AcorApp, given: ReadonlyMap<string, string>): Promise<Candidate[]> {
  const { store } = await app.project();
  const runId = await namedRun(app, given.get('run') ?? '');
  const wanted = given.get('action_id');
  const open =
    wanted === undefined
      ? await openQuestionsOf(store, runId)
      : [await findOpenQuestion(store, runId, wanted)];
  return open.flatMap(({ options }) =>
    (options ?? []).map(({ id, label, description }) => ({
      value: String(id),
      about: String(label ?? description ?? ''),
    })),
  );
}
