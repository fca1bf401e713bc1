import { basename } from 'node:path';
import { BUILD_FILES, liesInProtected, SCRIPTS_FILE, scriptsIn } from '../sandbox/profile/protected-names.ts';
import type { KeptRun } from './kept-run.ts';
import { textsOf } from './patch.ts';
import type { PlacedChange } from './placed-change.ts';

export const WAYS_TO_EXECUTE = ['set_id', 'hook_or_settings', 'scripts', 'build', 'executable'] as const;

/**
 * What other programs do with a changed entry after the run. `set_id`: execute it with the rights of its owner. `hook_or_settings`:
 * execute or obey it without being asked (Git hooks, settings of editors and agents, shell start-up files, pipelines). `scripts`: execute
 * what a package.json says. `build`: execute it when a user asks for a build or a test. `executable`: execute it as a program.
 */
export type WayToExecute = (typeof WAYS_TO_EXECUTE)[number];

/** Of submodules and linked worktrees. */
const INNER_GIT =
  /\/\.git\/(?:modules|worktrees)\/(?:.*\/)?(?:config(?:\.worktree)?|commondir|hooks(?:\/.*)?)$/;
/** Configurations that are programs (`vite.config.ts`), and what chooses a program that builds execute. */
const BUILD_CONFIG =
  /\.config\.[cm]?[jt]sx?$|\/\.(?:eslintrc|prettierrc|babelrc)\.[cm]?js$|\/\.cargo\/config(?:\.toml)?$/;

const WORDS: Readonly<Record<WayToExecute, string>> = {
  set_id: 'runs with the rights of its owner',
  hook_or_settings: 'other programs execute or obey it without being asked',
  scripts: 'package managers execute its scripts',
  build: 'builds and tests execute it',
  executable: 'it is a program',
};

/** The way in which a change may be executed later; undefined for one that programs only read. */
export function executedLater(kept: KeptRun, change: PlacedChange): WayToExecute | undefined {
  const { path, after } = change;
  const mode = after?.kind === 'file' ? after.mode : 0;
  if ((mode & 0o6000) !== 0) return 'set_id';
  if (basename(path) === SCRIPTS_FILE) return changesScripts(kept, change) ? 'scripts' : undefined;
  if (liesInProtected(path) || INNER_GIT.test(path)) return 'hook_or_settings';
  if (BUILD_FILES.includes(basename(path)) || BUILD_CONFIG.test(path)) return 'build';
  return (mode & 0o111) === 0 ? undefined : 'executable';
}

/** The warning about one such change. */
export function executedWords(path: string, way: WayToExecute): string {
  return `${path} may be executed later: ${WORDS[way]}`;
}

/** A package.json that cannot be compared counts as changed. */
function changesScripts(kept: KeptRun, change: PlacedChange): boolean {
  const [before, after] = textsOf(kept, change).map((text) => (text === '' ? '{}' : scriptsIn(text ?? '')));
  return before === undefined || after === undefined || before !== after;
}
