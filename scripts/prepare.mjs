// `prepare` of npm: builds what the package needs when npm packs this folder, or installs it from a Git repository.
// In a checkout `npm install` and `npm ci` run this file as well; `./acor` builds there on first use.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isPacked = ['pack', 'publish'].includes(process.env.npm_command ?? '');
const caller = relative(root, process.env.INIT_CWD ?? root);
// npm prepares a package from Git in a folder of its own, for a caller elsewhere.
if (isPacked || caller.startsWith('..')) build();

function build() {
  for (const folder of ['lib', 'types']) rmSync(join(root, 'dist', folder), { recursive: true, force: true });
  step('sh', 'scripts/build-lib.sh', 'dist/lib');
  step('node_modules/.bin/bun', '--no-env-file', 'scripts/write-types.ts', 'dist/types');
}

/** npm takes what this file prints on stdout for its own output. */
function step(program, ...args) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
}
