import type { CommandOf } from '../../protocol/next-steps.ts';
import { type LoadedConfig, runsDirOf } from '../config/load.ts';
import type { RunIndex } from '../ports/run-index.ts';
import type { RunQueue } from '../ports/run-queue.ts';
import { Workspaces } from '../run/workspace.ts';
import { FileRunQueue } from '../store-files/file-run-queue.ts';
import { FileRunStore } from '../store-files/file-run-store.ts';

/** The runs of a project. */
export interface ProjectRuns {
  store: FileRunStore;
  queue: RunQueue;
  workspaces: Workspaces;
  /** The index of the runs, opened on first use. */
  index: () => Promise<RunIndex>;
}

/** The runs in the folder that the configuration names. `commandOf` renders a next step as an exact command, for `runner_end` and the record. */
export function openRuns(config: LoadedConfig, commandOf: CommandOf): ProjectRuns {
  const runsDir = runsDirOf(config);
  const store = new FileRunStore(runsDir, commandOf);
  let index: Promise<RunIndex> | undefined;
  return {
    store,
    workspaces: new Workspaces(runsDir),
    queue: new FileRunQueue(runsDir),
    index: () => {
      index ??= openIndex(store);
      return index;
    },
  };
}

async function openIndex(store: FileRunStore): Promise<RunIndex> {
  const [{ openRunIndex }, { sourceOfRuns }] = await Promise.all([
    import('../index-sqlite/open-run-index.ts'),
    import('../run/source-of-runs.ts'),
  ]);
  return openRunIndex(store.root, sourceOfRuns(store));
}
