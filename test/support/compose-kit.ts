import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ACOR, ROOT } from './project.ts';

const BUN = join(ROOT, 'node_modules', '.bin', 'bun');

/** The staged package `@acor/compose` of this build, made once for all test files: to make it takes seconds. */
export function composeKit(): string {
  const results = join(ROOT, 'test-results');
  const kit = join(results, `compose-kit-${statSync(ACOR).mtimeMs}`);
  if (existsSync(kit)) return kit;
  mkdirSync(results, { recursive: true });
  const made = mkdtempSync(join(results, 'compose-kit-'));
  execFileSync(BUN, [join(ROOT, 'scripts', 'stage-compose.ts'), made], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    renameSync(made, kit);
  } catch (error) {
    // Another test file was faster.
    if (!existsSync(kit)) throw error;
    rmSync(made, { recursive: true });
  }
  return kit;
}
