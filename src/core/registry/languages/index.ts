import { bash } from './bash.ts';
import { executable } from './executable.ts';
import type { Language } from './language.ts';
import { node } from './node.ts';
import { python } from './python.ts';
import { typescript } from './typescript.ts';

/** The languages in the order of detection. The last one accepts anything executable. */
export const LANGUAGES: readonly Language[] = [
  python,
  bash,
  node,
  typescript,
  compiled('go', '.go'),
  compiled('rust', '.rs'),
  executable,
];

/** The built-in languages and those of plugins; `executable` stays last. */
export function languagesWith(further: readonly Language[]): readonly Language[] {
  return further.length === 0 ? LANGUAGES : [...LANGUAGES.slice(0, -1), ...further, executable];
}

/** A compiled language. Its build step is loaded late, because most runs do not need it. */
function compiled(name: string, extension: string): Language {
  return {
    name,
    extensions: [extension],
    detect: (file) => file.extension === extension,
    runtime: async (context) => (await import('./compiled.ts')).builtProgram(name, context),
    command: (runtime) => ({ argv: [runtime], runtime, env: {} }),
  };
}
