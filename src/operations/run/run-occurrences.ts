import { questionsOf } from '../../core/run/answers/open-questions.ts';
import { readQuestion } from '../../core/run/answers/question.ts';
import { lastProgress } from '../../core/run/read-log.ts';
import { readRun } from '../../core/run/read-run.ts';
import { isFinal, type RunState } from '../../protocol/run.ts';
import type { AcorApp } from '../acor-app.ts';
import { type ChangedRun, runChanges, seqSeen } from './run-changes.ts';

/** What may happen to a run, as events for subscribers. */
export const OCCURRENCES = ['run.question', 'run.ended', 'run.progress'] as const;
export type OccurrenceName = (typeof OCCURRENCES)[number];

/** Which runs: one, or those of one tool; all without either. */
export interface RunFilter {
  run?: string | undefined;
  tool?: string | undefined;
}

/** Something that happened to a run. The same occurrence always has the same id. */
export interface Occurrence {
  id: string;
  name: OccurrenceName;
  /** RFC 3339 UTC. */
  at: string;
  data: Record<string, unknown>;
}

/** What has happened since a cursor, the oldest first. */
export interface Occurrences {
  occurrences: Occurrence[];
  cursor: string;
  /** The cursor was too old: something may be missing. */
  isReset: boolean;
}

/**
 * What has happened to the runs of the project since a cursor; without one, nothing, and the cursor of now. Every question and every end is
 * reported, of the progress of a run the last. Throws E_USAGE for an invalid cursor, and E_PERMISSION.
 */
export async function runOccurrences(
  app: AcorApp,
  name: OccurrenceName,
  filter: RunFilter,
  after?: string,
): Promise<Occurrences> {
  const { runs, cursor, isReset } = await runChanges(app, after);
  const wanted = runs.filter(
    ({ run_id, tool }) => (filter.run ?? run_id) === run_id && (filter.tool ?? tool) === tool,
  );
  const found = await Promise.all(
    wanted.map((run) => occurrencesOf(app, name, run, seqSeen(after, run.run_id))),
  );
  const occurrences = found
    .flat()
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1));
  return { occurrences, cursor, isReset };
}

async function occurrencesOf(
  app: AcorApp,
  name: OccurrenceName,
  run: ChangedRun,
  since: number,
): Promise<Occurrence[]> {
  const { run_id, tool, state, code, message, attempt } = run;
  const about = { run_id, tool };
  const { store } = await app.project();
  switch (name) {
    case 'run.ended': {
      if (!isFinal(state as RunState)) return [];
      const { ended_at, created_at } = await readRun(store, run_id);
      const data = { ...about, state, code, message };
      return [{ id: `${run_id}-ended-${attempt}`, name, at: ended_at ?? created_at, data }];
    }
    case 'run.question': {
      const questions = await questionsOf(store, run_id);
      return questions.flatMap(({ asked }) => {
        const seq = Number(asked.seq);
        // One that came after the look at the run belongs to the next look: the cursor does not have it yet.
        if (seq <= since || seq > run.seq) return [];
        const { actionId, action, audience, blocking, msg, options, schema } = readQuestion(asked);
        const question = { action_id: actionId, action, audience, blocking, msg, options, schema };
        return [{ id: `${run_id}-${seq}`, name, at: String(asked.ts), data: { ...about, ...question } }];
      });
    }
    case 'run.progress': {
      const last = await lastProgress(store, run_id);
      if (last === undefined || Number(last.seq) <= since) return [];
      const { seq, ts, pct, step, msg } = last;
      return [{ id: `${run_id}-${seq}`, name, at: String(ts), data: { ...about, pct, step, msg } }];
    }
  }
}
