import { nearestWords } from '../../../util/nearest.ts';

/** A file with more mistakes than this is not told the nearest word for the rest of them: each costs a look at all words. */
const MOST_SEARCHES = 20;

/** Finds the nearest of some words to one that is none of them. */
export function nearestOf(words: ReadonlySet<string>): (word: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  return (word) => {
    if (!found.has(word) && found.size < MOST_SEARCHES) found.set(word, nearestWords(word, words, 1)[0]);
    return found.get(word);
  };
}
