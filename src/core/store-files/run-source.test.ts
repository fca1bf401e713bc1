import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { newRunId } from '../../util/ids.ts';
import { FileRunStore } from './file-run-store.ts';
import { Ledger } from './ledger.ts';
import { fileRunSource } from './run-source.ts';

describe('what an index reads from the files of runs', () => {
  const root = mkdtempSync(join(tmpdir(), 'acor-run-source-'));
  after(() => rmSync(root, { recursive: true, force: true }));
  const sourceIn = (folder: string) => {
    const store = new FileRunStore(join(root, folder), commandOf);
    const reading = { run: (runId: string) => store.read(runId), questions: async () => [] };
    return { store, source: fileRunSource(store, reading) };
  };

  it('has the whole id, the tool and the arguments to search, up to a bound', async () => {
    const { store, source } = sourceIn('searched');
    const args = ['--name', 'x'.repeat(5_000)];
    const writer = await store.create({ ...newRun(), tool: 'line_count', args });
    await writer.close();
    const { run_id } = writer.record;
    const text = (await source.read(run_id))!.text;
    assert.ok(text.startsWith(`${run_id}\nline_count\n`), text.slice(0, 100));
    assert.ok(text.includes('\n--name\nxxx'));
    assert.equal(text.length, 4_000);
  });

  it('knows no changes after a position in a later segment than this ledger has: it is another ledger', async () => {
    const { source } = sourceIn('replaced');
    const position = JSON.stringify({ segment: 2, offset: 0, prev: '0'.repeat(64) });
    assert.equal(await source.changesAfter(position), undefined);
    // The control: its own position.
    assert.deepEqual((await source.changesAfter(await source.position()))?.runIds, []);
  });

  it('has the changes of a ledger with several sealed segments', async () => {
    const { store, source } = sourceIn('sealed');
    mkdirSync(store.root);
    const ledger = new Ledger(store.root, { segmentBytes: 200 });
    const begin = await source.position();
    const runIds = Array.from({ length: 6 }, () => newRunId());
    for (const run_id of runIds) await ledger.append({ type: 'run', run_id });
    assert.ok(readdirSync(ledger.folder).length > 2);
    assert.deepEqual((await source.changesAfter(begin))?.runIds, runIds);
    const later = await source.position();
    const more = newRunId();
    await ledger.append({ type: 'run', run_id: more });
    assert.deepEqual((await source.changesAfter(later))?.runIds, [more]);
  });

  it('has the changes up to a position, and no later ones', async () => {
    const { store, source } = sourceIn('bounded');
    const position = await source.position();
    const end = async () => {
      const writer = await store.create(newRun());
      await writer.close();
      await store.remove(writer.record.run_id);
      return writer.record.run_id;
    };
    const first = await end();
    const between = await source.position();
    const second = await end();
    const bounded = await source.changesAfter(position, between);
    assert.deepEqual([bounded?.runIds, bounded?.position], [[first], between]);
    assert.deepEqual((await source.changesAfter(position))?.runIds, [first, second]);
    assert.deepEqual((await source.changesAfter(between, position))?.runIds, []);
  });
});
