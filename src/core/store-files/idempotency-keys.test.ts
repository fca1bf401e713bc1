import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { sha256 } from './ledger-line.ts';

const KEYED = { key: 'nightly', call: 'tool and arguments' };

describe('an idempotency key', () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-keys-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('gives the second caller the run that the first one is still creating', async () => {
    const runs = new Set<string>();
    const keys = new IdempotencyKeys(root, (runId) => runs.has(runId));
    const isCreating = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const first = keys.once(KEYED, 'r-first', async () => {
      isCreating.resolve();
      await mayEnd.promise;
      runs.add('r-first');
      return { created: 'r-first' };
    });
    await isCreating.promise;
    // Without the lock the second caller would find a key without a run here, and create a run.
    const second = keys.once(KEYED, 'r-second', async () => {
      runs.add('r-second');
      return { created: 'r-second' };
    });
    mayEnd.resolve();
    assert.deepEqual(await Promise.all([first, second]), [{ created: 'r-first' }, 'r-first']);
    assert.deepEqual([...runs], ['r-first']);
  });

  it('belongs to its packed run until that run is removed, and shares a file with others meanwhile', async () => {
    const folder = mkdtempSync(join(root, 'packed-'));
    const runs = new Set<string>();
    const keys = new IdempotencyKeys(folder, (runId) => runs.has(runId));
    const keyed = Array.from({ length: 600 }, (_, at) => ({ key: `key ${at}`, runId: `r-${at}` }));
    for (const { key, runId } of keyed) {
      await keys.once({ key, call: 'same' }, runId, async () => 'created');
      runs.add(runId);
    }
    const files = () =>
      readdirSync(join(folder, 'keys'), { recursive: true }).filter((name) => name !== 'secret').length;
    assert.equal(files(), 600);
    await keys.pack(keyed);
    assert.ok(files() <= 257, String(files()));
    for (const { key, runId } of keyed) assert.equal(keys.runOf({ key, call: 'same' }), runId);
    assert.throws(() => keys.runOf({ key: 'key 7', call: 'another' }), { code: 'E_USAGE' });
    assert.equal(await keys.once({ key: 'key 8', call: 'same' }, 'r-again', async () => 'created'), 'r-8');

    const [gone, ...kept] = keyed;
    runs.delete(gone!.runId);
    assert.equal(
      await keys.once({ key: gone!.key, call: 'same' }, 'r-new', async () => 'created'),
      'created',
    );
    runs.add('r-new');
    await keys.forget([gone!]);
    await keys.forgetPacked([gone!]);
    assert.equal(keys.runOf({ key: gone!.key, call: 'same' }), 'r-new', 'the key of the later run is kept');
    for (const { key, runId } of kept) assert.equal(keys.runOf({ key, call: 'same' }), runId);
    await keys.forgetPacked(kept);
    assert.deepEqual(readdirSync(join(folder, 'keys', 'packed')), []);
  });

  it('is whole after a process was killed while it wrote packed keys', async () => {
    const folder = mkdtempSync(join(root, 'torn-'));
    const keys = new IdempotencyKeys(folder, () => true);
    for (const at of [1, 2]) await keys.once({ key: `k${at}`, call: 'c' }, `r-${at}`, async () => 'created');
    await keys.pack([{ key: 'k1', runId: 'r-1' }]);
    for (const name of readdirSync(join(folder, 'keys', 'packed')))
      appendFileSync(join(folder, 'keys', 'packed', name), '{"key_sha256":"');
    await keys.pack([{ key: 'k2', runId: 'r-2' }]);
    assert.deepEqual(
      ['k1', 'k2'].map((key) => keys.runOf({ key, call: 'c' })),
      ['r-1', 'r-2'],
    );
  });

  it('stores nothing by which another user or the reader of one file can test guesses of a secret', async () => {
    const folder = mkdtempSync(join(root, 'private-'));
    const keys = new IdempotencyKeys(folder, () => true);
    const call = sha256('["upload","--password=summer"]');
    for (const key of ['packed', 'kept']) await keys.once({ key, call }, `r-${key}`, async () => 'created');
    await keys.pack(['packed', 'gone'].map((key) => ({ key, runId: `r-${key}` })));
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    assert.equal(modeOf(join(folder, 'keys')), 0o700);
    const files = readdirSync(join(folder, 'keys'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    assert.equal(files.length, 3);
    for (const file of files) {
      assert.equal(modeOf(file), 0o600, file);
      assert.ok(!readFileSync(file, 'latin1').includes(call), file);
    }
    for (const key of ['packed', 'kept']) assert.equal(keys.runOf({ key, call }), `r-${key}`);
    assert.throws(() => keys.runOf({ key: 'kept', call: sha256('another') }), { code: 'E_USAGE' });
  });

  it('of an earlier build still returns its run, in a folder that is closed to others from now on', async () => {
    const folder = mkdtempSync(join(root, 'earlier-'));
    const keys = new IdempotencyKeys(folder, () => true);
    mkdirSync(join(folder, 'keys'));
    chmodSync(join(folder, 'keys'), 0o755);
    const file = join(folder, 'keys', `${sha256('nightly')}.json`);
    writeFileSync(file, JSON.stringify({ run_id: 'r-earlier', call: KEYED.call }));
    assert.equal(keys.runOf(KEYED), 'r-earlier');
    assert.equal(await keys.once(KEYED, 'r-new', async () => 'created'), 'r-earlier');
    assert.throws(() => keys.runOf({ ...KEYED, call: 'another' }), { code: 'E_USAGE' });
    assert.equal(statSync(join(folder, 'keys')).mode & 0o777, 0o700);
  });

  it('creates another run when the first one was not created', async () => {
    const keys = new IdempotencyKeys(root, () => false);
    await assert.rejects(
      keys.once(KEYED, 'r-failed', () => Promise.reject(new Error('no space'))),
      /no space/,
    );
    assert.equal(await keys.once(KEYED, 'r-next', async () => 'created'), 'created');
  });
});
