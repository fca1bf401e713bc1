import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { type Finding, finding } from './finding.ts';
import type { RuleId } from './rules.ts';
import { SOURCE_RULES, type SourceLanguage, type SourceRule } from './source-rules.ts';

const BY_EXTENSION: Readonly<Record<string, SourceLanguage>> = {
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.js': 'typescript',
  '.mjs': 'typescript',
  '.cjs': 'typescript',
  '.py': 'python',
  '.go': 'go',
  '.rs': 'rust',
};
const NOT_SOURCES =
  /^(?:node_modules|dist|build|target|vendor|venv|\..*|__pycache__|tests?|examples?|fixtures|docs)$/;
const TESTS = /(?:\.test|\.spec|_test|test_[^/]*)\.[a-z]+$|\.d\.ts$/;
const MAX_FILES = 500;
const MAX_BYTES = 1_048_576;

/** A line of a source, with the rule that it breaks. */
interface Hit {
  file: string;
  line: number;
  text: string;
}

/** The rules that reading judges, with their findings. */
export type SourceVerdicts = ReadonlyMap<RuleId, Finding[]>;

/** The language of a source file; undefined when the audit does not read it. */
export function sourceLanguageOf(file: string): SourceLanguage | undefined {
  return BY_EXTENSION[extname(file)];
}

/** Reads the sources of a folder, or one file, and judges their lines. Undefined when there are none. */
export function readSources(path: string): SourceVerdicts | undefined {
  const root = statSync(path).isDirectory() ? path : join(path, '..');
  const files = (statSync(path).isDirectory() ? sourcesIn(path) : [path])
    .map((file) => ({ file, language: sourceLanguageOf(file) }))
    .filter(({ file, language }) => language !== undefined && statSync(file).size <= MAX_BYTES)
    .map(({ file, language }) => ({
      name: relative(root, file),
      language: language!,
      text: readFileSync(file, 'utf8'),
    }));
  if (files.length === 0) return undefined;
  const verdicts = new Map<RuleId, Finding[]>();
  for (const row of SOURCE_RULES) {
    const hits = files.flatMap((file) => hitsOf(row, file));
    const earlier = verdicts.get(row.rule) ?? [];
    verdicts.set(row.rule, hits.length === 0 ? earlier : [...earlier, foundIn(row, hits)]);
  }
  return verdicts;
}

function sourcesIn(folder: string): string[] {
  const files: string[] = [];
  const pending = [folder];
  for (let next = pending.shift(); next !== undefined && files.length < MAX_FILES; next = pending.shift()) {
    for (const entry of readdirSync(next, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const path = join(next, entry.name);
      if (entry.isDirectory() && !NOT_SOURCES.test(entry.name)) pending.push(path);
      else if (entry.isFile() && sourceLanguageOf(path) !== undefined && !TESTS.test(entry.name))
        files.push(path);
    }
  }
  return files.slice(0, MAX_FILES);
}

function hitsOf(
  { lines, unless }: SourceRule,
  file: { name: string; language: SourceLanguage; text: string },
): Hit[] {
  const pattern = lines[file.language];
  if (pattern === undefined || unless?.test(file.text) === true) return [];
  return file.text.split('\n').flatMap((text, at) => {
    const isComment = /^\s*(?:\/\/|#|\*|\/\*)/.test(text);
    return !isComment && pattern.test(text) ? [{ file: file.name, line: at + 1, text: text.trim() }] : [];
  });
}

function foundIn({ rule, severity, message, fix }: SourceRule, hits: readonly Hit[]): Finding {
  const [first] = hits;
  const more = hits.length > 1 ? ` and ${hits.length - 1} more` : '';
  return finding({
    rule,
    severity,
    message: `the source ${message}: ${first!.file}:${first!.line}${more}`,
    commands: [...new Set(hits.map(({ file }) => file))],
    evidence: hits.map(({ file, line, text }) => ({
      command: `${file}:${line}`,
      stream: 'source',
      bytes: text.slice(0, 200),
    })),
    fix,
  });
}
