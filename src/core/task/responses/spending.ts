import type { Usage } from './api.ts';
import type { TurnFile } from './turn-file.ts';

const MILLION = 1_000_000;

/** The tokens and cost of the model calls so far. */
export class Spending {
  readonly #turn: Pick<TurnFile, 'price' | 'max_cost_usd'>;
  #input = 0;
  #output = 0;

  constructor(turn: Pick<TurnFile, 'price' | 'max_cost_usd'>) {
    this.#turn = turn;
  }

  add(usage: Usage | undefined): void {
    this.#input += usage?.input_tokens ?? 0;
    this.#output += usage?.output_tokens ?? 0;
  }

  get metrics(): Record<string, number> {
    const tokens = { input_tokens: this.#input, output_tokens: this.#output };
    return this.#costUsd === undefined ? tokens : { ...tokens, cost_usd: this.#costUsd };
  }

  get isOver(): boolean {
    const { max_cost_usd: most } = this.#turn;
    return most !== null && this.#costUsd !== undefined && this.#costUsd >= most;
  }

  /** Unknown without a configured price: the service reports only tokens. */
  get #costUsd(): number | undefined {
    const { price } = this.#turn;
    if (price === null) return undefined;
    return Number(((this.#input * price.input + this.#output * price.output) / MILLION).toFixed(6));
  }
}
