/** A text as a sentence: with a full stop, unless it ends with a mark. */
export function sentence(text: string): string {
  return /[.?!…]$/.test(text) ? text : `${text}.`;
}
