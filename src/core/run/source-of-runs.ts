import type { RunSource } from '../ports/run-index.ts';
import type { FileRunStore } from '../store-files/file-run-store.ts';
import { fileRunSource } from '../store-files/run-source.ts';
import { questionsOf } from './answers/open-questions.ts';
import { readRun } from './read-run.ts';

/** The runs of a store as an index reads them. It finds a lost run through the end that its recovery records. */
export function sourceOfRuns(store: FileRunStore): RunSource {
  return fileRunSource(store, {
    run: (runId) => readRun(store, runId),
    questions: (runId) => questionsOf(store, runId),
  });
}
