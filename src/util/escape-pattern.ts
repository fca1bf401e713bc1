/** Escapes the characters that have a meaning in a regular expression. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.|+()[\]{}/*?]/g, '\\$&');
}
