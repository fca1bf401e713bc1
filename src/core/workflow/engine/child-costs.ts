import type { RunRecord } from '../../../protocol/run-record.ts';
import type { CostLimit, OverBudget, SpendingWarning } from '../../cost/run-spending.ts';
import { rounded } from '../../cost/run-spending.ts';

/** Waits for the answer to: may the workflow spend as much again? */
export type AskForMore = (over: OverBudget) => Promise<boolean>;

/**
 * What the children of a workflow cost. With a limit, each child that may cost money gets a part of it before it starts, and is held to
 * that part, so that children that run at once cannot exceed the limit together. A child waits until there is a part for it.
 */
export class ChildCosts {
  #limit: CostLimit | null;
  readonly #perChildUsd: number | undefined;
  readonly #warnAt: number;
  readonly #warn: SpendingWarning;
  /** Null where a workflow ends at its limit. */
  readonly #askForMore: AskForMore | null;
  readonly #parts = new Map<string, number>();
  readonly #costs = new Map<string, number>();
  #waiting: (() => void)[] = [];
  #asking: Promise<boolean> | undefined;
  #hasWarned = false;

  constructor(options: {
    limit: CostLimit | null;
    /** The most that one child may cost; without it, a child reserves all that is left. */
    perChildUsd: number | undefined;
    warnAt: number;
    warn: SpendingWarning;
    askForMore: AskForMore | null;
  }) {
    this.#limit = options.limit;
    this.#perChildUsd = options.perChildUsd;
    this.#warnAt = options.warnAt;
    this.#warn = options.warn;
    this.#askForMore = options.askForMore;
  }

  /** What all children have cost so far, of this and of earlier attempts. */
  get usd(): number {
    return rounded(sumOf(this.#costs.values()));
  }

  /** The part of a task's child; undefined when it has none. */
  partOf(taskId: string): number | undefined {
    return this.#parts.get(taskId);
  }

  /** The excess where a task's child was held to the rest of the limit, and nothing is left of it. */
  overAfter(taskId: string): OverBudget | undefined {
    const part = this.#parts.get(taskId);
    const limit = this.#limit;
    if (part === undefined || limit === null || this.usd < limit.usd) return undefined;
    const isRest = this.#perChildUsd === undefined || part < this.#perChildUsd;
    return isRest ? { kind: 'over-budget', usd: this.usd, limit } : undefined;
  }

  /** Reserves a part for a task's child. Returns the excess when nothing is left, and 'stopped' when `signal` ended the wait. */
  async reserve(taskId: string, signal: AbortSignal): Promise<OverBudget | 'stopped' | undefined> {
    for (;;) {
      if (signal.aborted) return 'stopped';
      const limit = this.#limit;
      if (limit === null) return undefined;
      const spent = this.usd;
      const left = rounded(limit.usd - spent - sumOf(this.#parts.values()));
      const wanted = Math.min(this.#perChildUsd ?? left, limit.usd - spent);
      if (left > 0 && (left >= wanted || this.#parts.size === 0)) {
        this.#parts.set(taskId, Math.min(left, wanted));
        return undefined;
      }
      if (this.#parts.size > 0) await this.#untilSettled(signal);
      else {
        const over: OverBudget = { kind: 'over-budget', usd: spent, limit };
        if (!(await this.#mayGoOn(over))) return over;
      }
    }
  }

  /** The child has ended, or could not start: its part is free again, less what it cost. */
  settle(taskId: string, record: Pick<RunRecord, 'run_id' | 'cost_usd' | 'cost'> | undefined): void {
    if (record !== undefined) this.add(record);
    this.#parts.delete(taskId);
    this.#wake();
  }

  /** Counts a run, once. */
  add({ run_id, cost_usd, cost }: Pick<RunRecord, 'run_id' | 'cost_usd' | 'cost'>): void {
    this.#costs.set(run_id, (cost_usd ?? 0) + (cost?.children_usd ?? 0));
    const limit = this.#limit;
    if (limit === null || this.#hasWarned || this.usd < limit.usd * this.#warnAt) return;
    this.#hasWarned = true;
    this.#warn(`the workflow has cost ${this.usd} of ${limit.usd} USD (${limit.by})`, {
      usd: this.usd,
      limit_usd: limit.usd,
    });
  }

  /** Asks once for all children that wait. */
  async #mayGoOn(over: OverBudget): Promise<boolean> {
    if (this.#askForMore === null) return false;
    this.#asking ??= this.#askForMore(over).then((isAllowed) => {
      if (isAllowed) this.#limit = { ...over.limit, usd: rounded(this.usd + over.limit.usd) };
      this.#asking = undefined;
      this.#hasWarned = false;
      return isAllowed;
    });
    return this.#asking;
  }

  async #untilSettled(signal: AbortSignal): Promise<void> {
    const woken = new Promise<void>((resolve) => this.#waiting.push(resolve));
    const wake = () => this.#wake();
    signal.addEventListener('abort', wake, { once: true });
    await woken;
    signal.removeEventListener('abort', wake);
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

function sumOf(values: Iterable<number>): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
