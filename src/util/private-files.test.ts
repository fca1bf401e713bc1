import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { PrivateFiles } from './private-files.ts';

it('a list of private files has none that is still being written', () => {
  const root = mkdtempSync(join(tmpdir(), 'acor-private-'));
  try {
    const files = new PrivateFiles<{ n: number }>(join(root, 'own'), ({ n }) => n > 0);
    files.write('one.json', { n: 1 });
    // As a process that was killed before its rename leaves it.
    writeFileSync(join(files.folder, 'one.json.1-a-0.tmp'), '{"n":2}', { mode: 0o600 });
    assert.deepEqual(files.list(), [{ n: 1 }]);
    files.write('two.json', { n: -1 });
    assert.deepEqual(files.list(), [{ n: 1 }]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
