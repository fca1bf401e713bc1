import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { writeAtomic } from './atomic-write.ts';

describe('a file that is written atomically', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-atomic-'));
    // No file can take the name of a folder, so that a write fails at its end, and says which temporary file it had.
    mkdirSync(join(folder, 'taken'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function temporaryOf(write: typeof writeAtomic): string {
    try {
      write(join(folder, 'taken'), 'text');
    } catch (error) {
      return (error as { path: string }).path;
    }
    throw new Error('the write came through');
  }

  it('is there with its mode, and a write that fails leaves nothing', () => {
    writeAtomic(join(folder, 'one'), 'text', { mode: 0o666, durable: true });
    assert.equal(readFileSync(join(folder, 'one'), 'utf8'), 'text');
    assert.equal(statSync(join(folder, 'one')).mode & 0o777, 0o666);
    temporaryOf(writeAtomic);
    assert.deepEqual(readdirSync(folder).sort(), ['one', 'taken']);
  });

  it('has another temporary file than one of an earlier process with the same id', async () => {
    const again: string = `./atomic-write.ts?process=2`;
    const other = (await import(again)) as { writeAtomic: typeof writeAtomic };
    const [one, two] = [temporaryOf(writeAtomic), temporaryOf(other.writeAtomic)];
    const markOf = (path: string) => /\.\d+-(\w+)-\d+\.tmp$/.exec(path)?.[1];
    assert.ok(markOf(one));
    assert.notEqual(markOf(one), markOf(two));
    assert.equal(markOf(one), markOf(temporaryOf(writeAtomic)));
  });

  it('leaves a file alone that has the name of its temporary file', () => {
    const counted = temporaryOf(writeAtomic).replace(
      /taken(.*-)(\d+)/,
      (_, before, n) => `one${before}${Number(n) + 1}`,
    );
    writeFileSync(counted, 'of another');
    assert.throws(() => writeAtomic(join(folder, 'one'), 'text'), /EEXIST/);
    assert.equal(readFileSync(counted, 'utf8'), 'of another');
  });
});
