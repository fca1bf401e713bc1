import type { AttemptOutcome } from '../run/run-executor.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';

/** What the turns of a run come to together. */
export class TurnSums {
  turns = 0;
  readonly metrics: Record<string, number> = {};
  /** Files that the executor says it changed, where nothing else has held them against the disk. */
  readonly claims: string[] = [];
  readonly #tellsTotals: boolean;
  readonly #artifacts = new Map<string, MeasuredArtifact>();

  constructor({ tellsTotals = false }: { tellsTotals?: boolean }) {
    this.#tellsTotals = tellsTotals;
  }

  get artifacts(): MeasuredArtifact[] {
    return [...this.#artifacts.values()];
  }

  add({ result, artifacts }: AttemptOutcome): void {
    this.turns += 1;
    for (const artifact of artifacts) this.#artifacts.set(artifact.path, artifact);
    for (const [name, value] of Object.entries(result?.['metrics'] ?? {}))
      if (typeof value === 'number')
        this.metrics[name] = this.#tellsTotals ? value : (this.metrics[name] ?? 0) + value;
    const told = (result?.['data'] as { files_modified?: unknown } | undefined)?.files_modified;
    if (Array.isArray(told)) this.claims.push(...told.filter((path) => typeof path === 'string'));
  }
}
