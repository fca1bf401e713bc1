import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { wholePath } from './whole-path.ts';

describe('a path that a message names without quotes', () => {
  it('ends where a file ends, else where an argument does, else in the deepest folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'acor-paths-'));
    try {
      mkdirSync(join(folder, 'my data'));
      for (const name of ['my data/in a.csv', 'my', 'plain']) writeFileSync(join(folder, name), '');
      const ends = (text: string, args: string[] = []) => {
        const [first, ...rest] = text.split(' ');
        const said = { said: '', kind: 'path', path: join(folder, first!), isWrite: false } as const;
        return wholePath({ ...said, rest: rest.map((word) => ` ${word}`).join('') }, args).slice(
          folder.length + 1,
        );
      };
      assert.equal(ends('my data/in a.csv for reading'), 'my data/in a.csv');
      assert.equal(ends('plain for reading'), 'plain');
      assert.equal(ends('plain'), 'plain');
      assert.equal(ends('my data/out b.csv', [`cp x "${folder}/my data/out b.csv"`]), 'my data/out b.csv');
      assert.equal(ends('no data/out b.csv', [join(folder, 'no data/out b.csv')]), 'no data/out b.csv');
      assert.equal(ends('new.csv for writing'), 'new.csv');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
