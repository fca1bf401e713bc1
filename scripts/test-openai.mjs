// Tests the executor `responses` with the real package `openai`, which is too large to be installed for every test: it comes into a
// folder of its own, and goes with it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGE = 'openai@7.55.0';
const root = join(import.meta.dirname, '..');
const folder = process.env.ACOR_TEST_OPENAI ?? mkdtempSync(join(tmpdir(), 'acor-openai-'));

try {
  if (process.env.ACOR_TEST_OPENAI === undefined) {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', PACKAGE], folder);
  }
  run(
    join(root, 'node_modules', '.bin', 'bun'),
    ['test', '--timeout', '120000', 'test/optional/responses.test.ts'],
    root,
  );
} finally {
  if (process.env.ACOR_TEST_OPENAI === undefined) rmSync(folder, { recursive: true, force: true });
}

function run(program, args, cwd) {
  const { status } = spawnSync(program, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ACOR_TEST_OPENAI: folder },
  });
  if (status !== 0) process.exitCode = 1;
}
