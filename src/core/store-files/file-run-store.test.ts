import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun, runStoreContract } from '../../../test/contracts/run-store.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { kindOfName } from '../../protocol/run-kind.ts';
import { FileRunStore } from './file-run-store.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-store-'));
after(() => rmSync(root, { recursive: true, force: true }));

runStoreContract('files', () => new FileRunStore(join(root, '.runs'), commandOf));

describe('a record that an earlier build wrote', () => {
  it('gets the kind of its run from the prefix of its name', () => {
    const store = new FileRunStore(join(root, '.runs'), commandOf);
    for (const [tool, kind] of [
      ['line_count', 'tool'],
      ['workflow:nightly', 'workflow'],
      ['pipe:orders|to_csv', 'pipe'],
      ['task:codex', 'task'],
      ['workflows', 'tool'],
    ] as const) {
      const writer = store.create({ ...newRun(), kind, tool });
      writer.close();
      const { run_id } = writer.record;
      const { metadata } = store.layout(run_id);
      const { kind: _, ...earlier } = JSON.parse(readFileSync(metadata, 'utf8'));
      writeFileSync(metadata, JSON.stringify(earlier));
      assert.equal(store.read(run_id).kind, kind);
      assert.equal(kindOfName(tool), kind);
    }
  });

  it('keeps the kind that it has', () => {
    const store = new FileRunStore(join(root, '.runs'), commandOf);
    const writer = store.create({ ...newRun(), kind: 'workflow', tool: 'nightly' });
    writer.close();
    assert.equal(store.read(writer.record.run_id).kind, 'workflow');
  });
});
