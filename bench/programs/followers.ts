// Follows a run several times in one process, to its end: followers.ts RUNS_FOLDER RUN COUNT
import { FileRunStore } from '../../src/core/store-files/file-run-store.ts';

const [folder, run, count] = process.argv.slice(2) as [string, string, string];
const store = new FileRunStore(folder, () => '');
await Promise.all(Array.from({ length: Number(count) }, follow));

async function follow(): Promise<void> {
  for await (const _ of store.follow(run, { wait: true }));
}
