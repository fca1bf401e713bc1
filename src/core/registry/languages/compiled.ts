import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import { findProgram, isProgram } from '../find-program.ts';
import type { RuntimeContext } from './language.ts';

/** Folders without sources of the tool itself, or with too many files to check. */
const NO_SOURCES = new Set(['bin', 'target', 'vendor', 'node_modules']);
const MAX_DEPTH = 8;

/** The build step of a compiled language. The author builds; a run never does. */
interface Recipe {
  /** The name of the language in messages. */
  title: string;
  toolchain: string;
  /** Run in the tool's folder. */
  build: readonly [string, ...string[]];
  /** The built program, relative to the tool's folder. */
  built: string;
  /** Matches a source file by its base name. */
  isSource(name: string): boolean;
  install: string;
}

const RECIPES: Readonly<Record<string, Recipe>> = {
  /** Go: a module in the tool's folder, built into `bin/cli`. */
  go: {
    title: 'Go',
    toolchain: 'go',
    // Without -buildvcs=false, a repository that Git distrusts would fail the build.
    build: ['go', 'build', '-buildvcs=false', '-o', 'bin/cli', '.'],
    built: join('bin', 'cli'),
    isSource: (name) => /\.go$|^go\.(mod|sum|work)$/.test(name),
    install:
      'Install Go, for example with: apt-get install golang-go, brew install go, or from https://go.dev/dl/',
  },
  /** Rust: a package in the tool's folder whose binary is named `cli`. */
  rust: {
    title: 'Rust',
    toolchain: 'cargo',
    // Override the caller's target folder: the binary must be in the tool's folder.
    build: ['cargo', 'build', '--quiet', '--release', '--target-dir', 'target'],
    built: join('target', 'release', 'cli'),
    isSource: (name) => /\.rs$|^Cargo\.(toml|lock)$/.test(name),
    install: 'Install Rust, for example with: apt-get install cargo, or from https://rustup.rs/',
  },
};

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
