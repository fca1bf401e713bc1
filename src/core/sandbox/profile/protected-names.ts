/**
 * Files that other programs execute or obey without being asked: hooks, settings of editors and agents, shell start-up
 * files, pipelines. A tool that may write a folder can change these in it at any depth, because nothing can be mounted
 * below such a folder. `a/b` is a `b` in an `a`.
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

/** Only its `scripts` are executed; the rest of the file changes with every dependency. */
export const SCRIPTS_FILE = 'package.json';

/** Git's object store: large, and never executed. */
export const UNWALKED_FOLDERS: readonly string[] = ['.git/objects', '.git/lfs'];
