import type { ModelResponse } from './api.ts';
import type { TurnFile } from './turn-file.ts';

const MILLION = 1_000_000;

/** The tokens of the model calls so far: ACOR prices them, and this program stops before the call that nothing is left for. */
export class Spending {
  readonly #turn: Pick<TurnFile, 'price' | 'max_cost_usd' | 'model'>;
  #model: string;
  #input = 0;
  #cached = 0;
  #output = 0;
  #reasoning = 0;

  constructor(turn: Pick<TurnFile, 'price' | 'max_cost_usd' | 'model'>) {
    this.#turn = turn;
    this.#model = turn.model;
  }

  add({ usage, model }: Pick<ModelResponse, 'usage' | 'model'>): void {
    this.#model = model ?? this.#model;
    this.#input += usage?.input_tokens ?? 0;
    this.#cached += usage?.input_tokens_details?.cached_tokens ?? 0;
    this.#output += usage?.output_tokens ?? 0;
    this.#reasoning += usage?.output_tokens_details?.reasoning_tokens ?? 0;
  }

  get metrics(): Record<string, unknown> {
    return {
      model: this.#model,
      input_tokens: this.#input,
      cache_read_tokens: this.#cached,
      output_tokens: this.#output,
      reasoning_tokens: this.#reasoning,
    };
  }

  get isOver(): boolean {
    const { max_cost_usd: most } = this.#turn;
    return most !== null && this.usd >= most;
  }

  /** A lower bound: tokens without a price count as nothing. */
  get usd(): number {
    const { input = 0, cache_read = 0, output = 0 } = this.#turn.price ?? {};
    const parts = (this.#input - this.#cached) * input + this.#cached * cache_read + this.#output * output;
    return Number((parts / MILLION).toFixed(6));
  }
}
