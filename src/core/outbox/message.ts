/** What a receiver gets. `id` is the same at each try, so that a receiver can drop what it has already. */
export interface Message {
  id: string;
  type: 'run.question' | 'run.ended' | 'run.budget' | 'trace' | 'test';
  /** When it happened, RFC 3339 UTC. */
  timestamp: string;
  data: Readonly<Record<string, unknown>>;
}

/** The body of a message, for webhooks and programs. */
export function bodyOf({ type, timestamp, data }: Message): string {
  return JSON.stringify({ type, timestamp, data });
}
