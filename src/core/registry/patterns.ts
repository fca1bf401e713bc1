import { join } from 'node:path';
import { isNoTool } from './tools-folder.ts';
import type { WatchedFiles } from './watched-files.ts';

const MAX_DEPTH = 8;

/** The files below a tools folder that match a configured pattern (`discovery.patterns`), with their languages. */
export function matchPatterns(
  root: string,
  patterns: Readonly<Record<string, readonly string[]>>,
  files: WatchedFiles,
): { path: string; language: string }[] {
  const rules = Object.entries(patterns).flatMap(([language, globs]) =>
    globs.map((glob) => ({ language, match: globPattern(glob) })),
  );
  const found: { path: string; language: string }[] = [];
  const walk = (dir: string, below: string, depth: number): void => {
    for (const entry of files.list(dir) ?? []) {
      if (isNoTool(entry.name)) continue;
      const relative = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) walk(join(dir, entry.name), relative, depth + 1);
        continue;
      }
      const rule = entry.isFile() ? rules.find(({ match }) => match.test(relative)) : undefined;
      if (rule !== undefined) found.push({ path: join(dir, entry.name), language: rule.language });
    }
  };
  if (rules.length > 0) walk(root, '', 0);
  return found;
}

/** `*` and `?` match within a name, `**` across folders, `{a,b}` matches either. */
export function globPattern(glob: string): RegExp {
  return new RegExp(`^${sourceOf(glob)}$`, 'u');
}

function sourceOf(glob: string): string {
  const tokens = glob.match(/\*\*\/|\*\*|\{[^{}]*\}|[\s\S]/gu) ?? [];
  return tokens
    .map(
      (token) =>
        SOURCES[token] ?? (token.length > 1 && token.startsWith('{') ? eitherOf(token) : escaped(token)),
    )
    .join('');
}

const SOURCES: Readonly<Record<string, string>> = {
  '**/': '(?:[^/]+/)*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

function eitherOf(braces: string): string {
  return `(?:${braces.slice(1, -1).split(',').map(sourceOf).join('|')})`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.|+()[\]{}/*?]/g, '\\$&');
}
