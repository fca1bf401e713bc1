// Tries all attacks as root and as an ordinary user, and writes the results into docs/sandbox.md. Root only, since it needs both.
// node_modules/.bin/bun scripts/write-attack-table.ts
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Findings, renderTable, tableIn, type Who } from '../test/attacks/attack-table.ts';

const TEST_USER = 'acor-test';
const DOCUMENT = 'docs/sandbox.md';

process.chdir(join(import.meta.dirname, '..'));
const folder = mkdtempSync(join(tmpdir(), 'acor-attacks-'));
chmodSync(folder, 0o777);
try {
  const found = { root: findings('root'), user: findings('user') };
  const backends = Object.keys(found.root['1']!).filter((name) => name !== 'none');
  const document = readFileSync(DOCUMENT, 'utf8');
  writeFileSync(DOCUMENT, tableIn(document).replaced(renderTable(found, backends)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function findings(who: Who): Findings {
  const as = ['setpriv', '--reuid', TEST_USER, '--regid', TEST_USER, '--clear-groups'];
  const test = [process.execPath, 'test', '--timeout', '60000', 'test/attacks'];
  const [program, ...args] = [...(who === 'root' ? [] : as), ...test];
  const env = {
    ...process.env,
    HOME: who === 'root' ? process.env['HOME'] : folder,
    ACOR_ATTACK_FINDINGS: folder,
  };
  // Its own check of the document fails as long as that is not written yet.
  spawnSync(program!, args, { env, stdio: 'inherit' });
  return JSON.parse(readFileSync(join(folder, `${who}.json`), 'utf8')) as Findings;
}
