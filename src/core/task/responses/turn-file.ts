/** The description of a turn for the executor, in `turn.json` beside the cancel file. */
export interface TurnFile {
  prompt: string;
  instructions: string;
  /** The conversation to continue; null starts a new one. */
  session: string | null;
  root: string;
  /** The writable paths, relative to `root`. */
  writes: readonly string[];
  model: string;
  max_iterations: number;
  /** What the turn may still cost. */
  max_cost_usd: number | null;
  /** Null when they are unknown. */
  price: TurnRates | null;
}

/** USD per million tokens; an absent rate is unknown. */
export interface TurnRates {
  input?: number | undefined;
  output?: number | undefined;
  cache_read?: number | undefined;
  cache_write?: number | undefined;
}
