import { nearestWords } from '../../../util/nearest.ts';

/** Suggest a near word for at most this many mistakes of a file: each search compares all words. */
const MOST_SEARCHES = 20;

/** Finds the known word that is nearest to an unknown one. */
export function nearestOf(words: ReadonlySet<string>): (word: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  return (word) => {
    if (!found.has(word) && found.size < MOST_SEARCHES) found.set(word, nearestWords(word, words, 1)[0]);
    return found.get(word);
  };
}
