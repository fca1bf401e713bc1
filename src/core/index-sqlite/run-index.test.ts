import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runIndexContract } from '../../../test/contracts/run-index.ts';
import type { IndexedRun, RunSource } from '../ports/run-index.ts';
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

const LIVE: IndexedRun = {
  run_id: 'r-0123456789abcdef',
  tool: 'works',
  kind: 'tool',
  state: 'running',
  code: null,
  message: null,
  attempt: 1,
  caller: null,
  parent: null,
  created_at: '2026-01-01T00:00:00.000Z',
  ended_at: null,
  duration_s: null,
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
  it('is brought up to date once for calls that are made at once, and again for each later one', async () => {
    let updates = 0;
    const index = await openRunIndex(makeFolder(), {
      ...EMPTY,
      async changesAfter(...args) {
        updates++;
        return EMPTY.changesAfter(...args);
      },
    });
    await index.missing();
    const before = updates;
    const answers = await Promise.all([index.query({}), index.missing(), index.unended()]);
    assert.deepEqual(answers, [{ runs: [], total: 0 }, [], []]);
    assert.equal(updates - before, 1);
    await index.missing();
    assert.equal(updates - before, 2);
    index.close();
  });

  it('is brought up to date by the next call when the source had failed for the one before', async () => {
    let fails = false;
    const index = await openRunIndex(makeFolder(), {
      ...EMPTY,
      async changesAfter(...args) {
        if (fails) throw new Error('the source failed');
        return EMPTY.changesAfter(...args);
      },
    });
    await index.missing();
    fails = true;
    const [failed, next] = [index.query({}), index.query({})];
    await assert.rejects(failed, /the source failed/);
    await assert.rejects(next, /the source failed/);
    fails = false;
    assert.equal((await index.query({})).total, 0);
    index.close();
  });

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

  it('is made again by each process that has it open when its file or its folder is removed', async () => {
    const root = join(makeFolder(), '.runs');
    mkdirSync(root);
    let position = 0;
    const source: RunSource = {
      ...EMPTY,
      position: async () => String(position),
      changesAfter: async () => ({ runIds: [], removed: [], position: String(position) }),
    };
    const indexes = [await openRunIndex(root, source), await openRunIndex(root, source)];
    const query = async () => {
      for (const index of indexes) {
        position++;
        assert.deepEqual(await index.query({}), { runs: [], total: 0 });
      }
    };
    await query();
    const file = join(root, 'index.sqlite');
    rmSync(file);
    await query();
    const { ino } = statSync(file);
    await query();
    // Each has opened the same file.
    assert.equal(statSync(file).ino, ino);
    rmSync(root, { recursive: true });
    await query();
    assert.deepEqual(
      indexes.map(({ warning }) => warning),
      [undefined, undefined],
    );
    for (const index of indexes) index.close();
  });

  it('is not written by queries while the live runs stay as they are', async () => {
    const run = { ...LIVE };
    const source: RunSource = {
      ...EMPTY,
      list: async () => [run.run_id],
      unended: async () => [run.run_id],
      read: async () => ({
        run,
        text: run.tool,
        mayHaveAsked: true,
        cpu_s: null,
        cost_usd: null,
        cost: null,
      }),
    };
    const index = await openRunIndex(makeFolder(), source);
    const writes = async () => {
      const { runs } = await index.query({});
      return [runs[0]!.message, statSync(join(folders.at(-1)!, 'index.sqlite')).mtimeMs] as const;
    };
    const [, first] = await writes();
    assert.deepEqual(await writes(), [null, first]);
    // The control: what has changed is written.
    run.message = 'something new';
    const [message, later] = await writes();
    assert.equal(message, 'something new');
    assert.notEqual(later, first);
    index.close();
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
