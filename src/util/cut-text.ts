/** A caller knows what it gave: the beginning is enough to recognise it. */
const MAX_CHARS = 2_000;

/** A text that may repeat what a caller gave: a long one is cut, and says its length. */
export function cutText(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}… (${text.length} characters in all)`;
}

/** A value with each text in it cut so. */
export function cutTexts(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value);
  if (Array.isArray(value)) return value.map(cutTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [cutText(key), cutTexts(each)]));
}

/** A value that a caller gave, as an answer repeats it: a long one is the beginning of its JSON. */
export function cutValue(value: unknown): unknown {
  const json = JSON.stringify(value) ?? '';
  return json.length <= MAX_CHARS ? value : cutText(json);
}
