import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { controlChannelContract } from '../../../test/contracts/control-channel.ts';
import { leaseContract } from '../../../test/contracts/lease.ts';
import { newRun } from '../../../test/contracts/new-run.ts';
import { runStoreContract } from '../../../test/contracts/run-store.ts';
import { loseRun } from '../../../test/support/lose-run.ts';
import { openFiles } from '../../../test/support/open-files.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { kindOfName } from '../../protocol/run.ts';
import { FileLeases } from './file-leases.ts';
import { FileRunStore } from './file-run-store.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-store-'));
after(() => rmSync(root, { recursive: true, force: true }));
const runsDir = join(root, '.runs');
const open = () => new FileRunStore(runsDir, commandOf);
const lose = (runId: string) => loseRun(runsDir, runId);

runStoreContract('files', { open, lose });
leaseContract('files', { open: () => new FileLeases(runsDir), lose });
controlChannelContract('files', { open, lose });

describe('the files of a run', () => {
  it('are its record and nothing of its lease once it has ended', async () => {
    const run = newRun();
    const writer = await open().create(run);
    await writer.update({ state: 'completed' });
    writer.close();
    assert.deepEqual(readdirSync(join(runsDir, run.run_id)).sort(), ['events.jsonl', 'metadata.json']);
    assert.deepEqual(
      readdirSync(join(runsDir, 'leases')).filter((name) => name.startsWith(run.run_id)),
      [],
    );
  });

  it('are all closed when its writer is closed', {
    skip: process.platform !== 'linux' && 'needs /proc',
  }, async () => {
    const run = newRun();
    const writer = await open().create(run);
    const ofRun = () => openFiles().filter((path) => path.includes(run.run_id));
    writer.log.append({ type: 'log' });
    await writer.log.flush();
    assert.notDeepEqual(ofRun(), []);
    await writer.close();
    assert.deepEqual(ofRun(), []);
  });

  it('include its questions, which are rebuilt from the log when they are missing', async () => {
    const run = newRun();
    const writer = await open().create(run);
    const { questions } = open().layout(run.run_id);
    writer.log.append({ type: 'log' });
    await writer.log.flush();
    assert.equal(existsSync(questions), false);
    assert.equal((await open().read(run.run_id)).has_questions, false);
    writer.log.append({ type: 'action_required', action_id: 'a-1' });
    writer.log.append({ type: 'action_answered', action_id: 'a-1' });
    await writer.log.flush();
    assert.equal((await open().read(run.run_id)).has_questions, true);
    const before = await open().questionEvents(run.run_id);
    assert.equal(before.length, 2);
    rmSync(questions);
    assert.deepEqual(await open().questionEvents(run.run_id), before);
    writer.close();
    (await open().takeOver(run.run_id)).close();
    assert.equal(existsSync(questions), true);
    assert.deepEqual(await open().questionEvents(run.run_id), before);
  });
});

describe('the folders of a run that is taken over', () => {
  it('are checked for links when the supervisor before has removed its files', async () => {
    const ending = await open().create(newRun());
    const { run_id } = ending.record;
    await ending.update({ state: 'failed' });
    const temporary = join(open().layout(run_id).control, 'temporary');
    mkdirSync(dirname(temporary), { recursive: true });
    symlinkSync('..', temporary);
    const taken = open().takeOver(run_id);
    rmSync(temporary);
    await ending.close();
    await (await taken).close();
  });

  it('are not written when a link is among them', async () => {
    const lost = await open().create(newRun());
    const { run_id } = lost.record;
    await lost.update({ state: 'failed' });
    await lost.close();
    symlinkSync('..', join(open().layout(run_id).dir, 'logs'));
    await assert.rejects(open().takeOver(run_id), { code: 'E_STORAGE', message: /is a link/ });
    assert.equal(await open().leases.inspect(run_id), 'none');
  });
});

describe('a record that an earlier build wrote', () => {
  it('gets the kind of its run from the prefix of its name', async () => {
    const store = open();
    for (const [tool, kind] of [
      ['line_count', 'tool'],
      ['workflow:nightly', 'workflow'],
      ['pipe:orders|to_csv', 'pipe'],
      ['task:codex', 'task'],
      ['workflows', 'tool'],
    ] as const) {
      const writer = await store.create({ ...newRun(), kind, tool });
      writer.close();
      const { run_id } = writer.record;
      const { metadata } = store.layout(run_id);
      const { kind: _, ...earlier } = JSON.parse(readFileSync(metadata, 'utf8'));
      writeFileSync(metadata, JSON.stringify(earlier));
      assert.equal((await store.read(run_id)).kind, kind);
      assert.equal(kindOfName(tool), kind);
    }
  });

  it('keeps the kind that it has', async () => {
    const store = open();
    const writer = await store.create({ ...newRun(), kind: 'workflow', tool: 'nightly' });
    writer.close();
    assert.equal((await store.read(writer.record.run_id)).kind, 'workflow');
  });
});
