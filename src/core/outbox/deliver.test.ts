import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import { until } from '../../../test/support/project.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { loadConfig } from '../config/load.ts';
import { FileRunStore } from '../store-files/file-run-store.ts';
import { Deliverer } from './deliver.ts';
import { OutboxFiles } from './outbox-files.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-deliver-'));
after(() => rmSync(root, { recursive: true, force: true }));
const runsDir = join(root, '.runs');
const store = new FileRunStore(runsDir, commandOf);
const files = new OutboxFiles(runsDir);
const config = await loadConfig({ cwd: root, env: {} });

/** Delivers with a run that ends in the moment in which the deliverer has released its lock; `settles` writes the record. */
async function deliverWhileEnding(settles: 'at once' | 'later'): Promise<string> {
  const run = newRun();
  const writer = await store.create(run);
  writer.log.append({ type: 'runner_start' });
  writer.log.flush();
  files.enter(run.run_id, 0);
  const settle = async () => {
    await writer.update({ state: 'completed' });
    await writer.close();
  };
  let wasLocked = false;
  let hasEnded = false;
  const open = async () => {
    const isLocked = existsSync(files.lock);
    if (wasLocked && !isLocked && !hasEnded) {
      hasEnded = true;
      writer.log.append({ type: 'runner_end', state: 'completed', seal: writer.log.seal() });
      writer.log.flush();
      if (settles === 'at once') await settle();
      else setTimeout(settle, 20);
    }
    wasLocked ||= isLocked;
    return { config, store, workspaces: { root: runsDir } };
  };
  await new Deliverer({ open, env: {}, signal: new AbortController().signal }).until(60_000);
  assert.ok(hasEnded);
  return run.run_id;
}

/** A failed run in the outbox. */
async function failedRun(): Promise<string> {
  const run = newRun();
  const writer = await store.create(run);
  files.enter(run.run_id, 0);
  writer.log.append({ type: 'runner_end', state: 'failed', seal: writer.log.seal() });
  writer.log.flush();
  await writer.update({ state: 'failed' });
  await writer.close();
  return run.run_id;
}

describe('a process that delivers', () => {
  for (const settles of ['at once', 'later'] as const)
    it(`delivers a run that ends while it releases the lock, when the record is written ${settles}`, async () => {
      const runId = await deliverWhileEnding(settles);
      assert.equal(files.cursor(runId), undefined);
    });

  it('keeps a run for receivers that the project names and no person has trusted, and for no others', async () => {
    const runId = await failedRun();
    const deliverWith = async (isTrusted: boolean) => {
      const widenings = [{ key: 'notify', value: [], without: [], means: '', where: '', asked: 'notify' }];
      const host = {
        config: { ...config, trust: { isTrusted, widenings } },
        store,
        workspaces: { root: runsDir },
      };
      await new Deliverer({ open: async () => host, env: {}, signal: new AbortController().signal }).once();
      return files.runs().includes(runId);
    };
    assert.equal(await deliverWith(false), true);
    assert.equal(await deliverWith(true), false, 'the control');
  });

  it('tries a receiver that has failed again, without its pause, each time that another process asks', async () => {
    await failedRun();
    const program = join(root, 'refuses.sh');
    writeFileSync(program, `#!/bin/sh\necho tried >> ${root}/tries\nexit 1\n`, { mode: 0o755 });
    const notify = [{ on: ['failure' as const], program: [program] }];
    const notified = { ...config, config: { ...config.config, notify } };
    const open = async () => ({ config: notified, store, workspaces: { root: runsDir } });
    const stop = new AbortController();
    const delivering = new Deliverer({ open, env: {}, signal: stop.signal }).forever();
    const tries = () => {
      const path = join(root, 'tries');
      return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
    };
    // By its pauses alone the sixth try would come after 151 s.
    for (let count = 1; count <= 6; count++) {
      await until(() => tries() >= count);
      assert.equal(await new Deliverer({ open, env: {}, signal: stop.signal }).once(), null);
    }
    stop.abort();
    await delivering;
  });

  it('goes on after a problem of the store, when that is solved', async () => {
    rmSync(files.folder, { recursive: true });
    const outside = mkdtempSync(join(root, 'outside-'));
    symlinkSync(outside, files.folder);
    const stop = new AbortController();
    const notify = [{ on: ['failure' as const], program: ['true'] }];
    const notified = { ...config, config: { ...config.config, notify } };
    let looks = 0;
    const open = async () => {
      looks++;
      return { config: notified, store, workspaces: { root: runsDir } };
    };
    const ended = new Deliverer({ open, env: {}, signal: stop.signal }).forever();
    await until(() => looks === 2);
    assert.deepEqual(readdirSync(outside), []);
    rmSync(files.folder);
    await until(() => existsSync(files.lock));
    stop.abort();
    await ended;
    assert.equal(existsSync(files.lock), false);
  });
});
