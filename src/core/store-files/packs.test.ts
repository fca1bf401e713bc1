import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import { commandOf } from '../../operations/command-forms.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { verifyOne, verifyStore } from '../audit/verify.ts';
import type { NewRun } from '../ports/run-store.ts';
import { readEvents } from '../run/read-log.ts';
import { withPacks } from './change-packs.ts';
import { FileRunStore } from './file-run-store.ts';
import { Ledger } from './ledger.ts';
import { forgetMissingRuns, missingRuns } from './missing-runs.ts';
import { packRuns, selectPackable } from './pack-runs.ts';
import { FRAME_BYTES } from './pack-table.ts';
import { bytesOf } from './readable-file.ts';
import { removeRuns } from './retention.ts';

const BIG = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index) % 251));

async function removed(store: FileRunStore, runIds: readonly string[]): Promise<string[]> {
  return (await removeRuns(store, runIds)).removed;
}

describe('packed runs', () => {
  let root: string;
  let store: FileRunStore;
  const open = () => new FileRunStore(root, commandOf);
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-packs-'));
    store = open();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** A run that has ended, with these files in its folder. */
  async function endedRun(
    files: Record<string, string | Buffer> = {},
    change: Partial<NewRun> = {},
  ): Promise<string> {
    const writer = await store.create({ ...newRun(), ...change });
    const { run_id } = writer.record;
    writer.log.append({ type: 'result', data: { of: run_id } });
    await writer.log.flush();
    writer.log.append({ type: 'runner_end', state: 'failed', seal: writer.log.seal(), artifacts: [] });
    await writer.log.sync();
    await writer.enterInLedger({ state: 'failed', code: null });
    await writer.update(
      { state: 'failed', events: 2, ended_at: new Date().toISOString() },
      { durable: true },
    );
    await writer.close();
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(fileOf(run_id, path)), { recursive: true });
      writeFileSync(fileOf(run_id, path), content);
    }
    return run_id;
  }

  const fileOf = (runId: string, path = '') => join(root, runId, path);
  const packs = () => readdirSync(join(root, 'packs')).filter((name) => name.endsWith('.pack'));
  const pack = async () => (await packRuns(store, selectPackable(store, { keep: 0 }))).packed;
  const packPath = () => join(root, 'packs', packs()[0]!);

  async function eventsOf(runId: string): Promise<unknown[]> {
    const events: unknown[] = [];
    for await (const event of readEvents(open(), runId, { since: 0, wait: true })) events.push(event);
    return events;
  }

  async function assertSound(): Promise<void> {
    const { runs, ledger } = await verifyStore(open());
    assert.deepEqual([...runs.flatMap(({ problems }) => problems), ...ledger], []);
  }

  it('come back with every file, folder, mode and time when they are taken over', async () => {
    const runId = await endedRun({ 'work/big.bin': BIG, 'work/empty': '', 'logs/deep/er/x.log': 'x\n' });
    mkdirSync(fileOf(runId, 'work/nothing'));
    chmodSync(fileOf(runId, 'work/nothing'), 0o711);
    chmodSync(fileOf(runId, 'work/empty'), 0o755);
    utimesSync(fileOf(runId, 'work/big.bin'), 1_000_000, 1_000_000);
    const listed = () =>
      readdirSync(fileOf(runId), { recursive: true, encoding: 'utf8' })
        .sort()
        .map((path) => {
          const { mode, size, mtimeMs } = statSync(fileOf(runId, path));
          const isFolder = (mode & 0o170000) === 0o040000;
          return [path, mode, ...(isFolder ? [] : [size, mtimeMs, readFileSync(fileOf(runId, path), 'hex')])];
        });
    const [before, record, events] = [listed(), store.readNow(runId), await eventsOf(runId)];
    assert.deepEqual(await pack(), [runId]);
    assert.equal(existsSync(fileOf(runId)), false);
    assert.deepEqual(open().readNow(runId), record);
    assert.deepEqual(await eventsOf(runId), events);
    await assertSound();
    await withPacks(root, (changes) => changes.unpack(runId));
    assert.deepEqual(listed(), before);
    assert.deepEqual(packs(), []);
    await assertSound();
  });

  it('are read in any part, across the frames of a file', async () => {
    const runId = await endedRun({ 'work/big.bin': BIG });
    await pack();
    // Packs that were written before have this size of frames too.
    assert.equal(FRAME_BYTES, 65_536);
    using file = store.files.open(runId, 'work/big.bin')!;
    assert.equal(file.size, BIG.length);
    for (const [from, bytes] of [
      [0, 10],
      [65_530, 12],
      [60_000, 200_000],
      [299_995, 10],
      [300_000, 10],
    ] as const) {
      const part = Buffer.alloc(bytes);
      const count = file.read(part, from);
      assert.deepEqual(part.subarray(0, count), BIG.subarray(from, from + bytes));
    }
  });

  it('are found among many, and a second packing finds nothing to do', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) ids.push(await endedRun());
    assert.deepEqual((await packRuns(store, ids.slice(0, 25))).packed, ids.slice(0, 25));
    assert.deepEqual(await pack(), ids.slice(25));
    assert.deepEqual(await pack(), []);
    assert.equal(packs().length, 2);
    for (const runId of ids) assert.equal(open().readNow(runId).run_id, runId);
    assert.deepEqual(open().listNow(), [...ids].sort());
    await assert.rejects(open().read('r-0000000000000000'), { code: 'E_RUN_NOT_FOUND' });
    await assert.rejects(open().read(`${ids[3]}0`), { code: 'E_RUN_NOT_FOUND' });
    assert.equal(statSync(packPath()).mode & 0o777, 0o600);
  });

  it('stay folders when a pack could not restore all of them, and when they have not ended', async () => {
    const linked = await endedRun();
    symlinkSync('/etc', fileOf(linked, 'work'));
    const closed = await endedRun({ 'work/x': 'x' });
    chmodSync(fileOf(closed, 'work'), 0o500);
    const lost = await store.create(newRun());
    await lost.close();
    const plain = await endedRun();
    assert.deepEqual(await pack(), [plain]);
    for (const runId of [linked, closed, lost.record.run_id]) assert.ok(existsSync(fileOf(runId)), runId);
    chmodSync(fileOf(closed, 'work'), 0o700);
  });

  it('are left alone while another process has claimed them', async () => {
    const runId = await endedRun();
    const lease = await store.leases.acquire(runId, 2);
    assert.deepEqual(await pack(), []);
    await lease.release();
    assert.deepEqual(await pack(), [runId]);
  });

  it('count less than a folder with the same id, which is packed again', async () => {
    const [runId, other] = [await endedRun(), await endedRun()];
    cpSync(fileOf(runId), join(root, 'copy'), { recursive: true });
    await pack();
    cpSync(join(root, 'copy'), fileOf(runId), { recursive: true });
    writeFileSync(fileOf(runId, 'newer'), 'newer');
    assert.deepEqual(store.listNow(), [runId, other].sort());
    assert.deepEqual(await pack(), [runId]);
    assert.equal(packs().length, 2);
    using file = open().files.open(runId, 'newer')!;
    assert.equal(bytesOf(file).toString(), 'newer');
    await assertSound();
    await removeRuns(store, [runId]);
    assert.deepEqual(open().listNow(), [other]);
  });

  it('are gone from every reader once they are removed, with their keys and with packs that are empty', async () => {
    const keyed = { key: 'k', call: 'c' };
    const made = await store.createOnce({ ...newRun(), idempotency_key: 'k' }, keyed);
    assert.ok(typeof made !== 'string');
    const { run_id } = made.record;
    await made.update({ state: 'failed' });
    await made.close();
    rmSync(join(root, run_id, 'events.jsonl'));
    const ids = [run_id, await endedRun(), await endedRun()];
    await pack();
    const reader = open();
    assert.equal(await reader.runOfKey(keyed), run_id);
    assert.equal(await reader.createOnce(newRun(), keyed), run_id);
    assert.deepEqual(await removed(store, [run_id]), [run_id]);
    await assert.rejects(reader.read(run_id), { code: 'E_RUN_NOT_FOUND' });
    assert.equal(reader.files.has(run_id), false);
    assert.equal(await reader.runOfKey(keyed), undefined);
    assert.equal(packs().length, 1);
    await assertSound();
    assert.deepEqual((await removed(store, ids)).sort(), ids.slice(1).sort());
    assert.deepEqual(packs(), []);
    await assertSound();
  });

  it('leave nothing behind when a pack cannot be written again without them', async () => {
    const [first, second] = [await endedRun(), await endedRun()];
    await pack();
    const before = readdirSync(join(root, 'packs'));
    const kept = readFileSync(join(root, 'ledger.jsonl'));
    rmSync(join(root, 'ledger.jsonl'));
    mkdirSync(join(root, 'ledger.jsonl'));
    await assert.rejects(withPacks(root, (changes) => changes.remove([first])));
    assert.deepEqual(readdirSync(join(root, 'packs')), before);
    rmSync(join(root, 'ledger.jsonl'), { recursive: true });
    writeFileSync(join(root, 'ledger.jsonl'), kept);
    assert.deepEqual(open().listNow().sort(), [first, second].sort());
    await assertSound();
  });

  it('are taken over with the next epoch, and packed again after their next end', async () => {
    const [runId, other] = [await endedRun({ 'work/x': 'x' }), await endedRun()];
    await pack();
    const writer = await open().takeOver(runId);
    assert.equal(writer.epoch, 2);
    assert.equal(writer.log.events, 2);
    assert.equal(readFileSync(fileOf(runId, 'work/x'), 'utf8'), 'x');
    writer.log.append({ type: 'log', msg: 'more' });
    await writer.log.flush();
    writer.log.append({ type: 'runner_end', state: 'failed', seal: writer.log.seal(), artifacts: [] });
    await writer.log.sync();
    await writer.enterInLedger({ state: 'failed', code: null });
    await writer.update({ state: 'failed' }, { durable: true });
    await writer.close();
    assert.deepEqual(await pack(), [runId]);
    assert.equal((await eventsOf(runId)).length, 4);
    assert.equal((await eventsOf(other)).length, 2);
    await assertSound();
  });

  it('that are steps of a workflow come back with it, at any depth', async () => {
    const flow = await endedRun({}, { kind: 'workflow' });
    const under = (run_id: string): Partial<RunRecord> => ({ parent: { run_id, task_id: 't' } });
    const inner = await endedRun({}, { kind: 'workflow', ...under(flow) });
    const step = await endedRun({ 'artifacts/said.txt': 'said' }, under(inner));
    const other = await endedRun({ [`work/${flow}`]: '' });
    await pack();
    await (await open().takeOver(flow)).close();
    assert.equal(readFileSync(fileOf(step, 'artifacts/said.txt'), 'utf8'), 'said');
    assert.deepEqual([existsSync(fileOf(inner)), existsSync(fileOf(other))], [true, false]);
  });

  it('do not change a verified ledger when it is compacted', async () => {
    const small = new Ledger(root, { segmentBytes: 1000 });
    for (let i = 0; i < 6; i++) await endedRun();
    await pack();
    for (let i = 0; i < 6; i++) await small.append({ type: 'cleaned', run_id: `r-gone${i}` });
    const { compactLedger } = await import('./compact-ledger.ts');
    await compactLedger(small, { isThere: (runId) => store.files.has(runId), isSound: () => true });
    await assertSound();
  });

  describe('in a pack that was damaged', () => {
    const flip = (path: string, at: number) => {
      const bytes = readFileSync(path);
      bytes[at < 0 ? bytes.length + at : at]! ^= 1;
      writeFileSync(path, bytes);
    };

    it('in the content of one run, leave the others readable and removable', async () => {
      const [first, second] = [await endedRun(), await endedRun()];
      await pack();
      flip(packPath(), 60);
      const bad = [first, second].sort()[0]!;
      const good = [first, second].sort()[1]!;
      const path = packPath();
      await assert.rejects(
        async () => [open().readNow(bad), await eventsOf(bad)],
        (error: { code: string; message: string; details: object }) => {
          assert.equal(error.code, 'E_INTEGRITY');
          assert.ok(error.message.includes(path) && error.message.includes(bad));
          assert.deepEqual(error.details, { run: bad, pack: path });
          return true;
        },
      );
      assert.equal((await eventsOf(good)).length, 2);
      const { runs, counts } = await verifyStore(open());
      assert.deepEqual([counts.runs, runs.map(({ run_id, ok }) => [run_id, ok])], [2, [[bad, false]]]);
      await assert.rejects(open().takeOver(bad), { code: 'E_INTEGRITY' });
      assert.deepEqual(await removed(store, [good]), [good]);
      assert.deepEqual(open().listNow(), [bad]);
    });

    for (const [what, at] of [
      ['in its table', -200],
      ['in its footer', -1],
    ] as const)
      it(`${what}, are named with the pack; other packs stay readable and nothing is deleted`, async () => {
        const ids = [await endedRun(), await endedRun()].sort();
        await pack();
        const others = [await endedRun(), await endedRun()];
        await pack();
        const [damaged] = packs().sort();
        flip(join(root, 'packs', damaged!), at);
        for (const runId of ids) {
          await assert.rejects(open().read(runId), { code: 'E_INTEGRITY', message: new RegExp(damaged!) });
          assert.equal(open().files.has(runId), true);
        }
        for (const runId of others) assert.equal((await eventsOf(runId)).length, 2);
        const { runs, ledger, counts } = await verifyStore(open());
        assert.deepEqual([counts.runs, runs], [2, []]);
        assert.ok(ledger.some(({ path }) => path.endsWith(damaged!)));
        for (const runId of ids) assert.ok(ledger.some(({ run_id }) => run_id === runId));
        assert.equal((await verifyOne(open(), others[0]!)).runs[0]!.ok, true);
        await removeRuns(store, open().listNow());
        assert.deepEqual(packs(), [damaged]);
      });

    it('by a program that fits all hashes, are reported by the ledger', async () => {
      const runId = await endedRun({ 'work/x': 'true' });
      await pack();
      const copy = mkdtempSync(join(tmpdir(), 'acor-packs-'));
      const forger = new FileRunStore(copy, commandOf);
      cpSync(join(root, 'packs'), join(copy, 'packs'), { recursive: true });
      await withPacks(copy, (changes) => changes.unpack(runId));
      writeFileSync(join(copy, runId, 'work/x'), 'false');
      await packRuns(forger, [runId]);
      cpSync(join(copy, 'packs'), join(root, 'packs'), { recursive: true });
      rmSync(copy, { recursive: true });
      const { ledger } = await verifyStore(open());
      assert.match(ledger[0]!.problem, /not one that was entered in the ledger/);
    });
  });
});

