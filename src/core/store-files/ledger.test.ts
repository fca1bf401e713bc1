import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openFiles } from '../../../test/support/open-files.ts';
import { Ledger } from './ledger.ts';
import { GENESIS, holdsItsHash, sha256 } from './ledger-line.ts';

describe('the ledger', () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-ledger-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('chains its lines, also when many write at once', async () => {
    const writers = Array.from({ length: 30 }, () => new Ledger(root));
    await Promise.all(writers.map((ledger, i) => ledger.append({ type: 'run', run_id: `r-${i}` })));
    const lines = new Ledger(root).lines();
    assert.equal(lines.length, 30);
    let prev = GENESIS;
    for (const line of lines) {
      assert.equal(JSON.parse(line).prev, prev);
      prev = sha256(line);
    }
    assert.equal(new Set(lines.map((line) => JSON.parse(line).run_id)).size, 30);
  });

  it('closes its file after each use', { skip: process.platform !== 'linux' && 'needs /proc' }, async () => {
    const ledger = new Ledger(root);
    await ledger.append({ type: 'run', run_id: 'r-closed' });
    assert.ok(ledger.lines().length > 0);
    assert.equal(ledger.has('r-closed', 'no such hash'), false);
    assert.deepEqual(
      openFiles().filter((path) => path.startsWith(root)),
      [],
    );
  });

  it('leaves out a torn last line, and writes the next one in its place', async () => {
    const ledger = new Ledger(root);
    const before = ledger.lines();
    appendFileSync(ledger.path, '{"type":"run","run_id":"r-torn');
    assert.deepEqual(ledger.lines(), before);
    await ledger.append({ type: 'run', run_id: 'r-next' });
    assert.equal(ledger.lines().length, before.length + 1);
    assert.equal(JSON.parse(ledger.lines().at(-1)!).prev, sha256(before.at(-1)!));
  });

  it('goes on after a line of any length that it writes, and after a longer torn one', async () => {
    const ledger = new Ledger(mkdtempSync(join(root, 'long-')));
    for (const bytes of [1, 4_000, 4_096, 5_000, 60_000]) {
      await ledger.append({ type: 'run', run_id: 'r-long', tool: 'x'.repeat(bytes) });
      appendFileSync(ledger.path, 'y'.repeat(bytes === 60_000 ? 1 : 5_000));
      await ledger.append({ type: 'run', run_id: 'r-after' });
      const [long, after] = ledger.lines().slice(-2);
      assert.equal(JSON.parse(long!).tool.length, bytes);
      assert.equal(JSON.parse(after!).prev, sha256(long!));
    }
    appendFileSync(ledger.path, 'y'.repeat(70_000));
    await assert.rejects(ledger.append({ type: 'run', run_id: 'r-damaged' }), /no whole line/);
  });

  it('gives each line a hash of its own, so that a change is found in the last one as well', async () => {
    await new Ledger(root).append({ type: 'run', run_id: 'r-last', tool: 'größe' });
    const line = Buffer.from(new Ledger(root).lines().at(-1)!);
    assert.ok(holdsItsHash(line));
    for (let at = 0; at < line.length; at++) {
      const changed = Buffer.from(line);
      changed[at] = changed[at]! ^ 1;
      assert.equal(holdsItsHash(changed), false, `byte ${at}`);
    }
  });

  it('grows on while a full segment cannot be sealed, as on a full disk', async () => {
    const full = mkdtempSync(join(root, 'full-'));
    const ledger = new Ledger(full, { segmentBytes: 300 });
    // Sealed segments would go to another file system, into which no file can be renamed.
    symlinkSync('/proc/self/task', ledger.folder);
    for (let run = 1; run <= 6; run++) await ledger.append({ type: 'run', run_id: `r-${run}` });
    const lines = readFileSync(ledger.path, 'utf8').trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).run_id),
      ['r-1', 'r-2', 'r-3', 'r-4', 'r-5', 'r-6'],
    );
    let prev = GENESIS;
    for (const line of lines) {
      assert.equal(JSON.parse(line).prev, prev);
      prev = sha256(line);
    }
    // Once it can be sealed, it is.
    rmSync(ledger.folder);
    await ledger.append({ type: 'run', run_id: 'r-7' });
    assert.equal(ledger.lines().length, 8);
    assert.deepEqual(readdirSync(ledger.folder), ['00000001.jsonl']);
  });

  it('is not replaced by a new one when its end is beyond repair', async () => {
    const broken = mkdtempSync(join(root, 'broken-'));
    const ledger = new Ledger(broken);
    await ledger.append({ type: 'run', run_id: 'r-1' });
    appendFileSync(ledger.path, Buffer.alloc(70_000));
    await assert.rejects(ledger.append({ type: 'run', run_id: 'r-2' }), { code: 'E_STORAGE' });
    assert.deepEqual(
      ledger.lines().map((line) => JSON.parse(line).run_id),
      ['r-1'],
    );
  });

  it('knows a run by the hash of its log', async () => {
    const ledger = new Ledger(root);
    await ledger.append({ type: 'run', run_id: 'r-known', events_sha256: 'abc' });
    assert.deepEqual(
      [ledger.has('r-known', 'abc'), ledger.has('r-known', 'abd'), ledger.has('r-other', 'abc')],
      [true, false, false],
    );
  });

  it('is not held up by the lock of a process that died', async () => {
    writeFileSync(
      join(root, 'ledger.lock'),
      JSON.stringify({ pid: 2 ** 22 - 1, start_time: 1, boot_id: 'another boot' }),
    );
    await new Ledger(root).append({ type: 'run', run_id: 'r-after' });
    assert.equal(JSON.parse(new Ledger(root).lines().at(-1)!).run_id, 'r-after');
  });
});
