import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../../test/contracts/new-run.ts';
import { commandOf } from '../../../operations/command-forms.ts';
import { redactionMark } from '../../../protocol/redaction-mark.ts';
import type { NewEvent } from '../../ports/run-store.ts';
import { MemoryRunStore } from '../../store-memory/memory-run-store.ts';
import { Workspaces } from '../workspace.ts';
import { answeredIds, readAnswerFile } from './answer-files.ts';
import { removeRedactedAnswers, restoreAnswers } from './recover-answers.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-answers-'));
after(() => rmSync(root, { recursive: true, force: true }));

const REDACTED = redactionMark('TOKEN');

describe('the answers of a run whose supervisor was killed between the log and the answer file', () => {
  it('are written again, with the last answer of each question', async () => {
    const { restored } = await runWith([
      answered('a-1', 'first'),
      answered('a-1', 'second'),
      answered('a-2', true),
    ]);
    assert.deepEqual(await restored(), { 'a-1': 'second', 'a-2': true });
  });

  it('are dropped when they were given before a retry', async () => {
    const retry = { type: 'runner_state', from: 'running', to: 'queued', reason: 'retry' };
    const { restored } = await runWith([answered('a-1', 'old'), retry, answered('a-2', 'new')]);
    assert.deepEqual(await restored(), { 'a-2': 'new' });
  });

  it('stay when the run continued for another reason', async () => {
    const resume = { type: 'runner_state', from: 'failed', to: 'queued', reason: 'resume' };
    const { restored } = await runWith([answered('a-1', 'old'), resume]);
    assert.deepEqual(await restored(), { 'a-1': 'old' });
  });

  it('are not written when a secret in them was redacted: the tool asks again', async () => {
    const { restored } = await runWith([
      answered('a-1', 'plain'),
      answered('a-1', `key ${REDACTED}`),
      answered('a-2', 1),
    ]);
    assert.deepEqual(await restored(), { 'a-2': 1 });
  });

  it('leave a file as it is that the tool has already got', async () => {
    const { restored, again } = await runWith([answered('a-1', 'in the file')]);
    await restored();
    await again([answered('a-1', 'in the log only')]);
    assert.deepEqual(await restored(), { 'a-1': 'in the file' });
  });

  it('get no file for a question whose id is no name of a file', async () => {
    const { restored } = await runWith([answered('../a', 1), answered('a/b', 2), answered('r-1:a-1', 3)]);
    assert.deepEqual(await restored(), {});
  });
});

describe('the answer files of a run that continues', () => {
  it('go when the log has their answer without its secret, and only those', async () => {
    const { restored, again, files, redacted } = await runWith([answered('a-1', 'x'), answered('a-2', 'y')]);
    await restored();
    await again([answered('a-1', REDACTED), answered('a-3', REDACTED)]);
    await redacted();
    assert.deepEqual(files(), { 'a-2': 'y' });
  });
});

function answered(action_id: string, answer: unknown): NewEvent {
  return { type: 'action_answered', action_id, action: 'confirm', answer };
}

/** A run with these events in its log, and an empty folder for its answers. */
async function runWith(events: NewEvent[]) {
  const store = new MemoryRunStore(commandOf);
  const run = newRun();
  const runId = run.run_id;
  const writer = await store.create(run);
  const workspace = new Workspaces(root).of(runId);
  mkdirSync(workspace.answers, { recursive: true });
  const again = async (more: NewEvent[]) => {
    for (const event of more) writer.log.append(event);
    await writer.log.flush();
  };
  await again([
    { type: 'action_required', action_id: 'a-1', action: 'confirm', message: 'Go on?' },
    ...events,
  ]);
  const files = () =>
    Object.fromEntries([...answeredIds(workspace)].map((id) => [id, readAnswerFile(workspace, id)?.value]));
  return {
    again,
    files,
    async restored() {
      await restoreAnswers(store, runId, workspace);
      return files();
    },
    redacted: () => removeRedactedAnswers(store, runId, workspace),
  };
}
