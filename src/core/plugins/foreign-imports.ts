import { isBuiltin } from 'node:module';

/** Imports and requires that are written out. Those of types are no more than a word to an editor. */
const IMPORTS = [
  /^[ \t]*(?:import|export)\b(?![ \t]+type\b)[^'"`;]*?\bfrom\s*(["'])([^'"\n]+)\1/gm,
  /^[ \t]*import\s*(["'])([^'"\n]+)\1/gm,
  /\b(?:import|require)\(\s*(["'`])([^'"`\n]+)\1\s*[,)]/g,
];

/** The first package that a module loads by its name: neither a file of its own, nor built in. */
export function foreignImport(code: string): string | undefined {
  const plain = code.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
  for (const pattern of IMPORTS) {
    for (const [, , specifier] of plain.matchAll(pattern)) if (isForeign(specifier!)) return specifier;
  }
  return undefined;
}

function isForeign(specifier: string): boolean {
  return !/^\.{1,2}\//.test(specifier) && !/^bun(?::|$)/.test(specifier) && !isBuiltin(specifier);
}
