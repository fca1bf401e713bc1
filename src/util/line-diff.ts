const CONTEXT_LINES = 3;

/** More pairs of lines than this are not compared one by one; the changed part is then shown as a whole. */
const MAX_PAIRS = 4_000_000;

interface Edit {
  sign: ' ' | '-' | '+';
  line: string;
}

/** The changes of a text as a unified diff, which `patch` understands; empty when there are none. */
export function unifiedDiff(name: string, before: string, after: string): string {
  if (before === after) return '';
  const edits = editsOf(linesOf(before), linesOf(after));
  const hunks: string[] = [];
  for (let at = 0; at < edits.length; ) {
    if (edits[at]!.sign === ' ') {
      at++;
      continue;
    }
    const from = Math.max(0, at - CONTEXT_LINES);
    let to = at;
    for (let next = at; next < edits.length && next <= to + 2 * CONTEXT_LINES; next++)
      if (edits[next]!.sign !== ' ') to = next;
    to = Math.min(edits.length, to + 1 + CONTEXT_LINES);
    hunks.push(hunk(edits, from, to));
    at = to;
  }
  return `--- ${name}\n+++ ${name}\n${hunks.join('')}`;
}

function hunk(edits: readonly Edit[], from: number, to: number): string {
  const part = edits.slice(from, to);
  const range = (sign: '-' | '+') => {
    const counts = (list: readonly Edit[]) =>
      list.filter((each) => each.sign === ' ' || each.sign === sign).length;
    const count = counts(part);
    return `${sign}${counts(edits.slice(0, from)) + (count > 0 ? 1 : 0)},${count}`;
  };
  const body = part.map(({ sign, line }) => {
    return `${sign}${line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`}`;
  });
  return `@@ ${range('-')} ${range('+')} @@\n${body.join('')}`;
}

/** Lines with their ends; what follows the last one is a line, too. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ sign: ' ', line }));
  return [
    ...same(before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** By the longest common subsequence. */
function middle(before: readonly string[], after: readonly string[]): Edit[] {
  const removed = (line: string): Edit => ({ sign: '-', line });
  const added = (line: string): Edit => ({ sign: '+', line });
  if (before.length * after.length > MAX_PAIRS) return [...before.map(removed), ...after.map(added)];
  const length = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      length[i]![j] =
        before[i] === after[j]
          ? length[i + 1]![j + 1]! + 1
          : Math.max(length[i + 1]![j]!, length[i]![j + 1]!);
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      edits.push({ sign: ' ', line: before[i++]! });
      j++;
    } else if (i < before.length && (j === after.length || length[i + 1]![j]! >= length[i]![j + 1]!)) {
      edits.push(removed(before[i++]!));
    } else {
      edits.push(added(after[j++]!));
    }
  }
  return edits;
}
