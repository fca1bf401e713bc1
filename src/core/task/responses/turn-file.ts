/** The description of a turn for the executor, in `turn.json` beside the cancel file. */
export interface TurnFile {
  prompt: string;
  instructions: string;
  /** The conversation to continue; null starts a new one. */
  session: string | null;
  root: string;
  /** The writable paths, relative to `root`. */
  writes: readonly string[];
  model: string | null;
  max_iterations: number;
  max_cost_usd: number | null;
  /** USD per million tokens. */
  price: { input: number; output: number } | null;
}
