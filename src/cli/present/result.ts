import { renderWhole } from '../../compose/render.ts';
import type { Screen } from '../../compose/screen.ts';
import { safeData } from '../../compose/terminal-text.ts';

type Result = Readonly<Record<string, unknown>>;

/** The answer of a tool, whole: text as text, a list of objects as a table. The records of a pipe come last. Empty if the result has no data and no message. */
export function renderResult({ data, msg, records }: Result, screen: Screen): string {
  return [plainOutput(data) ?? data ?? msg, records]
    .filter((part) => part !== undefined && part !== null)
    .map((part) => renderWhole(safeData(part), screen).trimEnd())
    .join('\n');
}

/** The output of a plain program, which is the only field of its data. */
export function plainOutput(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const [first, ...more] = Object.entries(data);
  return first?.[0] === 'output' && more.length === 0 && typeof first[1] === 'string' ? first[1] : undefined;
}
