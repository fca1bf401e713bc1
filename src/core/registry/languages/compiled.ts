import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import { findProgram, isProgram } from '../find-program.ts';
import { go } from './go.ts';
import type { RuntimeContext } from './language.ts';
import type { Recipe } from './recipe.ts';
import { rust } from './rust.ts';

/** Folders without sources of the tool itself, or with too many files to check. */
const NO_SOURCES = new Set(['bin', 'target', 'vendor', 'node_modules']);
const MAX_DEPTH = 8;

const RECIPES: Readonly<Record<string, Recipe>> = { go, rust };

/** How to build a language; undefined for a language without a build step. */
export function recipeOf(language: string): Recipe | undefined {
  return RECIPES[language];
}

/** The program that runs instead of the entry, whether it exists or not; undefined when the entry itself runs. */
export function builtPathOf({ language, dir }: { language: string; dir: string }): string | undefined {
  const recipe = recipeOf(language);
  return recipe && join(dir, recipe.built);
}

/** The exact command that builds a tool. */
export function buildCommand(recipe: Recipe, toolDir: string): string {
  return `(cd ${shellCommand([toolDir])} && ${shellCommand(recipe.build)})`;
}

/**
 * The built program of a tool. A build executes code from the sources without a sandbox, so a run never builds. Throws
 * E_RUNTIME_MISSING with the build command when the program is missing or older than its sources.
 */
export function builtProgram(language: string, { tool, toolDir, env }: RuntimeContext): string {
  const recipe = recipeOf(language)!;
  const built = join(toolDir, recipe.built);
  const isThere = isProgram(built);
  const newer = isThere ? newerSource(recipe, toolDir, statSync(built).mtimeMs) : undefined;
  if (isThere && newer === undefined) return built;
  const what =
    newer === undefined
      ? `is written in ${recipe.title} and has not been built`
      : `was built before ${relative(toolDir, newer)} was changed`;
  const command = buildCommand(recipe, toolDir);
  const hasToolchain = findProgram(recipe.toolchain, env) !== undefined;
  throw new AcorError(
    'E_RUNTIME_MISSING',
    `tool '${tool}' ${what}${hasToolchain ? '' : `, and ${recipe.toolchain} is not on the PATH`}`,
    {
      hint: hasToolchain ? `Build it: ${command}` : `${recipe.install}. Then build it: ${command}`,
      details: { runtime: hasToolchain ? recipe.built : recipe.toolchain },
      next: [{ command, why: 'Build the tool.' }],
    },
  );
}

function newerSource(recipe: Recipe, folder: string, builtMs: number, depth = 0): string | undefined {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (depth === MAX_DEPTH || entry.name.startsWith('.') || NO_SOURCES.has(entry.name)) continue;
      const found = newerSource(recipe, path, builtMs, depth + 1);
      if (found !== undefined) return found;
    } else if (recipe.isSource(entry.name)) {
      if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > builtMs) return path;
    }
  }
  return undefined;
}
