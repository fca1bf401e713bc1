import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commandOf } from '../../operations/command-forms.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { newRunId } from '../../util/ids.ts';
import { identify } from '../../util/process-table.ts';
import { FileRunStore } from './file-run-store.ts';
import type { NewRun } from './run-store.ts';

describe('taking a run over', () => {
  let root: string;
  let store: FileRunStore;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-take-over-'));
    store = new FileRunStore(root, commandOf);
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  const refuse = (record: RunRecord) => {
    if (record.state === 'running') throw new Error('it is at work');
  };

  it('is refused by what the record says now, and puts nobody out of work then', () => {
    const writer = store.create(newRun());
    writer.update({ state: 'running' });
    assert.throws(() => store.takeOver(writer.record.run_id, refuse), /it is at work/);
    writer.log.append({ type: 'log', msg: 'still at work' });
    writer.log.flush();
    writer.close();
  });

  it('is refused, too, when somebody was quicker after the record was read, who is gone by then', () => {
    const writer = store.create(newRun());
    const { run_id } = writer.record;
    writer.close();
    const late = new FileRunStore(root, commandOf);
    const stale = late.read(run_id);
    store.takeOver(run_id).update({ state: 'running' });
    // The quicker one has died: its claim stands for nobody.
    writeFileSync(
      join(writer.layout.control, 'epoch-2'),
      JSON.stringify({ ...identify(process.pid), pid: 0 }),
    );
    let reads = 0;
    late.read = (id) => (reads++ === 0 ? stale : store.read(id));
    assert.throws(() => late.takeOver(run_id, refuse), /it is at work/);
    assert.equal(store.read(run_id).epoch, 2);
  });

  it('is refused while another process ends the run, although the record still names the dead', () => {
    const writer = store.create(newRun());
    const { run_id } = writer.record;
    writer.close();
    const claim = join(writer.layout.control, 'epoch-1');
    writeFileSync(claim, JSON.stringify(identify(process.ppid)));
    assert.throws(() => store.takeOver(run_id), { code: 'E_STORAGE' });
    writeFileSync(claim, JSON.stringify({ ...identify(process.ppid), start_time: 1 }));
    store.takeOver(run_id).close();
  });
});

function newRun(): NewRun {
  return { run_id: newRunId(Date.now()), tool: 'a_tool', state: 'queued', attempt: 1 } as NewRun;
}
