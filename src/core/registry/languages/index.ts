import { bash } from './bash.ts';
import { executable } from './executable.ts';
import type { Language } from './language.ts';
import { node } from './node.ts';
import { python } from './python.ts';
import { typescript } from './typescript.ts';

/** The languages, in the order in which they are asked. The last one takes what can be started by itself. */
export const LANGUAGES: readonly Language[] = [
  python,
  bash,
  node,
  typescript,
  compiled('go', '.go'),
  compiled('rust', '.rs'),
  executable,
];

/** These languages and a plugin's: what can be started by itself still comes last. */
export function languagesWith(further: readonly Language[]): readonly Language[] {
  return further.length === 0 ? LANGUAGES : [...LANGUAGES.slice(0, -1), ...further, executable];
}

/** A language whose sources are built first. How, is loaded late: most runs have nothing to do with it. */
function compiled(name: string, extension: string): Language {
  return {
    name,
    extensions: [extension],
    detect: (file) => file.extension === extension,
    runtime: async (context) => (await import('./compiled.ts')).builtProgram(name, context),
    command: (runtime) => ({ argv: [runtime], runtime, env: {} }),
  };
}
