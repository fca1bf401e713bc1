import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { withFileLock } from './file-lock.ts';

const MODULE = join(import.meta.dirname, 'file-lock.ts');

/** Counts up a number in a file, read and written in two steps, so that two at once would lose a count. */
const COUNT_UP = `
import { readFileSync, writeFileSync } from 'node:fs';
const { withFileLock } = await import(process.argv[2]);
for (let i = 0; i < 60; i++) {
  await withFileLock(process.argv[3] + '.lock', () => {
    const count = Number(readFileSync(process.argv[3], 'utf8'));
    for (const until = performance.now() + 1; performance.now() < until; );
    writeFileSync(process.argv[3], String(count + 1));
  });
}
`;

/** Counts up once, with a meeting between reading and writing: each process waits there until both have read. */
const COUNT_UP_TOGETHER = `
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
const [, , path, meeting] = process.argv;
const count = Number(readFileSync(path, 'utf8'));
writeFileSync(meeting + '/' + process.pid, '');
while (readdirSync(meeting).length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
writeFileSync(path, String(count + 1));
`;

describe('a file lock', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-lock-'));
    writeFileSync(join(folder, 'count.mjs'), COUNT_UP);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Starts so many processes with a script, and returns the number in the file when all have ended. */
  async function countWith(processes: number, path: string, argv: string[]): Promise<number> {
    writeFileSync(path, '0');
    const workers = Array.from({ length: processes }, () => spawn(process.execPath, argv));
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('close', resolve))));
    return Number(readFileSync(path, 'utf8'));
  }

  it('lets one process at a time do its work', async () => {
    const path = join(folder, 'locked');
    assert.equal(await countWith(4, path, [join(folder, 'count.mjs'), MODULE, path]), 240);
  });

  it('is needed for that (the control: without it two processes that read before either writes lose a count)', async () => {
    const path = join(folder, 'free');
    const script = join(folder, 'together.mjs');
    writeFileSync(script, COUNT_UP_TOGETHER);
    const meeting = mkdtempSync(join(folder, 'meeting-'));
    assert.equal(await countWith(2, path, [script, path, meeting]), 1);
  });

  it('is not taken from anybody by those who wait long while its holders come and exit', async () => {
    const path = join(folder, 'short');
    // Each holds it for longer than a waiter's patience, then exits at once: the waiters look at dead holders all the time.
    const once = join(folder, 'once.mjs');
    writeFileSync(once, COUNT_UP.replace('i < 60', 'i < 1').replace('+ 1;', '+ 40;'));
    assert.equal(await countWith(24, path, [once, MODULE, path]), 24);
  });

  it('is broken when its holder is dead, and leaves no file behind', async () => {
    const path = join(folder, 'left');
    writeFileSync(path, JSON.stringify({ pid: 2 ** 22 - 1, start_time: 1, boot_id: 'another boot' }));
    const got = await Promise.all([1, 2, 3].map((n) => withFileLock(path, () => n)));
    assert.deepEqual(got, [1, 2, 3]);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('left')),
      [],
    );
  });

  it('is given up when the work throws', async () => {
    const path = join(folder, 'thrown');
    await assert.rejects(
      withFileLock(path, () => {
        throw new Error('no');
      }),
      /no/,
    );
    assert.equal(await withFileLock(path, () => 'next'), 'next');
  });
});
