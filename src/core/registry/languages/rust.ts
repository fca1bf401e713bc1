import { join } from 'node:path';
import type { Recipe } from './recipe.ts';

/** Rust: a package in the tool's folder whose binary is named `cli`. */
export const rust: Recipe = {
  title: 'Rust',
  toolchain: 'cargo',
  // Override the caller's target folder: the binary must be in the tool's folder.
  build: ['cargo', 'build', '--quiet', '--release', '--target-dir', 'target'],
  built: join('target', 'release', 'cli'),
  isSource: (name) => /\.rs$|^Cargo\.(toml|lock)$/.test(name),
  install: 'Install Rust, for example with: apt-get install cargo, or from https://rustup.rs/',
};
