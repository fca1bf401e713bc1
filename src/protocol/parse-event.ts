import { AcorError } from './acor-error.ts';
import { VERIFY } from './next-steps.ts';

const SHOWN_CHARS = 80;

/** An event of a stored log. Throws E_INTEGRITY for a line that another program has damaged. */
export function parseEvent(line: string): Record<string, unknown> {
  try {
    const event = JSON.parse(line);
    if (typeof event === 'object' && event !== null) return event;
  } catch {
    // Reported below.
  }
  throw new AcorError(
    'E_INTEGRITY',
    `a line of the event log is damaged; it begins with ${JSON.stringify(line.slice(0, SHOWN_CHARS))}`,
    {
      hint: 'Restore events.jsonl from a backup, or remove the run. List every damaged place first.',
      next: [VERIFY],
    },
  );
}
