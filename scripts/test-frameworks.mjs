// Tests the function tools with the real OpenAI Agents SDK and LangChain.js, which are too large to be installed for every test: they come into
// a folder of their own, and go with it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGES = ['@openai/agents@0.20.0', 'langchain@1.5.14', '@langchain/core@1.4.0'];
const root = join(import.meta.dirname, '..');
const given = process.env.ACOR_TEST_FRAMEWORKS;
const folder = given ?? mkdtempSync(join(tmpdir(), 'acor-frameworks-'));

try {
  if (given === undefined) {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--save-exact', ...PACKAGES],
      folder,
    );
  }
  run(
    join(root, 'node_modules', '.bin', 'bun'),
    ['test', '--timeout', '120000', 'test/optional/frameworks.test.ts'],
    root,
  );
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}

function run(program, args, cwd) {
  const { status } = spawnSync(program, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ACOR_TEST_FRAMEWORKS: folder },
  });
  if (status !== 0) process.exitCode = 1;
}
