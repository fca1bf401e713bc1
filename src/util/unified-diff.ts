import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** The changes of a text as a unified diff for `patch` and `git apply`; empty when there are none. */
export function unifiedDiff(name: string, before: string, after: string): string {
  if (before === after) return '';
  return createTwoFilesPatch(name, name, before, after, undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY,
  });
}
