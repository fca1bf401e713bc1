import type { CallToolResult } from '@modelcontextprotocol/server';

/** Longer data are left out of the structured content: some clients pass it to their model. */
const MAX_CHARS = 1 << 20;
/** How deep a long value is looked for: the fields of an event in a list of events. */
const MAX_DEPTH = 4;
const MAX_BEGINNING_CHARS = 2000;
/** A model's context is small. */
const MAX_TEXT_CHARS = 20_000;

/** What stands for a value that is too long: its length as JSON, and its beginning. */
interface CutValue {
  chars: number;
  begins: string;
}

/**
 * A result whose structured content has at most about 1 MiB in each of its parts. Long data of a run become `data_cut`, as in
 * its text: `data` would not match the output schema any more.
 */
export function boundedAnswer(result: CallToolResult): CallToolResult {
  const { structuredContent } = result;
  if (structuredContent === undefined || fits(structuredContent)) return result;
  const { data, ...rest } = structuredContent as { data?: unknown; run_id?: string };
  const { run_id: run } = rest;
  if (run === undefined || data === undefined || fits(data))
    return { ...result, structuredContent: cutChildren(structuredContent) as Record<string, unknown> };
  const others = cutChildren(rest) as Record<string, unknown>;
  return {
    ...result,
    structuredContent: { ...others, data_cut: { ...cutOf(data), whole: wholeOf(run) } },
  };
}

/** What a model reads of an answer about a run: `data_cut` in place of data that would make it too long. */
export function withShortData<T extends { data?: unknown }>(
  answer: T,
  run: string,
): T | (Omit<T, 'data'> & { data_cut: CutValue & { whole: string } }) {
  const { data, ...rest } = answer;
  if (data === undefined || JSON.stringify(answer).length <= MAX_TEXT_CHARS) return answer;
  return { ...rest, data_cut: { ...cutOf(data), whole: wholeOf(run) } };
}

function wholeOf(run: string): string {
  return `acor://runs/${run}`;
}

/** The beginning of a value, as JSON. */
function cutOf(value: unknown): CutValue {
  const text = JSON.stringify(value) ?? '';
  return { chars: text.length, begins: text.slice(0, MAX_BEGINNING_CHARS) };
}

function shortened(value: unknown, depth: number): unknown {
  if (fits(value)) return value;
  const shorter = depth > 0 ? cutChildren(value, depth - 1) : value;
  return fits(shorter) ? shorter : { cut: cutOf(value) };
}

function cutChildren(value: unknown, depth = MAX_DEPTH): unknown {
  if (Array.isArray(value)) return value.map((each) => shortened(each, depth));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortened(each, depth)]));
}

function fits(value: unknown): boolean {
  return (JSON.stringify(value) ?? '').length <= MAX_CHARS;
}
