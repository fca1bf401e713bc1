/** What the executor is told of its turn, in `turn.json` beside the cancel file. */
export interface TurnFile {
  prompt: string;
  instructions: string;
  /** The conversation to go on with; null begins a new one. */
  session: string | null;
  root: string;
  /** What may be written, from `root` on. */
  writes: readonly string[];
  model: string | null;
  max_iterations: number;
  max_cost_usd: number | null;
  /** USD for a million tokens. */
  price: { input: number; output: number } | null;
}
