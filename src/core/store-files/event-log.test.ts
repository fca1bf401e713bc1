import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Seal } from '../../protocol/v1/runner-events.ts';
import { EventLog } from './event-log.ts';
import { sha256 } from './ledger-line.ts';
import { QuestionFile } from './question-file.ts';
import { findBrokenMark } from './seal.ts';

describe('the event log', () => {
  let folder: string;
  let count = 0;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-log-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const newPath = () => join(folder, `${count++}.jsonl`);
  const linesOf = (path: string) =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));

  const openLog = (path: string, runId = 'r-1', isSuperseded = () => false) =>
    new EventLog(path, runId, {
      isSuperseded,
      questions: new QuestionFile(`${path}.questions`, false, () => {}),
    });

  it('numbers events without a gap, whether they are objects or bytes', async () => {
    const path = newPath();
    const log = openLog(path);
    const line = Buffer.from('xx{"v":1,"type":"log"}yy');
    for (let i = 0; i < 1200; i++) {
      if (i % 3 === 0) log.append({ type: 'progress', pct: i / 12 });
      else log.keepLine(line, 2, line.length - 2);
    }
    await log.flush();
    assert.deepEqual(
      linesOf(path).map(({ seq }) => seq),
      Array.from({ length: 1200 }, (_, i) => i + 1),
    );
    assert.deepEqual(linesOf(path)[1], { v: 1, type: 'log', seq: 2 });
    assert.equal(log.bytes, readFileSync(path).length);
    log.close();
  });

  it('goes on from numbered lines, few and many, between events that wait in its buffer', async () => {
    const path = newPath();
    const log = openLog(path);
    const events = () => Array.from({ length: 3 }, () => log.append({ type: 'log', msg: 'x' }));
    for (const count of [1, 10, 5_000]) {
      events();
      const lines = Array.from({ length: count }, (_, index) => `{"seq":${log.events + index + 1}}\n`);
      log.keepLines(Buffer.from(lines.join('')), count);
      events();
    }
    await log.flush();
    assert.deepEqual(
      linesOf(path).map(({ seq }) => seq),
      Array.from({ length: log.events }, (_, index) => index + 1),
    );
    const bytes = readFileSync(path);
    assert.deepEqual([log.events, log.bytes, log.seal().sha256], [5_029, bytes.length, sha256(bytes)]);
    log.close();
  });

  it('stores nothing of many lines that it may not write, and gives their numbers again', async () => {
    const path = newPath();
    let superseded = false;
    const log = openLog(path, 'r-1', () => superseded);
    const lines = Buffer.from('{"v":1}\n'.repeat(10_000));
    superseded = true;
    assert.throws(() => log.keepLines(lines, 10_000), { code: 'E_STORAGE' });
    superseded = false;
    assert.deepEqual([log.events, log.bytes, log.hasDropped], [0, 0, true]);
    log.append({ type: 'log', msg: 'x' });
    await log.flush();
    assert.deepEqual(
      linesOf(path).map(({ seq }) => seq),
      [1],
    );
    log.close();
  });

  it('reports an observer that fails once, after the events that it was shown, with a number of its own', async () => {
    const path = newPath();
    const log = openLog(path);
    log.observe({
      stored() {
        throw new Error('no');
      },
    });
    const many = (first: number) =>
      Buffer.from(Array.from({ length: 5_000 }, (_, index) => `{"seq":${first + index}}\n`).join(''));
    log.append({ type: 'log', msg: 'x' });
    log.keepLines(many(2), 5_000);
    log.keepLines(many(5_002), 5_000);
    await log.flush();
    log.append({ type: 'log', msg: 'y' });
    await log.flush();
    const stored = linesOf(path);
    assert.deepEqual(
      stored.map(({ seq }) => seq),
      Array.from({ length: 10_003 }, (_, index) => index + 1),
    );
    assert.deepEqual(
      stored.filter(({ type }) => type === 'runner_warning').map(({ seq, msg }) => [seq, msg]),
      [[10_002, 'an observer of the run failed: no']],
    );
    log.close();
  });

  it('is synced beside its writes when it is long, and can be closed at once', async () => {
    const path = newPath();
    const line = `{"msg":"${'x'.repeat(99_000)}"}\n`;
    for (const syncs of [true, false]) {
      const log = openLog(path);
      for (let i = 0; i < 400; i++) log.keepLines(Buffer.from(line), 1);
      if (syncs) await log.sync();
      log.close();
    }
    assert.equal(readFileSync(path).length, 800 * line.length);
  });

  it('takes an event that is larger than its buffer', async () => {
    const path = newPath();
    const log = openLog(path);
    log.append({ type: 'log', msg: 'a'.repeat(1_000_000) });
    log.append({ type: 'log', msg: 'b' });
    await log.flush();
    assert.deepEqual(
      linesOf(path).map(({ msg, seq }) => [msg.length, seq]),
      [
        [1_000_000, 1],
        [1, 2],
      ],
    );
    log.close();
  });

  it('seals the bytes that it wrote', async () => {
    const path = newPath();
    const log = openLog(path);
    for (let i = 0; i < 300; i++) {
      log.append({ type: 'log', msg: `line ${i}` });
      await log.flush();
    }
    const bytes = readFileSync(path);
    const seal = log.seal();
    assert.equal(seal.sha256, sha256(bytes));
    assert.equal(seal.bytes, bytes.length);
    assert.ok(seal.marks.length > 16 && seal.marks.length <= 64, `${seal.marks.length} marks`);
    assert.equal(brokenMark(bytes, seal), undefined);
    log.close();
  });

  it('lets a change of any byte be narrowed down to a place around it', async () => {
    const path = newPath();
    const log = openLog(path);
    for (let i = 0; i < 300; i++) {
      log.append({ type: 'log', msg: `line ${i}` });
      await log.flush();
    }
    const seal = log.seal();
    log.close();
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 997) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ 1;
      const place = brokenMark(changed, seal);
      assert.ok(
        place !== undefined && place.from <= at && at < place.to,
        `byte ${at}: ${JSON.stringify(place)}`,
      );
      assert.ok(place.to - place.from < bytes.length / 8);
    }
    assert.deepEqual(brokenMark(bytes.subarray(0, -1), seal)?.to, bytes.length);
  });

  it('continues where an earlier writer stopped, and removes a torn last line', async () => {
    const path = newPath();
    const first = openLog(path);
    first.append({ type: 'start', step: 'a' });
    first.append({ type: 'log', msg: 'b' });
    await first.flush();
    first.close();
    appendFileSync(path, '{"v":1,"type":"log","msg":"torn');
    const second = openLog(path);
    second.append({ type: 'log', msg: 'c' });
    await second.flush();
    assert.deepEqual(
      linesOf(path).map(({ seq, msg }) => [seq, msg]),
      [
        [1, undefined],
        [2, 'b'],
        [3, 'c'],
      ],
    );
    assert.equal(second.seal().sha256, sha256(readFileSync(path)));
    second.close();
  });

  it('writes nothing more once another supervisor has taken over', async () => {
    const path = newPath();
    let superseded = false;
    const log = openLog(path, 'r-1', () => superseded);
    log.append({ type: 'log', msg: 'before' });
    await log.flush();
    superseded = true;
    log.append({ type: 'log', msg: 'after' });
    await assert.rejects(log.flush(), { code: 'E_STORAGE' });
    assert.equal(linesOf(path).length, 1);
    log.close();
  });

  it('drops what it could not write, so that nothing of it comes into the log later', async () => {
    const path = newPath();
    let superseded = false;
    const log = openLog(path, 'r-1', () => superseded);
    log.append({ type: 'log', msg: 'one' });
    await log.flush();
    assert.equal(log.hasDropped, false);
    superseded = true;
    log.append({ type: 'log', msg: 'refused' });
    await assert.rejects(log.flush(), { code: 'E_STORAGE' });
    superseded = false;
    assert.equal(log.hasDropped, true);
    log.append({ type: 'log', msg: 'two' });
    await log.flush();
    assert.deepEqual(
      linesOf(path).map(({ seq, msg }) => [seq, msg]),
      [
        [1, 'one'],
        [2, 'two'],
      ],
    );
    log.close();
  });

  it('does not write when it is closed, though another file may have its descriptor by then', async () => {
    const first = newPath();
    const log = openLog(first);
    log.close();
    const second = newPath();
    const other = openLog(second, 'r-2');
    log.append({ type: 'log', msg: 'too late' });
    await assert.rejects(log.flush(), { code: 'E_STORAGE' });
    assert.equal(readFileSync(second, 'utf8'), '');
    other.close();
  });

  it('gives the numbers of events back that were never written', async () => {
    const path = newPath();
    const log = openLog(path);
    log.append({ type: 'log', msg: 'one' });
    await log.flush();
    log.append({ type: 'log', msg: 'dropped' });
    log.append({ type: 'log', msg: 'dropped' });
    log.discardPending();
    log.append({ type: 'log', msg: 'two' });
    await log.flush();
    assert.deepEqual(
      linesOf(path).map(({ seq, msg }) => [seq, msg]),
      [
        [1, 'one'],
        [2, 'two'],
      ],
    );
    log.close();
  });
});

function brokenMark(bytes: Uint8Array, seal: Seal) {
  return findBrokenMark(bytes.length, (from, to) => [bytes.subarray(from, to)], seal);
}
