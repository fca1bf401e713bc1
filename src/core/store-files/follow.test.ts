import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { watchedPaths } from '../../../test/support/watched-paths.ts';
import { eventsIn, followEvents } from './follow.ts';
import { PlainFile } from './readable-file.ts';
import { tailOf } from './tail.ts';

describe('a log that is read', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-follow-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const line = (seq: number, type = 'log') => `${JSON.stringify({ type, seq, text: `${type} ${seq}` })}\n`;
  const lineOf = (seq: number, length: number) =>
    `${JSON.stringify({ type: 'log', seq, text: 'x'.repeat(length) })}\n`;
  const lines = (...seqs: number[]) => seqs.map((seq) => line(seq)).join('');

  /** The texts that a follower gets while the log changes: after each batch the next change is made. */
  async function followed(text: string, changes: ((path: string) => void)[]): Promise<unknown[]> {
    const path = join(folder, `${Math.random()}.jsonl`);
    writeFileSync(path, text);
    using log = new PlainFile(path);
    const seen: unknown[] = [];
    for await (const batch of followEvents(log, { wait: true })) {
      seen.push(...eventsIn(batch).map((event) => event.text));
      changes.shift()?.(path);
    }
    return seen;
  }

  it('gives no event twice when a burst that was written in part is taken back', async () => {
    const seen = await followed(lines(1, 2, 3), [
      (path) => appendFileSync(path, lines(4, 5)),
      (path) => {
        truncateSync(path, lines(1, 2, 3, 4).length);
        appendFileSync(path, line(5, 'runner_end'));
      },
    ]);
    assert.deepEqual(seen, ['log 1', 'log 2', 'log 3', 'log 4', 'log 5', 'runner_end 5']);
  });

  it('is read on after the last event when another program has cut it further', async () => {
    const seen = await followed(lines(1, 2, 3), [
      (path) => appendFileSync(path, lines(4, 5)),
      (path) => {
        truncateSync(path, lines(1, 2).length);
        appendFileSync(path, line(6, 'runner_end'));
      },
    ]);
    assert.deepEqual(seen, ['log 1', 'log 2', 'log 3', 'log 4', 'log 5', 'runner_end 6']);
  });

  it('is not watched where its writer reports the changes', async () => {
    const path = join(folder, 'reported.jsonl');
    writeFileSync(path, lines(1));
    using log = new PlainFile(path);
    let changed = () => {};
    const watchedBefore = watchedPaths();
    const batches = followEvents(log, { wait: true, changes: (report) => (changed = report) });
    const next = async () => eventsIn((await batches.next()).value!).map((event) => event.text);
    assert.deepEqual(await next(), ['log 1']);
    const following = next();
    assert.equal(watchedPaths(), watchedBefore);
    appendFileSync(path, line(2, 'runner_end'));
    changed();
    assert.deepEqual(await following, ['runner_end 2']);
    assert.equal((await batches.next()).done, true);
  });

  it('is the same for a reader that is far behind', async () => {
    const path = join(folder, 'far-behind.jsonl');
    const texts = Array.from({ length: 60_000 }, (_, index) => lineOf(index + 1, index % 300));
    texts[30_000] = lineOf(30_001, 3_000_000);
    texts.push(line(60_001, 'runner_end'));
    writeFileSync(path, texts.join(''));
    using log = new PlainFile(path);
    const read: Buffer[] = [];
    for await (const batch of followEvents(log, { wait: false, reusesBuffers: true }))
      read.push(Buffer.from(batch));
    assert.equal(Buffer.concat(read).toString(), texts.join(''));
    assert.ok(read.length < 20, `${read.length} batches`);
  });

  it('gives no event twice when it is cut before a reader that was far behind', async () => {
    const path = join(folder, 'far-behind-and-cut.jsonl');
    const texts = Array.from({ length: 30_000 }, (_, index) => lineOf(index + 1, 100));
    writeFileSync(path, texts.join(''));
    using log = new PlainFile(path);
    const seen: unknown[] = [];
    let wasCut = false;
    for await (const batch of followEvents(log, { wait: true, reusesBuffers: true })) {
      seen.push(...eventsIn(batch).map((event) => event.seq));
      if (wasCut || seen.length < texts.length) continue;
      wasCut = true;
      truncateSync(path, texts.slice(0, -2).join('').length);
      appendFileSync(path, [...texts.slice(-2), line(30_001, 'runner_end')].join(''));
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 30_001 }, (_, index) => index + 1),
    );
  });

  it('has its last event found however long that is', () => {
    const path = join(folder, 'long.jsonl');
    for (const megabytes of [1, 3, 70]) {
      const end = { type: 'runner_end', seq: 3, text: 'x'.repeat(megabytes * 1_000_000) };
      writeFileSync(path, `${lines(1, 2)}${JSON.stringify(end)}\n`);
      using log = new PlainFile(path);
      const [last] = tailOf(log);
      assert.deepEqual([last?.type, last?.seq], ['runner_end', 3]);
      const [typed] = tailOf(log, ['runner_end']);
      assert.equal(typed?.seq, 3);
    }
  });

  it('has the result before its end found however long that is', () => {
    const path = join(folder, 'long-result.jsonl');
    for (const megabytes of [1, 3, 70]) {
      const result = { type: 'result', seq: 3, data: 'x'.repeat(megabytes * 1_000_000) };
      writeFileSync(path, `${lines(1, 2)}${JSON.stringify(result)}\n${line(4, 'runner_end')}`);
      using log = new PlainFile(path);
      const [found] = tailOf(log, ['result']);
      assert.equal(found?.seq, 3);
    }
  });
});