describe('a run whose files another program removed', () => {
  it('is missing until it is forgotten, and stays so', async () => {
    const root = mkdtempSync(join(tmpdir(), 'acor-missing-'));
    try {
      const store = new FileRunStore(root, commandOf);
      const runIds: string[] = [];
      for (let run = 0; run < 3; run++) {
        const writer = await store.create(newRun());
        writer.log.append({ type: 'runner_end', state: 'failed', seal: writer.log.seal(), artifacts: [] });
        await writer.log.sync();
        await writer.enterInLedger({ state: 'failed', code: null });
        await writer.update({ state: 'failed' }, { durable: true });
        await writer.close();
        runIds.push(writer.record.run_id);
      }
      assert.deepEqual(missingRuns(store), []);
      const gone = runIds.slice(1).sort();
      for (const runId of gone) rmSync(join(root, runId), { recursive: true });
      assert.deepEqual(missingRuns(store), gone);
      assert.deepEqual(missingRuns(store, [runIds[0]!, gone[0]!]), [gone[0]]);
      assert.deepEqual(await forgetMissingRuns(store), gone);
      assert.deepEqual(missingRuns(new FileRunStore(root, commandOf)), []);
      assert.deepEqual(await forgetMissingRuns(store), []);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});

describe('a run that is removed', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-removed-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  const keyed = { key: 'nightly', call: 'tool and arguments' };

  /** A run that has ended as failed, and its key. */
  async function endedKeyed(store: FileRunStore): Promise<string> {
    const writer = await store.createOnce({ ...newRun(), idempotency_key: keyed.key }, keyed);
    assert.ok(typeof writer !== 'string');
    await writer.update({ state: 'failed', ended_at: new Date().toISOString() }, { durable: true });
    await writer.close();
    return writer.record.run_id;
  }

  it('takes no key and no folder of the run that claims its key meanwhile', async () => {
    let later = '';
    /** Another process claims the key in the moment before it is released. */
    class Interrupted extends FileRunStore {
      override async forgetKeys(runs: Parameters<FileRunStore['forgetKeys']>[0]): Promise<void> {
        later = await endedKeyed(new FileRunStore(root, commandOf));
        await super.forgetKeys(runs);
      }
    }
    const store = new Interrupted(root, commandOf);
    const first = await endedKeyed(store);
    assert.deepEqual(await removed(store, [first]), [first]);
    assert.notEqual(later, first);
    assert.equal(await store.runOfKey(keyed), later);
    assert.equal((await store.read(later)).state, 'failed');
    // A second cleaner that had selected the removed run as well.
    assert.deepEqual(await removed(new FileRunStore(root, commandOf), [first]), []);
    assert.equal(await store.runOfKey(keyed), later);
    assert.deepEqual(store.listNow(), [later]);
  });

  it('frees its key, also when it was packed', async () => {
    const store = new FileRunStore(root, commandOf);
    const first = await endedKeyed(store);
    assert.deepEqual((await packRuns(store, [first])).packed, [first]);
    assert.deepEqual(readdirSync(join(root, 'keys')).sort(), ['packed', 'secret']);
    assert.equal(await store.runOfKey(keyed), first);
    assert.deepEqual(await removed(store, [first]), [first]);
    assert.deepEqual(readdirSync(join(root, 'keys', 'packed')), []);
    assert.equal(await store.runOfKey(keyed), undefined);
  });
});
