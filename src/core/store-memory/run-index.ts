import { callersMeant, isFinal } from '../../protocol/run.ts';
import {
  type CostCount,
  DURATION_BOUNDS_S,
  type FoundRuns,
  type IndexedQuestion,
  type IndexedRun,
  type RunCount,
  type RunIndex,
  type RunQuery,
  type RunQuestions,
  type RunSource,
  type SourceRun,
} from '../ports/run-index.ts';
import { isUnended, missingOf, readChanges } from './index-changes.ts';

const NO_COST = {
  runs: 0,
  cost_usd: null,
  unpriced: 0,
  input_tokens: 0,
  cache_read_tokens: 0,
  output_tokens: 0,
};

/** An index in memory: for a runtime without SQLite, and for a read-only store. */
export class MemoryRunIndex implements RunIndex {
  readonly warning: string | undefined;
  readonly #source: RunSource;
  readonly #runs = new Map<string, SourceRun>();
  /** A cache of the questions of ended runs. */
  readonly #questions = new Map<string, IndexedQuestion[]>();
  readonly #missing = new Set<string>();
  #position: string | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(source: RunSource, warning?: string) {
    this.#source = source;
    this.warning = warning;
  }

  async query(query: RunQuery): Promise<FoundRuns> {
    await this.#refresh();
    const matching = this.#sorted().filter((each) => matches(each, query));
    const runIds = matching.map(({ run }) => run.run_id);
    const existing = await this.#source.existing(runIds);
    const gone = runIds.filter((runId) => !existing.has(runId));
    for (const runId of gone) this.#runs.delete(runId);
    for (const runId of await missingOf(this.#source, gone)) this.#missing.add(runId);
    const found = matching.filter(({ run }) => existing.has(run.run_id));
    if (query.order !== 'oldest') found.reverse();
    const from = query.offset ?? 0;
    const page = found.slice(from, query.limit === undefined ? undefined : from + query.limit);
    return { runs: page.map(({ run }) => run), total: found.length };
  }

  async unended(): Promise<IndexedRun[]> {
    await this.#refresh();
    return this.#sorted()
      .filter(isUnended)
      .map(({ run }) => run);
  }

  async questions({ isOpen }: { isOpen: boolean }): Promise<RunQuestions[]> {
    await this.#refresh();
    const found: RunQuestions[] = [];
    for (const { run, mayHaveAsked } of this.#sorted()) {
      if (isFinal(run.state) && (isOpen || !mayHaveAsked)) continue;
      const questions = await this.#questionsOf(run);
      if (isOpen ? questions.some((each) => each.isOpen) : questions.length > 0)
        found.push({ run, questions });
    }
    return found;
  }

  async counts(): Promise<RunCount[]> {
    await this.#refresh();
    const counts = new Map<string, RunCount>();
    for (const { run, cpu_s, cost_usd } of this.#runs.values()) {
      if (run.ended_at === null) continue;
      const [tool, day, state] = [run.tool, run.ended_at.slice(0, 10), run.state];
      const key = JSON.stringify([day, tool, state]);
      const within = DURATION_BOUNDS_S.map(() => 0);
      const none = { tool, day, state, runs: 0, duration_s: 0, within, cpu_s: null, cost_usd: null };
      const count = counts.get(key) ?? none;
      count.runs++;
      count.duration_s += run.duration_s ?? 0;
      DURATION_BOUNDS_S.forEach((bound, at) => {
        if (run.duration_s !== null && run.duration_s <= bound) count.within[at]!++;
      });
      count.cpu_s = sumOf(count.cpu_s, cpu_s);
      count.cost_usd = sumOf(count.cost_usd, cost_usd);
      counts.set(key, count);
    }
    return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
  }

  async costs({ day, parent }: { day?: string; parent?: string } = {}): Promise<CostCount[]> {
    await this.#refresh();
    const counts = new Map<string, CostCount>();
    for (const { run, cost, cost_usd } of this.#runs.values()) {
      const endDay = run.ended_at?.slice(0, 10);
      if (cost === null || endDay === undefined) continue;
      if ((day ?? endDay) !== endDay || (parent !== undefined && run.parent?.run_id !== parent)) continue;
      const of = { tool: run.tool, task: cost.task, caller: run.caller, day: endDay };
      const key = JSON.stringify([endDay, run.tool, cost.task ?? '', run.caller ?? '']);
      const count = counts.get(key) ?? { ...of, ...NO_COST };
      counts.set(key, {
        ...of,
        runs: count.runs + 1,
        cost_usd: sumOf(count.cost_usd, cost_usd),
        unpriced: count.unpriced + (cost.isUnpriced ? 1 : 0),
        input_tokens: count.input_tokens + cost.input_tokens,
        cache_read_tokens: count.cache_read_tokens + cost.cache_read_tokens,
        output_tokens: count.output_tokens + cost.output_tokens,
      });
    }
    return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
  }

  async missing(): Promise<string[]> {
    await this.#refresh();
    return [...this.#missing].sort();
  }

  close(): void {}

  async #questionsOf({ run_id, state }: IndexedRun): Promise<IndexedQuestion[]> {
    if (!isFinal(state)) return this.#source.questions(run_id);
    const known = this.#questions.get(run_id) ?? (await this.#source.questions(run_id));
    this.#questions.set(run_id, known);
    return known;
  }

  #sorted(): SourceRun[] {
    return [...this.#runs.values()].sort((a, b) => (a.run.run_id < b.run.run_id ? -1 : 1));
  }

  async #refresh(): Promise<void> {
    this.#refreshing ??= this.#update().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  async #update(): Promise<void> {
    const unended = [...this.#runs.values()].filter(isUnended).map(({ run }) => run.run_id);
    const { isWhole, changed, removed, missing, position } = await readChanges(this.#source, {
      position: this.#position,
      unended,
      missing: [...this.#missing],
      idsIn: ({ first, last }) => [...this.#runs.keys()].filter((runId) => first <= runId && runId <= last),
    });
    if (isWhole) {
      this.#runs.clear();
      this.#missing.clear();
    }
    for (const each of changed) this.#runs.set(each.run.run_id, each);
    for (const runId of removed) this.#runs.delete(runId);
    for (const runId of [...removed, ...changed.map(({ run }) => run.run_id)]) {
      this.#questions.delete(runId);
      this.#missing.delete(runId);
    }
    for (const runId of missing) this.#missing.add(runId);
    this.#position = position;
  }
}

/** Null is unknown. */
function sumOf(sum: number | null, value: number | null): number | null {
  return value === null ? sum : (sum ?? 0) + value;
}

function matches({ run, text }: SourceRun, query: RunQuery): boolean {
  const createdMs = Date.parse(run.created_at);
  return (
    (query.state === undefined || run.state === query.state) &&
    (query.tool === undefined || run.tool === query.tool) &&
    (query.kind === undefined || run.kind === query.kind) &&
    (query.caller === undefined || callersMeant(query.caller).includes(run.caller ?? '')) &&
    (query.parent === undefined || (run.parent?.run_id ?? null) === query.parent) &&
    (query.prefix === undefined || run.run_id.startsWith(query.prefix)) &&
    (query.before === undefined || run.run_id < query.before) &&
    (query.sinceMs === undefined || createdMs >= query.sinceMs) &&
    (query.untilMs === undefined || createdMs < query.untilMs) &&
    (query.text === undefined || text.toLowerCase().includes(query.text.toLowerCase()))
  );
}
