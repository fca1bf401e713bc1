import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ownFile } from '../../registry/own-files.ts';

/** The languages of tool templates. Each is a folder in `templates/`. */
export const TEMPLATES = ['python', 'bash', 'node', 'typescript', 'go', 'rust'] as const;

export type TemplateName = (typeof TEMPLATES)[number];

/** The entry file of each template, which identifies a tool that was created from it. */
export const ENTRIES: Readonly<Record<TemplateName, string>> = {
  python: 'cli.py',
  bash: 'cli.sh',
  node: 'cli.mjs',
  typescript: 'cli.ts',
  go: 'cli.go',
  rust: 'src/main.rs',
};

export interface TemplateFile {
  /** Relative to the tool's folder. */
  path: string;
  text: string;
  mode: number;
}

/**
 * The files of a template with its placeholders (words in capitals) replaced. A line whose placeholder is null is
 * dropped.
 */
export function templateFiles(
  template: TemplateName | 'project' | 'agents' | 'workflow',
  words: Readonly<Record<string, string | null>>,
): TemplateFile[] {
  const folder = ownFile('templates', template);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .flatMap((name) => {
      if (!statSync(join(folder, name)).isFile()) return [];
      const text = filledIn(readFileSync(join(folder, name), 'utf8'), words);
      // npm packages drop files with the name .gitignore.
      const path = name === 'gitignore' ? '.gitignore' : name;
      // The compiled program does not keep the modes of the files in it.
      return [{ path, text, mode: text.startsWith('#!') ? 0o755 : 0o644 }];
    });
}

function filledIn(text: string, words: Readonly<Record<string, string | null>>): string {
  let filled = text;
  for (const [word, value] of Object.entries(words)) {
    filled =
      value === null
        ? filled.replace(new RegExp(`^.*\\b${word}\\b.*\\n`, 'gm'), '')
        : filled.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), () => value);
  }
  return filled;
}
