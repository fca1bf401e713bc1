import type { FileRunStore } from '../store-files/file-run-store.ts';

/** The newest run that recorded a path. */
export interface PathRecord {
  runId: string;
  sha256: unknown;
  atMs: number;
}

/** Which run recorded each path last, from the ends of all logs. They are only read when an artifact has other content than was recorded. */
export class LaterRecords {
  readonly #store: FileRunStore;
  #newest: Promise<ReadonlyMap<string, PathRecord>> | undefined;

  constructor(store: FileRunStore) {
    this.#store = store;
  }

  async newestOf(path: string): Promise<PathRecord | undefined> {
    this.#newest ??= this.#read();
    return (await this.#newest).get(path);
  }

  async #read(): Promise<ReadonlyMap<string, PathRecord>> {
    const newest = new Map<string, PathRecord>();
    for (const runId of this.#store.listNow()) {
      const end = await this.#lastEvent(runId);
      if (end?.type !== 'runner_end' || !Array.isArray(end.artifacts)) continue;
      const atMs = Date.parse(String(end.ts));
      for (const { path, sha256 } of end.artifacts)
        if (!(atMs < (newest.get(path)?.atMs ?? 0))) newest.set(path, { runId, sha256, atMs });
    }
    return newest;
  }

  /** Undefined for a log that cannot be read: verifying that run reports it. */
  async #lastEvent(runId: string) {
    try {
      for await (const event of this.#store.tail(runId)) return event;
    } catch {}
    return undefined;
  }
}
