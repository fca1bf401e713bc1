// `npm run check`: whether a change may be committed. Format and lint, types, generated files, retired words, tests (with layers and docs).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));

const checks = [
  ...(existsSync('node_modules/.bin/biome')
    ? []
    : [['install', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']]]),
  ['format and lint', 'node_modules/.bin/biome', ['check', '--error-on-warnings', '.']],
  ['types', 'node_modules/.bin/tsc', ['-p', '.']],
  ['types of the dashboard', 'node_modules/.bin/tsc', ['-p', 'web']],
  ['schemas', 'node_modules/.bin/bun', ['scripts/write-schemas.ts', '--check']],
  ['docs', 'node_modules/.bin/bun', ['scripts/write-docs.ts', '--check']],
  ['plain forms', 'node_modules/.bin/bun', ['scripts/write-plain-forms.ts', '--check']],
  ['operation types', 'node_modules/.bin/bun', ['scripts/write-operation-types.ts', '--check']],
  ['man page', 'node_modules/.bin/bun', ['scripts/write-man.ts', '--check']],
  ['scanner', 'node_modules/.bin/bun', ['scripts/write-wasm.ts', '--check']],
  ['words', 'node_modules/.bin/bun', ['scripts/check-words.ts']],
  ['benchmarks', 'node_modules/.bin/bun', ['bench/main.ts', '--once', 'message', 'discovery', 'start-up']],
  // Last: their counts are the last line.
  ['tests', 'node', ['scripts/test.mjs']],
];

for (const [name, program, args] of checks) {
  console.log(`check: ${name}`);
  const { status } = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) {
    console.error(`check: ${name} failed`);
    process.exit(1);
  }
}
