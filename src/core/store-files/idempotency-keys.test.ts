import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { IdempotencyKeys } from './idempotency-keys.ts';

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

  it('creates another run when the first one was not created', async () => {
    const keys = new IdempotencyKeys(root, () => false);
    await assert.rejects(
      keys.once(KEYED, 'r-failed', () => Promise.reject(new Error('no space'))),
      /no space/,
    );
    assert.equal(await keys.once(KEYED, 'r-next', async () => 'created'), 'created');
  });
});
