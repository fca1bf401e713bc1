/**
 * What other programs run or obey without being asked: hooks, settings of editors and agents, start-up files of shells, pipelines. A tool that
 * may write a folder may change these in it, at any depth, since nothing can be mounted below such a folder. `a/b` is a `b` in an `a`.
 */
export const PROTECTED_FOLDERS: readonly string[] = [
  ...['.git/hooks', '.githooks', '.husky', '.github/workflows', '.github/actions', '.circleci'],
  ...['.claude', '.codex', '.gemini', '.cursor', '.vscode', '.idea', '.devcontainer', '.ssh'],
];

export const PROTECTED_FILES: readonly string[] = [
  ...['.git', '.git/config', '.gitconfig', '.gitmodules', '.pre-commit-config.yaml', '.lefthook.yml'],
  ...['.gitlab-ci.yml', '.travis.yml', 'azure-pipelines.yml', 'Jenkinsfile'],
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.inputrc'],
  ...['.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout', '.envrc', '.vimrc', '.exrc', '.npmrc'],
  ...['.mcp.json', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.cursorrules'],
];

/** Only its `scripts` are run; the rest of it changes with every dependency. */
export const SCRIPTS_FILE = 'package.json';

/** Large, and never run: what Git keeps its history in. */
export const UNWALKED_FOLDERS: readonly string[] = ['.git/objects', '.git/lfs'];
