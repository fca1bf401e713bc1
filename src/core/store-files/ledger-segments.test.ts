import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newRunId } from '../../util/ids.ts';
import { readLedger } from '../audit/read-ledger.ts';
import { compactLedger } from './compact-ledger.ts';
import { Ledger } from './ledger.ts';

const SEGMENT_BYTES = 2_000;

describe('a ledger of several segments', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-segments-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const emptyLedger = () => new Ledger(mkdtempSync(join(folder, 'l-')), { segmentBytes: SEGMENT_BYTES });

  async function filledLedger(runs: number): Promise<{ ledger: Ledger; ids: string[] }> {
    const ledger = emptyLedger();
    const ids = Array.from({ length: runs }, (_, index) => newRunId(Date.now() - runs + index));
    for (const run_id of ids)
      await ledger.append({ type: 'run', run_id, tool: 'quick', events: 5, events_sha256: `of ${run_id}` });
    return { ledger, ids };
  }

  it('seals a full segment, and continues with the hash of its last line', async () => {
    const { ledger, ids } = await filledLedger(40);
    assert.ok(readdirSync(ledger.folder).length >= 3);
    assert.match(readFileSync(ledger.path, 'utf8'), /^\{"type":"segment","segment":\d+,/);
    const chain = readLedger(ledger);
    assert.deepEqual([chain.problems, [...chain.runs.keys()]], [[], ids]);
  });

  it('finds an entry of any segment', async () => {
    const { ledger, ids } = await filledLedger(40);
    for (const id of ids) assert.equal(ledger.has(id, `of ${id}`), true);
    assert.equal(ledger.has(ids[0]!, 'another hash'), false);
  });

  it('reads only the files of a time', async () => {
    const ledger = emptyLedger();
    const lines = Array.from({ length: 40 }, () => newRunId());
    for (const run_id of lines) await ledger.append({ type: 'run', run_id, events: 1, events_sha256: 'x' });
    const later = readLedger(ledger, { timesMs: [Date.now() + 3_600_000] });
    assert.ok(later.runs.size < lines.length);
    assert.ok(later.runs.has(lines.at(-1)!));
    assert.deepEqual(later.problems, []);
    assert.ok(readLedger(ledger, { timesMs: [Date.now()] }).runs.size > later.runs.size);
    for (const runId of lines) assert.ok(readLedger(ledger, { runId }).runs.has(runId));
  });

  it('takes up the chain when it was killed after a segment was sealed', async () => {
    const { ledger, ids } = await filledLedger(10);
    renameSync(ledger.path, join(ledger.folder, `0000000${readdirSync(ledger.folder).length + 1}.jsonl`));
    await ledger.append({ type: 'run', run_id: 'r-next', events: 1, events_sha256: 'x' });
    const chain = readLedger(ledger);
    assert.deepEqual([chain.problems, chain.runs.size], [[], ids.length + 1]);
  });

  it('shows every changed byte of every file, by file and place', async () => {
    const { ledger, ids } = await filledLedger(30);
    for (const run_id of ids.slice(0, 20)) await ledger.append({ type: 'cleaned', run_id });
    await compactLedger(ledger, { isThere: (runId) => ids.indexOf(runId) >= 20, isSound: () => true });
    const files = [ledger.path, ...readdirSync(ledger.folder).map((name) => join(ledger.folder, name))];
    assert.ok(files.some((path) => /-\d{8}\.jsonl$/.test(path)));
    for (const path of files) {
      const kept = readFileSync(path);
      for (let at = 0; at < kept.length; at += 7) {
        const changed = Buffer.from(kept);
        changed[at] = changed[at]! ^ 1;
        writeFileSync(path, changed);
        const { problems } = readLedger(ledger);
        assert.ok(
          problems.some((each) => each.path === path && each.from! <= at && at < each.to!),
          `${path} ${at}`,
        );
      }
      writeFileSync(path, kept);
    }
    assert.deepEqual(readLedger(ledger).problems, []);
  });

  it('shows a sealed file that was removed', async () => {
    const { ledger } = await filledLedger(40);
    for (const name of readdirSync(ledger.folder)) {
      const path = join(ledger.folder, name);
      const kept = readFileSync(path);
      rmSync(path);
      assert.match(readLedger(ledger).problems[0]!.problem, /hash .*differs from the one in/);
      writeFileSync(path, kept);
    }
  });

  describe('compacted', () => {
    it('keeps the lines of the runs that are still there, and an unbroken chain', async () => {
      const { ledger, ids } = await filledLedger(60);
      const gone = new Set(ids.filter((_, index) => index % 10 !== 0));
      const before = bytesOf(ledger);
      for (const run_id of gone) await ledger.append({ type: 'cleaned', run_id });
      await compactLedger(ledger, { isThere: (runId) => !gone.has(runId), isSound: () => true });
      assert.ok(bytesOf(ledger) < before / 2, `${bytesOf(ledger)} of ${before}`);
      const chain = readLedger(ledger);
      assert.deepEqual(chain.problems, []);
      for (const id of ids) if (!gone.has(id)) assert.equal(ledger.has(id, `of ${id}`), true);
      await ledger.append({ type: 'run', run_id: 'r-next', events: 1, events_sha256: 'x' });
      assert.deepEqual(readLedger(ledger).problems, []);
    });

    it('is compacted again and again, and counts what was removed', async () => {
      const { ledger, ids } = await filledLedger(30);
      for (let round = 0; round < 4; round++) {
        const more = Array.from({ length: 30 }, () => newRunId());
        for (const run_id of more)
          await ledger.append({ type: 'run', run_id, events: 1, events_sha256: 'x' });
        for (const run_id of ids.splice(0)) await ledger.append({ type: 'cleaned', run_id });
        ids.push(...more);
        await compactLedger(ledger, { isThere: (runId) => ids.includes(runId), isSound: () => true });
        assert.deepEqual(readLedger(ledger).problems, []);
      }
      const summary = JSON.parse(
        readFileSync(join(ledger.folder, readdirSync(ledger.folder).sort()[0]!), 'utf8').split('\n')[0]!,
      );
      assert.equal(summary.segments[0], 1);
      assert.ok(summary.runs >= 90, JSON.stringify(summary));
    });

    it('keeps the line of a run that was cleaned by name only, because the process was killed', async () => {
      const { ledger, ids } = await filledLedger(40);
      for (const run_id of ids) await ledger.append({ type: 'cleaned', run_id });
      await compactLedger(ledger, { isThere: (runId) => runId === ids[3], isSound: () => true });
      assert.equal(ledger.has(ids[3]!, `of ${ids[3]}`), true);
      assert.equal(ledger.has(ids[4]!, `of ${ids[4]}`), false);
    });

    it('shows a summary that was written again with hashes that fit', async () => {
      const { ledger, ids } = await filledLedger(40);
      for (const run_id of ids) await ledger.append({ type: 'cleaned', run_id });
      const other = emptyLedger();
      for (const name of readdirSync(ledger.folder)) {
        const copy = join(other.folder, '..', 'ledger');
        mkdirSync(copy, { recursive: true });
        writeFileSync(join(copy, name), readFileSync(join(ledger.folder, name)));
      }
      writeFileSync(other.path, readFileSync(ledger.path));
      await compactLedger(ledger, { isThere: (runId) => runId === ids[0], isSound: () => true });
      await compactLedger(other, { isThere: () => false, isSound: () => true });
      const name = readdirSync(other.folder)[0]!;
      assert.deepEqual(readdirSync(ledger.folder), [name]);
      writeFileSync(join(ledger.folder, name), readFileSync(join(other.folder, name)));
      assert.match(readLedger(ledger).problems[0]!.problem, /not the one in the ledger/);
    });

    it('is the same when the process was killed before the old files were removed', async () => {
      const { ledger, ids } = await filledLedger(40);
      const old = readdirSync(ledger.folder).map(
        (name) => [name, readFileSync(join(ledger.folder, name))] as const,
      );
      for (const run_id of ids) await ledger.append({ type: 'cleaned', run_id });
      await compactLedger(ledger, { isThere: () => false, isSound: () => true });
      for (const [name, bytes] of old) writeFileSync(join(ledger.folder, name), bytes);
      const chain = readLedger(ledger);
      assert.deepEqual([chain.problems, chain.runs.size < ids.length], [[], true]);
    });
  });
});

function bytesOf(ledger: Ledger): number {
  const files = [ledger.path, ...readdirSync(ledger.folder).map((name) => join(ledger.folder, name))];
  return files.reduce((sum, path) => sum + readFileSync(path).length, 0);
}
