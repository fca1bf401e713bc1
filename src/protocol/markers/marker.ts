// A tool writes the lines, so each pattern takes time linear in their length: it reads a trimmed line, has no two neighbours that take the
// same characters, and its `.` matches every character (flag `s`), so that no pattern backtracks over what it took.
const OPTION = /^(\d{1,6})[.)]\s+(\S.*)$/s;
const ITEM = /^[-*]\s+(\S.*)$/s;
const FILE = /^(.*\S)\s+\((created|modified|deleted)\)$/s;
const LABEL_AND_DESCRIPTION = /^(.*?\S)\s+[-–—]\s+(.*)$/s;
const COUNT = /(\d{1,9})\s+(passed|failed|skipped)/gi;

/** The markers of the protocol (contract §8): the five in use, and the four that it reserves. */
export const MARKER_KINDS: readonly MarkerKind[] = [
  { name: 'PROGRESS', reach: 'line', read: ({ head }) => ({ msg: head }) },
  { name: 'QUESTION', reach: 'block-and-paragraph', read: readQuestion },
  { name: 'BLOCKED', reach: 'block', read: readBlocked },
  { name: 'FILES_MODIFIED', reach: 'block', takes: (line) => ITEM.test(line.trim()), read: readFiles },
  { name: 'CODEX_COMPLETE', reach: 'line', read: readComplete },
  { name: 'TEST_RESULTS', reach: 'block', read: readTestResults },
  { name: 'LINT_WARNINGS', reach: 'block', read: readList },
  { name: 'DEPENDENCY_NEEDED', reach: 'block', read: readList },
  { name: 'GIT_COMMIT_SUGGESTION', reach: 'block-and-paragraph', read: readCommit },
];

export const MARKER_NAMES: readonly string[] = MARKER_KINDS.map(({ name }) => name);

function readQuestion(content: MarkerContent): QuestionData | undefined {
  const { title: question, rest } = titled(content);
  if (question === '') return undefined;
  const options: QuestionData['options'] = [];
  const context: string[] = [];
  for (const line of rest) {
    const found = OPTION.exec(line.trim());
    // A number that restarts inside the context is part of the sentence: the options of a question are consecutive.
    if (found !== null && context.every(isBlank)) options.push(optionOf(found));
    else if (options.length > 0 || line.trim().toLowerCase() !== 'options:') context.push(line);
  }
  return { question, options, context: joined(context) };
}

/** `1. label - description`; without a description the whole text is the label. */
function optionOf([, number, text]: RegExpExecArray): QuestionData['options'][number] {
  const split = LABEL_AND_DESCRIPTION.exec(text!);
  return { number: Number(number), label: split?.[1] ?? text!, description: split?.[2] ?? '' };
}

function readBlocked(content: MarkerContent): BlockedData | undefined {
  const { title: reason, rest } = titled(content);
  return reason === '' ? undefined : { reason, context: joined(rest) };
}

function readFiles({ head, body }: MarkerContent): FilesData | undefined {
  if (head !== '' && !ITEM.test(head)) return undefined;
  const items = itemsOf(head === '' ? body : [head, ...body]);
  if (items.length === 0) return undefined;
  return {
    files: items.map((item) => {
      const found = FILE.exec(item);
      return { path: found?.[1] ?? item, change: (found?.[2] as FileChange | undefined) ?? null };
    }),
  };
}

function readComplete({ head }: MarkerContent): CompleteData {
  const found = /\b(\d{1,9})\s+iterations?\b/i.exec(head);
  return { summary: head, iterations: found === null ? null : Number(found[1]) };
}

/** The numbers in a test runner's summary, such as `12 passed, 1 failed`. */
function readTestResults(content: MarkerContent): object | undefined {
  const text = wholeOf(content);
  if (text === '') return undefined;
  const counts = [...text.matchAll(COUNT)].map(([, count, word]) => [word!.toLowerCase(), Number(count)]);
  return { text, ...Object.fromEntries(counts) };
}

function readList(content: MarkerContent): object | undefined {
  const text = wholeOf(content);
  if (text === '') return undefined;
  const items = itemsOf([content.head, ...content.body]);
  return { text, items: items.length > 0 ? items : [text] };
}

function readCommit(content: MarkerContent): object | undefined {
  const { title: subject, rest } = titled(content);
  return subject === '' ? undefined : { subject, body: joined(rest) };
}

/** The head is the title. Without a head, the first following line is. */
function titled({ head, body }: MarkerContent): { title: string; rest: readonly string[] } {
  return head === '' ? { title: body[0]?.trim() ?? '', rest: body.slice(1) } : { title: head, rest: body };
}

function itemsOf(lines: readonly string[]): string[] {
  return lines.flatMap((line) => ITEM.exec(line.trim())?.[1] ?? []);
}

function wholeOf({ head, body }: MarkerContent): string {
  return joined([head, ...body]);
}

function joined(lines: readonly string[]): string {
  return lines.join('\n').trim();
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}

/**
 * The extent of a marker: its own line, the lines up to a blank one, or those and one paragraph after the blank line.
 */
export const MARKER_REACHES = ['line', 'block', 'block-and-paragraph'] as const;

type MarkerReach = (typeof MARKER_REACHES)[number];

/** The raw content of a marker. */
export interface MarkerContent {
  /** The trimmed text after the closing bracket on its line. */
  head: string;
  /** The following lines, without trailing blank lines. */
  body: readonly string[];
}

/** One kind of marker. To support another kind, pass a list that contains it to the parser. */
export interface MarkerKind {
  /** The text between the brackets: upper-case letters, digits and `_`. */
  name: string;
  reach: MarkerReach;
  /** Whether a line may belong to the block; the first line that may not ends it. Undefined allows any line. */
  takes?: (line: string) => boolean;
  /** Parses the content; undefined when it is malformed, which turns all its lines into text. */
  read(content: MarkerContent): object | undefined;
}

/** A parsed marker. `line` is the number of its first line, from 1; `lines` is its length. */
export interface Marker<Data = object> {
  name: string;
  data: Data;
  line: number;
  lines: number;
  /** The block exceeded the limit, so its rest is text. */
  cut: boolean;
}

/** The parts of a text in order: lines of plain text, and markers. */
export type MarkerPiece =
  | { kind: 'text'; text: string; line: number; cut: boolean }
  | { kind: 'marker'; marker: Marker };

export type FileChange = 'created' | 'modified' | 'deleted';

export type QuestionData = {
  question: string;
  options: { number: number; label: string; description: string }[];
  context: string;
};
export type BlockedData = { reason: string; context: string };
export type FilesData = { files: { path: string; change: FileChange | null }[] };
export type CompleteData = { summary: string; iterations: number | null };
