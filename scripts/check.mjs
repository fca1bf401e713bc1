// `npm run check`: whether a change may be committed. Format and lint, types, generated files, retired words, tests (with layers and docs).
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));

if (!existsSync('node_modules/.bin/biome'))
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: 'inherit' });

const checks = [
  // The longest first.
  ['benchmarks', 'node_modules/.bin/bun', ['bench/main.ts', '--once', 'message', 'discovery', 'start-up']],
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
];

/** As many as the machine has cores, in this order; of one that fails the output is shown, and the tests are not started. */
const lanes = Array.from({ length: availableParallelism() }, async () => {
  for (let check = checks.shift(); check !== undefined; check = checks.shift()) await pass(check);
});
await Promise.all(lanes);
if (process.exitCode) process.exit();

// Last: their counts are the last line.
console.log('check: tests');
const { status } = spawnSync('node', ['scripts/test.mjs'], { stdio: ['ignore', 'inherit', 'inherit'] });
if (status !== 0) {
  console.error('check: tests failed');
  process.exitCode = 1;
}

async function pass([name, program, args]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('error', resolve).once('close', resolve)),
  ]);
  console.log(`check: ${name}${status === 0 ? '' : ` failed\n${output}${errors}${status}`}`);
  if (status !== 0) process.exitCode = 1;
}
