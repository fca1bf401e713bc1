import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { MemoryRunStore } from '../store-memory/memory-run-store.ts';
import { endChildren } from './end-children.ts';
import { Workspaces } from './workspace.ts';

const OTHERS = 50;

/** Counts the records that are read. */
class CountingStore extends MemoryRunStore {
  reads = 0;

  override read(runId: string) {
    this.reads++;
    return super.read(runId);
  }
}

describe('ending the children of a run', () => {
  it('cancels live ones at any depth, and reads no record of a run that has ended', async () => {
    const store = new CountingStore(commandOf);
    const host = { store, workspaces: new Workspaces(join(tmpdir(), 'no-workspaces')) };
    for (let other = 0; other < OTHERS; other++) {
      const writer = await store.create(newRun());
      await writer.update({ state: 'completed' });
      writer.close();
    }
    const workflow = newRun();
    const own = await store.create(workflow);
    const part = { ...newRun(), parent: { run_id: workflow.run_id, task_id: 'one' } };
    const ended = await store.create(part);
    await ended.update({ state: 'completed' });
    ended.close();
    const grandchild = { ...newRun(), parent: { run_id: part.run_id, task_id: 'two' } };
    const live = await store.create(grandchild);
    const unrelated = await store.create(newRun());
    const reasons: string[] = [];
    store.control.listen(grandchild.run_id, live.epoch, {
      async onCancel(reason) {
        reasons.push(reason);
        live.log.append({ type: 'runner_end', state: 'cancelled' });
        await live.log.flush();
        await live.update({ state: 'cancelled' });
        live.close();
      },
      onForceCancel() {},
      onAnswer() {},
    });
    store.reads = 0;
    await endChildren(host, workflow.run_id, 'the workflow failed');
    assert.deepEqual(reasons, ['the workflow failed']);
    assert.equal((await store.read(grandchild.run_id)).state, 'cancelled');
    assert.ok(store.reads < OTHERS / 2, `${store.reads} reads`);
    unrelated.close();
    own.close();
  });
});
