import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runQueueContract } from '../../../test/contracts/run-queue.ts';
import { FileRunQueue } from './file-run-queue.ts';

const HOLDER = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'hold-place.ts');
const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

runQueueContract('files', {
  make() {
    const root = mkdtempSync(join(tmpdir(), 'acor-queue-'));
    folders.push(root);
    return {
      open: () => new FileRunQueue(root),
      async killHolderIn(limits) {
        const holder = spawn(process.execPath, [HOLDER, root, JSON.stringify(limits)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [line] = await once(holder.stdout!, 'data');
        holder.kill('SIGKILL');
        await once(holder, 'exit');
        return String(line).trim();
      },
    };
  },
});

describe('the place of a run', () => {
  it('is released although the pace of its tool cannot be written', async () => {
    const root = mkdtempSync(join(tmpdir(), 'acor-queue-'));
    folders.push(root);
    // The name of the pace fits, and that of the temporary file beside it does not.
    const tool = 't'.repeat(248);
    mkdirSync(join(root, 'queue'));
    writeFileSync(join(root, 'queue', `${tool}.pace`), JSON.stringify({ limit: 1, was: 9, starts: [] }));
    const run = { run_id: 'r-1', tool, needsSlot: true };
    const { signal } = new AbortController();
    const waits = { signal, onWait: () => assert.fail('the queue is empty') };
    const slot = await new FileRunQueue(root).enter(run, { maxRuns: 1, rate: null }, waits);
    await assert.rejects(slot!.leave({ completed: true }), /ENAMETOOLONG/);
    assert.deepEqual(readdirSync(join(root, 'queue')), [`${tool}.pace`]);
  });
});
