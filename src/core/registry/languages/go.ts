import { join } from 'node:path';
import type { Recipe } from './recipe.ts';

/** Go: a module in the tool's folder, built into `bin/cli`. */
export const go: Recipe = {
  title: 'Go',
  toolchain: 'go',
  // Without -buildvcs=false, a repository that Git distrusts would fail the build.
  build: ['go', 'build', '-buildvcs=false', '-o', 'bin/cli', '.'],
  built: join('bin', 'cli'),
  isSource: (name) => /\.go$|^go\.(mod|sum|work)$/.test(name),
  install:
    'Install Go, for example with: apt-get install golang-go, brew install go, or from https://go.dev/dl/',
};
