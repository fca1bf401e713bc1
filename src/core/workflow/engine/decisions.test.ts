import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../../test/contracts/new-run.ts';
import { commandOf } from '../../../operations/command-forms.ts';
import { nextTurn } from '../../../util/pause.ts';
import type { AnswerHandler } from '../../run/answers/question.ts';
import { Questions } from '../../run/answers/questions.ts';
import { prepareWorkspace, Workspaces } from '../../run/workspace.ts';
import { MemoryRunStore } from '../../store-memory/memory-run-store.ts';
import { Decisions } from './decisions.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-decisions-'));
after(() => rmSync(root, { recursive: true, force: true }));

describe('a decision of a workflow', () => {
  async function decisions(more: { onQuestion?: AnswerHandler; answerTimeoutS?: number } = {}) {
    const store = new MemoryRunStore(commandOf);
    const run = newRun();
    const writer = await store.create({ ...run, state: 'running' });
    const workspace = new Workspaces(join(root, '.runs')).of(run.run_id);
    prepareWorkspace(workspace);
    const given = { workspace, answers: [], onQuestion: undefined, answerTimeoutS: 600, ...more };
    const questions = new Questions(writer, given);
    const failed = (error: unknown) => assert.fail(String(error));
    return { made: new Decisions(questions, writer, workspace, { goingOn: () => {}, failed }), questions };
  }
  const QUESTION = { action_id: 'choose', action: 'choose', options: [{ id: 'one' }, { id: 'two' }] };

  it('gets its answer, and leaves no listener behind', async () => {
    const { made } = await decisions({ onQuestion: async () => ({ value: 'two', by: 'tester' }) });
    const { signal } = new AbortController();
    assert.deepEqual(await made.ask(QUESTION, signal), { answer: 'two' });
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    // The same question of a later attempt has its answer already.
    assert.deepEqual(await made.ask(QUESTION, signal), { answer: 'two' });
  });

  it('ends without an answer when the workflow is stopped, and is no longer open then', async () => {
    const { made, questions } = await decisions();
    const stop = new AbortController();
    const decided = made.ask(QUESTION, stop.signal);
    while (!questions.isWaiting) await nextTurn();
    stop.abort();
    assert.equal(await decided, 'stopped');
    assert.equal(questions.isWaiting, false);
    assert.equal(await made.ask(QUESTION, stop.signal), 'stopped');
  });

  it('says for how long it was not answered', async () => {
    const { made } = await decisions({ answerTimeoutS: 0.01 });
    const { signal } = new AbortController();
    assert.deepEqual(await made.ask(QUESTION, signal), { unansweredForS: 0.01 });
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});
