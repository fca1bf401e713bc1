/** The values that a flag has among the words of a call, in both spellings: `--flag value` and `--flag=value`. */
export function valuesOfFlag(flag: string, words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    if (word === flag) return words[at + 1] ?? [];
    return word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : [];
  });
}

/** Whether a call takes its inputs as JSON from standard input. */
export function asksForStdin(words: readonly string[]): boolean {
  return valuesOfFlag('--input-json', words).includes('-');
}
