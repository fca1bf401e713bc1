import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { unifiedDiff } from './unified-diff.ts';

describe('a unified diff', () => {
  it('shows what changed, with three lines around it', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\nh\n';
    assert.equal(
      unifiedDiff('x.yaml', before, before.replace('e\n', 'E\nE2\n')),
      '--- x.yaml\n+++ x.yaml\n@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n+E2\n f\n g\n h\n',
    );
    assert.equal(unifiedDiff('x.yaml', before, before), '');
  });

  it('is understood by git, which makes the new text out of the old one by it', () => {
    const random = new SeededRandom(7);
    const folder = mkdtempSync(join(tmpdir(), 'acor-diff-'));
    try {
      for (let round = 0; round < 40; round++) {
        const before = Array.from(
          { length: 1 + Math.floor(random.next() * 40) },
          () => `${Math.floor(random.next() * 9)}\n`,
        );
        const after = before.flatMap((line) => {
          const what = random.next();
          return what < 0.1 ? [] : what < 0.2 ? [line, 'new\n'] : what < 0.3 ? ['other\n'] : [line];
        });
        if (after.length === 0 || before.join('') === after.join('')) continue;
        // A last line without its end is the case that is easily got wrong.
        const [old, fresh] = [before.join(''), after.join('')].map((text) =>
          random.next() < 0.5 ? text.slice(0, -1) : text,
        ) as [string, string];
        writeFileSync(join(folder, 'x'), old);
        const diff = unifiedDiff('x', old, fresh);
        const { status, stderr } = spawnSync('git', ['apply', '-p0', '-'], {
          cwd: folder,
          input: diff,
          encoding: 'utf8',
          env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
        });
        assert.equal(status, 0, `${stderr}${diff}`);
        assert.equal(readFileSync(join(folder, 'x'), 'utf8'), fresh);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
