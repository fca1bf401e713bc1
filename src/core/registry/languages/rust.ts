import { join } from 'node:path';
import type { Recipe } from './recipe.ts';

/** Rust: a package in the tool's folder whose program is called `cli`. */
export const rust: Recipe = {
  title: 'Rust',
  toolchain: 'cargo',
  // The caller's own target folder would put the program where the tool is not.
  build: ['cargo', 'build', '--quiet', '--release', '--target-dir', 'target'],
  built: join('target', 'release', 'cli'),
  isSource: (name) => /\.rs$|^Cargo\.(toml|lock)$/.test(name),
  install: 'Install Rust, for example with: apt-get install cargo, or from https://rustup.rs/',
};
