import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import { until } from '../../../test/support/project.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { FileRunStore } from '../store-files/file-run-store.ts';
import { Ledger } from '../store-files/ledger.ts';
import { whyUnverified } from './why-unverified.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-unverified-'));
after(() => rmSync(root, { recursive: true, force: true }));
const store = new FileRunStore(join(root, '.runs'), commandOf);
const ledgerPath = new Ledger(store.root).path;
const EVENTS = 500;
const IO = '/proc/self/io';

const why = (runId: string) => whyUnverified(store, runId, { maxBytes: 1_000_000 });

/** How many bytes this process read meanwhile. */
function bytesRead(work: () => unknown): number {
  const total = () => Number(/rchar: (\d+)/.exec(readFileSync(IO, 'utf8'))![1]);
  const before = total();
  work();
  return total() - before;
}

/** An ended run whose files have not changed for some ticks of the file system's clock. */
async function endedRun(): Promise<{ runId: string; log: string; record: string }> {
  const run = newRun();
  const writer = await store.create(run);
  const { log } = writer;
  log.append({ type: 'runner_start' });
  for (let event = 0; event < EVENTS; event++) log.append({ type: 'progress', msg: `chunk ${event}` });
  log.flush();
  log.append({ type: 'runner_end', state: 'completed', seal: log.seal() });
  log.flush();
  await writer.enterInLedger({ state: 'completed', code: null });
  writer.update({ state: 'completed' });
  writer.close();
  const { events, metadata } = store.layout(run.run_id);
  await settled(events, metadata);
  return { runId: run.run_id, log: events, record: metadata };
}

function settled(...paths: string[]): Promise<void> {
  return until(() => paths.every((path) => lstatSync(path).ctimeMs < Date.now() - 100));
}

describe('an ended run that a process has compared with its seal', () => {
  it(
    'is not read again while nothing of it changes',
    existsSync(IO) ? {} : { skip: 'needs /proc/self/io' },
    async () => {
      const { runId, log } = await endedRun();
      const { size } = lstatSync(log);
      const first = bytesRead(() => assert.equal(why(runId), undefined));
      const later = bytesRead(() => assert.equal(why(runId), undefined));
      assert.ok(first > size && later < size / 10, `${size} bytes: first ${first}, then ${later}`);
    },
  );

  it('is compared again, and reported, after its log, its record or its line in the ledger has changed', async () => {
    const { runId, log, record } = await endedRun();
    assert.equal(why(runId), undefined);
    for (const [path, from, to, problem] of [
      [log, 'chunk 7"', 'chunk 8"', /first changed byte/],
      [record, '"state":"completed"', '"state":"cancelled"', /it has state "cancelled"/],
      [ledgerPath, `"events":${EVENTS + 2}`, `"events":${EVENTS + 1}`, /the ledger has an end of this run/],
    ] as const) {
      const text = readFileSync(path, 'utf8');
      // The ledger has the runs of other tests before it.
      const at = path === ledgerPath ? text.indexOf(runId) : 0;
      const changed = text.slice(0, at) + text.slice(at).replace(from, to);
      assert.notEqual(changed, text, path);
      writeFileSync(path, changed);
      assert.match(why(runId) ?? 'no problem', problem, path);
      writeFileSync(path, text);
      await settled(path);
      assert.equal(why(runId), undefined, path);
    }
  });
});
