import { basename, dirname } from 'node:path';
import { parseObject } from '../../../util/parse-object.ts';

/**
 * Files that other programs execute or obey without being asked: hooks, settings of editors and agents, shell start-up
 * files, pipelines. A tool that may write a folder can change these in it at any depth, because nothing can be mounted
 * below such a folder. `a/b` is a `b` in an `a`.
 */
export const PROTECTED_FOLDERS: readonly string[] = [
  ...['.git/hooks', '.githooks', '.husky', '.github/workflows', '.github/actions', '.circleci'],
  ...['.claude', '.codex', '.gemini', '.cursor', '.opencode', '.vscode', '.idea', '.devcontainer', '.ssh'],
];

export const PROTECTED_FILES: readonly string[] = [
  ...[
    '.git',
    '.git/config',
    '.git/config.worktree',
    '.git/commondir',
    '.gitconfig',
    '.gitmodules',
    '.pre-commit-config.yaml',
    '.lefthook.yml',
  ],
  ...['.gitlab-ci.yml', '.travis.yml', 'azure-pipelines.yml', 'Jenkinsfile'],
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.inputrc'],
  ...['.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout', '.envrc', '.vimrc', '.exrc', '.npmrc'],
  ...['.mcp.json', 'opencode.json', 'opencode.jsonc', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.cursorrules'],
];

/** Files that other programs execute when a user asks for a build, a test or a task. */
export const BUILD_FILES: readonly string[] = [
  ...[
    'Makefile',
    'makefile',
    'GNUmakefile',
    'justfile',
    'Justfile',
    'Taskfile.yml',
    'Rakefile',
    'Dockerfile',
  ],
  ...['CMakeLists.txt', 'build.gradle', 'build.gradle.kts', 'pom.xml', 'build.rs', 'setup.py', 'conftest.py'],
  ...['noxfile.py', 'tox.ini', 'sitecustomize.py', 'usercustomize.py', 'bunfig.toml', '.pnpmfile.cjs'],
];

/** Only its `scripts` are executed; the rest of the file changes with every dependency. */
export const SCRIPTS_FILE = 'package.json';

/** Git's object store: large, and never executed. */
export const UNWALKED_FOLDERS: readonly string[] = ['.git/objects', '.git/lfs'];

/** Whether a path is a protected file, or inside a protected folder. */
export function liesInProtected(path: string): boolean {
  if (isProtectedFile(path)) return true;
  for (let at = path; at !== dirname(at); at = dirname(at)) if (isNamed(PROTECTED_FOLDERS, at)) return true;
  return false;
}

/** Whether a file of this path would be protected. */
export function isProtectedFile(path: string): boolean {
  // A link or a FIFO with the name of a protected folder counts as well.
  return (
    basename(path) === SCRIPTS_FILE || isNamed(PROTECTED_FILES, path) || isNamed(PROTECTED_FOLDERS, path)
  );
}

/** Whether the last name of a path, or the last two, are among these. */
export function isNamed(names: readonly string[], path: string): boolean {
  const last = basename(path);
  return names.includes(last) || names.includes(`${basename(dirname(path))}/${last}`);
}

/** What a package.json executes, as text; undefined for one that cannot be parsed. */
export function scriptsIn(text: string): string | undefined {
  const content = parseObject(text);
  return content && JSON.stringify(content['scripts'] ?? {});
}
