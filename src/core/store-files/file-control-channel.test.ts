import assert from 'node:assert/strict';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../../../test/support/project.ts';
import { watchedPaths } from '../../../test/support/watched-paths.ts';
import { newRunId } from '../../util/ids.ts';
import { FileControlChannel } from './file-control-channel.ts';
import { FileLeases } from './file-leases.ts';

it('an answer that cannot be read at first is delivered when it can be read', async () => {
  const root = mkdtempSync(join(tmpdir(), 'acor-control-'));
  const runId = newRunId();
  mkdirSync(join(root, runId, 'control'), { recursive: true });
  const leases = new FileLeases(root);
  const lease = await leases.acquire(runId, 1);
  const channel = new FileControlChannel(root, leases);
  // A folder of the file's name fails the read as a process without a free descriptor does.
  const unreadable = join(root, runId, 'control', 'answer-a.json');
  // Invalid answers are skipped, each for its own reason.
  for (const [name, text] of Object.entries({
    'no-action': '{"answer_id":"no-action","answer":"yes"}',
    'no-id': '{"action_id":"q","answer":"yes"}',
    'no-json': '{',
  }))
    writeFileSync(join(root, runId, 'control', `answer-${name}.json`), text);
  mkdirSync(unreadable);
  let arrived = () => {};
  const next = () => new Promise<void>((resolve) => (arrived = resolve));
  const got: string[] = [];
  const listener = channel.listen(runId, 1, {
    onCancel() {},
    onForceCancel() {},
    onAnswer({ answer_id }) {
      got.push(answer_id);
      arrived();
    },
  });
  const post = async (answer_id: string) => {
    const isThere = next();
    const answer = { action_id: 'q', answer: 'yes', by: 'a test', source: 'command' } as const;
    await channel.postAnswer(runId, { ...answer, answer_id });
    await isThere;
  };
  // The answers are read in the order of their names: the unreadable one was tried before this one was delivered.
  await post('z');
  rmdirSync(unreadable);
  await post('a');
  listener.close();
  await lease.release();
  rmSync(root, { recursive: true });
  assert.deepEqual(got, ['z', 'a']);
});

it('the records of a run can be read while its control folder is removed', () => {
  const root = mkdtempSync(join(tmpdir(), 'acor-control-'));
  const removed = join(root, 'removed');
  mkdirSync(removed);
  const fd = openSync(removed, 'r');
  rmdirSync(removed);
  const runId = newRunId();
  mkdirSync(join(root, runId));
  // The folder that this link names exists for stat, and no file can be created in it: the moment after a run's end.
  symlinkSync(`/proc/${process.pid}/fd/${fd}`, join(root, runId, 'control'));
  const records = new FileControlChannel(root, new FileLeases(root)).readRecords(runId);
  records.acknowledge(1);
  records.close();
  closeSync(fd);
  rmSync(root, { recursive: true });
});

it('the requests to a run are watched only when it is no longer young, and arrive before and after', async () => {
  const root = mkdtempSync(join(tmpdir(), 'acor-control-'));
  const runId = newRunId();
  mkdirSync(join(root, runId), { recursive: true });
  const channel = new FileControlChannel(root, new FileLeases(root));
  const watchedBefore = watchedPaths();
  const got: string[] = [];
  const listener = channel.listen(runId, 1, {
    onCancel: (reason) => got.push(reason),
    onForceCancel: () => got.push('force'),
    onAnswer() {},
  });
  assert.equal(watchedPaths(), watchedBefore);
  await channel.requestCancel(runId, 'early');
  await until(() => got.includes('early'));
  await until(() => watchedPaths() > watchedBefore);
  await channel.requestCancel(runId, 'late', { force: true });
  await until(() => got.includes('force'));
  listener.close();
  assert.equal(watchedPaths(), watchedBefore);
  rmSync(root, { recursive: true });
});
