import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { nextTurn } from '../../util/pause.ts';
import { MemoryRunStore } from '../store-memory/memory-run-store.ts';
import { refuseWhileLive, type TaskRecord } from './task-record.ts';

describe('the next run of a task', () => {
  it('is refused while the one before it is live, and waits for one whose end is in its log already', async () => {
    const store = new MemoryRunStore(commandOf);
    const run = newRun();
    const writer = await store.create(run);
    const task = { task_id: 't', run_id: run.run_id } as TaskRecord;
    await assert.rejects(refuseWhileLive(store, task), { code: 'E_USAGE' });
    writer.log.append({ type: 'runner_end', state: 'completed', seal: writer.log.seal() });
    await writer.log.flush();
    let isAccepted = false;
    const accepted = refuseWhileLive(store, task).then(() => {
      isAccepted = true;
    });
    await nextTurn();
    assert.equal(isAccepted, false);
    await writer.update({ state: 'completed' });
    await writer.close();
    await accepted;
  });
});
