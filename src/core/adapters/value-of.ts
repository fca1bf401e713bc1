/** A value of a stranger's message, if it is such an object; else one without fields. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text with something in it. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The fields that are finite numbers. */
export function numbersOf(value: unknown): Record<string, number> {
  const entries = Object.entries(recordOf(value));
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => Number.isFinite(entry[1])));
}

/** A value in one line of at most so many characters. Never `String(value)`: an object may hold a `toString` that is none. */
export function inShort(value: unknown, maxChars = 200): string {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
}
