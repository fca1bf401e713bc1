import { readFileSync, statSync } from 'node:fs';
import type { Document, LineCounter, Node, YAMLError } from 'yaml';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import type { Problem } from './problem.ts';

/** Larger files are refused before they are read: no hand-written manifest or configuration comes near it. */
export const MAX_YAML_BYTES = 256 * 1024;

/** References to anchors are counted as what they unfold to, so that a few lines cannot become gigabytes. */
const MAX_ALIAS_COUNT = 50;

const MAX_SYNTAX_PROBLEMS = 20;

/** A path into a YAML file: keys and indexes. */
export type KeyPath = readonly (string | number)[];

export interface Place {
  line: number;
  column: number;
}

/** A YAML file as plain values, and where each of them stands. */
export interface YamlFile {
  file: string;
  /** What was read, decoded; empty when nothing could be. */
  text: string;
  value: unknown;
  problems: Problem[];
  /** The place of a value, or of what holds it when it is not there. */
  placeOf(path: KeyPath): Place;
  placeOfKey(path: KeyPath, key: string): Place;
  /** A scalar as it was written, before it became a number or the like. */
  sourceOf(path: KeyPath): string | undefined;
}

/** How a file is read. */
interface ReadOptions {
  /** Without it no alias is allowed: a file that grants rights must spell each one out at its place. */
  aliases?: boolean;
  maxBytes?: number;
}

/** Reads a file of limited size. What is wrong with it is a problem, not an exception. */
export async function readYamlFile(
  file: string,
  { aliases = true, maxBytes = MAX_YAML_BYTES }: ReadOptions = {},
): Promise<YamlFile> {
  try {
    const stats = statSync(file);
    // Reading a FIFO would wait for ever.
    if (!stats.isFile()) return failed(file, 'unreadable', 'this is not a file', 'Put a file in its place.');
    const { size } = stats;
    if (size > maxBytes) {
      return failed(
        file,
        'size',
        `the file has ${size} bytes, more than the ${maxBytes} that are read`,
        'Make it smaller.',
      );
    }
    return await parseYaml(file, new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)), {
      aliases,
    });
  } catch (error) {
    if (error instanceof TypeError && errorCode(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return notText(file);
    const why = errorCode(error) ?? errorMessage(error);
    return failed(
      file,
      'unreadable',
      `the file cannot be read (${why})`,
      'Check that it is a file and that you may read it.',
    );
  }
}

/** Parses YAML 1.2. Duplicate keys, unknown tags and more than one document are problems. */
export async function parseYaml(
  file: string,
  text: string,
  options: { aliases: boolean } = { aliases: true },
): Promise<YamlFile> {
  if (text.includes('\0')) return notText(file);
  // Loaded late: it takes longer than a whole warm start.
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  try {
    const document = yaml.parseDocument(text, { lineCounter: lines, stringKeys: true, prettyErrors: false });
    const mistakes = [...document.errors, ...document.warnings];
    if (mistakes.some(({ message }) => /call stack/i.test(message))) return tooDeep(file);
    const problems = onePerPlace(mistakes).map((mistake) => syntaxProblem(file, text, lines, mistake));
    if (!options.aliases) problems.push(...aliasIn(document, file, lines, yaml));
    const value = problems.length > 0 ? undefined : (document.toJS({ maxAliasCount: MAX_ALIAS_COUNT }) ?? {});
    return { file, text, value, problems, ...placesIn(document, lines, yaml) };
  } catch (error) {
    if (error instanceof ReferenceError) {
      return failed(
        file,
        'aliases',
        'the aliases (*name) of the file unfold to too much',
        'Write out what they stand for.',
      );
    }
    if (error instanceof RangeError) return tooDeep(file);
    throw error;
  }
}

/** One typing error makes the parser report many errors at one place; only the first is useful. */
function onePerPlace(mistakes: readonly YAMLError[]): YAMLError[] {
  const places = new Set<number>();
  return mistakes
    .filter(({ pos }) => !places.has(pos[0]) && places.add(pos[0]))
    .slice(0, MAX_SYNTAX_PROBLEMS);
}

function notText(file: string): YamlFile {
  return failed(file, 'encoding', 'the file is not UTF-8 text', 'Save it as UTF-8.');
}

function tooDeep(file: string): YamlFile {
  return failed(file, 'too-deep', 'the file is nested too deeply', 'Reduce the nesting.');
}

/** The first alias of a document, if it has one. */
function aliasIn(
  document: Document.Parsed,
  file: string,
  lines: LineCounter,
  yaml: typeof import('yaml'),
): Problem[] {
  const problems: Problem[] = [];
  yaml.visit(document, {
    Alias(_key, { source, range }) {
      const { line, col } = lines.linePos(range?.[0] ?? 0);
      problems.push({
        file,
        line,
        column: col,
        rule: 'aliases',
        message: `the alias *${source} stands for something written elsewhere, and no aliases are read in this file`,
        fix: 'Write out what it stands for.',
      });
      return yaml.visit.BREAK;
    },
  });
  return problems;
}

function placesIn(
  document: Document.Parsed,
  lines: LineCounter,
  yaml: typeof import('yaml'),
): Pick<YamlFile, 'placeOf' | 'placeOfKey' | 'sourceOf'> {
  const nodeAt = (path: KeyPath): Node | null => {
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
      if (yaml.isNode(node) && node.range) return node;
    }
    return null;
  };
  const place = (node: unknown): Place => {
    if (!yaml.isNode(node) || !node.range) return { line: 1, column: 1 };
    const { line, col } = lines.linePos(node.range[0]);
    return { line, column: col };
  };
  return {
    placeOf: (path) => place(nodeAt(path)),
    placeOfKey(path, key) {
      const map = nodeAt(path);
      const pair = yaml.isMap(map)
        ? map.items.find((item) => yaml.isScalar(item.key) && item.key.value === key)
        : undefined;
      return place(pair?.key ?? map);
    },
    sourceOf(path) {
      const node = document.getIn(path, true);
      return yaml.isScalar(node) ? node.source : undefined;
    },
  };
}

function syntaxProblem(
  file: string,
  text: string,
  lines: LineCounter,
  { code, pos, message }: YAMLError,
): Problem {
  const { line, col } = lines.linePos(pos[0]);
  const at = { file, line, column: col };
  if (code === 'DUPLICATE_KEY') {
    const key = /^[^\s:]*/.exec(text.slice(pos[0]))?.[0];
    return {
      ...at,
      rule: 'duplicate-key',
      message: `the key '${key}' stands here a second time`,
      fix: 'Keep one of the two.',
    };
  }
  if (code === 'MULTIPLE_DOCS') {
    return {
      ...at,
      rule: 'one-document',
      message: 'a second document begins here',
      fix: 'Leave out what follows the ---.',
    };
  }
  return { ...at, rule: 'yaml', message: `not valid YAML: ${message}`, fix: 'Fix the YAML at this place.' };
}

function failed(file: string, rule: string, message: string, fix: string): YamlFile {
  const place = { line: 1, column: 1 };
  return {
    file,
    text: '',
    value: undefined,
    problems: [{ file, ...place, rule, message, fix }],
    placeOf: () => place,
    placeOfKey: () => place,
    sourceOf: () => undefined,
  };
}
