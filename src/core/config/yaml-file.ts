import { readFileSync, realpathSync, statSync } from 'node:fs';
import type { Document, LineCounter, Node, YAMLError } from 'yaml';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { isInside } from '../../util/real-path.ts';
import { readPlainYaml } from './plain-yaml.ts';
import type { Problem } from './problem.ts';

/** Larger files are refused before they are read: no hand-written manifest or configuration is this large. */
export const MAX_YAML_BYTES = 256 * 1024;

/** Aliases count as what they expand to, so that a few lines cannot expand to gigabytes. */
const MAX_ALIAS_COUNT = 50;

const MAX_SYNTAX_PROBLEMS = 20;

/** A path into a YAML file: keys and indexes. */
export type KeyPath = readonly (string | number)[];

export interface Place {
  line: number;
  column: number;
}

/** A YAML file as plain values, with their places. */
export interface YamlFile {
  file: string;
  /** The decoded text; empty when it could not be read. */
  text: string;
  value: unknown;
  problems: Problem[];
  /** The place of a value, or of its parent when the value does not exist. */
  placeOf(path: KeyPath): Place;
  placeOfKey(path: KeyPath, key: string): Place;
  /** A scalar as written, before YAML converts it to a number or another type. */
  sourceOf(path: KeyPath): string | undefined;
}

const FIRST_PLACE: Place = { line: 1, column: 1 };
const NO_PLACES: Pick<YamlFile, 'placeOf' | 'placeOfKey' | 'sourceOf'> = {
  placeOf: () => FIRST_PLACE,
  placeOfKey: () => FIRST_PLACE,
  sourceOf: () => undefined,
};

/** Options for reading a file. */
interface ReadOptions {
  /** Without it, aliases are rejected: a file that grants permissions must spell out each one. */
  aliases?: boolean;
  maxBytes?: number;
  /** Reads most manifests faster. Without problems only: every place is the first line then. */
  withoutPlaces?: boolean;
  /** The project: a link that leads out of it is refused, because problems quote what they are about. */
  within?: string | undefined;
}

/** Reads a file of limited size. Errors become problems, not exceptions. */
export async function readYamlFile(
  file: string,
  { aliases = true, maxBytes = MAX_YAML_BYTES, withoutPlaces = false, within }: ReadOptions = {},
): Promise<YamlFile> {
  try {
    const stats = statSync(file);
    // Reading a FIFO would block for ever.
    if (!stats.isFile()) return failed(file, 'unreadable', 'this is not a file', 'Replace it by a file.');
    if (within !== undefined && !isInside(realpathSync(file), realpathSync(within)))
      return failed(
        file,
        'link-outside',
        'a link leads this file out of the project',
        'Replace it by a file. Settings for several projects belong in your own configuration, ~/.config/acor/config.yaml.',
      );
    const { size } = stats;
    if (size > maxBytes) {
      return failed(
        file,
        'size',
        `the file has ${size} bytes; at most ${maxBytes} are allowed`,
        'Make it smaller.',
      );
    }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    const plain = withoutPlaces ? readPlainYaml(text) : undefined;
    if (plain !== undefined) return { file, text, value: plain, problems: [], ...NO_PLACES };
    return await parseYaml(file, text, { aliases });
  } catch (error) {
    if (error instanceof TypeError && errorCode(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return notText(file);
    const why = errorCode(error) ?? errorMessage(error);
    return failed(
      file,
      'unreadable',
      `the file cannot be read (${why})`,
      'Check that it is a file and that you have permission to read it.',
    );
  }
}

/** Parses YAML 1.2. Duplicate keys, unknown tags and multiple documents are problems. */
export async function parseYaml(
  file: string,
  text: string,
  options: { aliases: boolean } = { aliases: true },
): Promise<YamlFile> {
  if (text.includes('\0')) return notText(file);
  // Loaded late: it takes longer than a whole start with a valid cache.
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  try {
    const document = yaml.parseDocument(text, {
      lineCounter: lines,
      stringKeys: true,
      prettyErrors: false,
      // Bytes, dates and sets are not JSON, and no key takes them.
      resolveKnownTags: false,
    });
    const mistakes = [...document.errors, ...document.warnings];
    if (mistakes.some(({ message }) => /call stack/i.test(message))) return tooDeep(file);
    const problems = onePerPlace(mistakes).map((mistake) => syntaxProblem(file, text, lines, mistake));
    if (text.includes('*')) problems.push(...wrongAliasIn(document, options, { file, lines, yaml }));
    if (/__proto__|\\/.test(text)) problems.push(...protoKeysIn(document, { file, lines, yaml }));
    const value = problems.length > 0 ? undefined : (document.toJS({ maxAliasCount: MAX_ALIAS_COUNT }) ?? {});
    return { file, text, value, problems, ...placesIn(document, lines, yaml) };
  } catch (error) {
    if (error instanceof ReferenceError) {
      return failed(
        file,
        'aliases',
        'the aliases (*name) of the file expand to too much data',
        'Replace each alias by its value.',
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

/** The first alias that is not allowed: any where there may be none, else one that would contain itself. */
function wrongAliasIn(
  document: Document.Parsed,
  { aliases }: { aliases: boolean },
  { file, lines, yaml }: { file: string; lines: LineCounter; yaml: typeof import('yaml') },
): Problem[] {
  const problems: Problem[] = [];
  yaml.visit(document, {
    Alias(_key, alias, path) {
      const { source, range } = alias;
      const named = aliases ? alias.resolve(document) : undefined;
      if (aliases && (named === undefined || !path.includes(named))) return undefined;
      const { line, col } = lines.linePos(range?.[0] ?? 0);
      problems.push({
        file,
        line,
        column: col,
        rule: 'aliases',
        message: aliases
          ? `the alias *${source} is a part of what it stands for`
          : `the alias *${source} is not allowed: this file must spell out every value`,
        fix: 'Replace the alias by its value.',
      });
      return yaml.visit.BREAK;
    },
  });
  return problems;
}

/** A key that the checks of objects drop, so that nothing would report it. */
function protoKeysIn(
  document: Document.Parsed,
  { file, lines, yaml }: { file: string; lines: LineCounter; yaml: typeof import('yaml') },
): Problem[] {
  const problems: Problem[] = [];
  yaml.visit(document, {
    Pair(_, { key }) {
      if (!yaml.isScalar(key) || key.value !== '__proto__') return;
      const { line, col } = lines.linePos(key.range?.[0] ?? 0);
      problems.push({
        file,
        line,
        column: col,
        rule: 'unknown-key',
        message: "unknown key '__proto__'",
        fix: 'Leave it out.',
      });
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
      message: `the key '${key}' is a duplicate`,
      fix: 'Keep one of the two.',
    };
  }
  if (code === 'MULTIPLE_DOCS') {
    return {
      ...at,
      rule: 'one-document',
      message: 'a second document begins here',
      fix: 'Remove the text after the ---.',
    };
  }
  return { ...at, rule: 'yaml', message: `not valid YAML: ${message}`, fix: 'Fix the YAML at this place.' };
}

function failed(file: string, rule: string, message: string, fix: string): YamlFile {
  const problems = [{ file, ...FIRST_PLACE, rule, message, fix }];
  return { file, text: '', value: undefined, problems, ...NO_PLACES };
}
