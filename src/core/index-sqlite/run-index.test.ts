import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runIndexContract } from '../../../test/contracts/run-index.ts';
import type { RunSource } from '../ports/run-index.ts';
import { MemoryRunIndex } from '../store-memory/run-index.ts';
import { openRunIndex } from './open-run-index.ts';

const EMPTY: RunSource = {
  position: async () => 'p',
  changesAfter: async () => ({ runIds: [], removed: [], position: 'p' }),
  list: async () => [],
  unended: async () => [],
  existing: async (runIds) => new Set(runIds),
  missing: async () => [],
  read: async () => undefined,
  questions: async () => [],
};

const folders: string[] = [];
const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'acor-index-'));
  folders.push(folder);
  return folder;
};
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

runIndexContract('SQLite', async () => {
  const folder = makeFolder();
  return {
    open: (source) => openRunIndex(folder, source),
    lose: () => rmSync(join(folder, 'index.sqlite')),
  };
});

runIndexContract('memory', async () => ({
  open: async (source) => new MemoryRunIndex(source),
  lose: () => {},
}));

describe('an index in a file', () => {
  let folder: string;
  before(() => {
    folder = makeFolder();
  });

  const path = () => join(folder, 'index.sqlite');

  it('is for its user alone', async () => {
    const index = await openRunIndex(folder, EMPTY);
    await index.query({});
    index.close();
    assert.equal(statSync(path()).mode & 0o777, 0o600);
  });

  for (const [what, damage] of [
    [
      'holds something else',
      () => writeFileSync(path(), 'not a database, but long enough to be taken for one '.repeat(200)),
    ],
    ['was cut', () => truncateSync(path(), Math.floor(statSync(path()).size / 2))],
    [
      'was overwritten in the middle',
      () => {
        const bytes = readFileSync(path());
        writeFileSync(path(), bytes.fill(0xff, 4096));
      },
    ],
  ] as const) {
    it(`is made again when it ${what}, and says so`, async () => {
      const first = await openRunIndex(folder, EMPTY);
      await first.query({});
      first.close();
      damage();
      const index = await openRunIndex(folder, EMPTY);
      assert.deepEqual(await index.query({}), { runs: [], total: 0 });
      assert.match(String(index.warning), /damaged and has been made again/);
      index.close();
      const next = await openRunIndex(folder, EMPTY);
      await next.query({});
      assert.equal(next.warning, undefined);
      next.close();
    });
  }
});
