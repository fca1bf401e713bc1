import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../../test/contracts/new-run.ts';
import { commandOf } from '../../../operations/command-forms.ts';
import { MemoryRunStore } from '../../store-memory/memory-run-store.ts';
import { readEvents } from '../read-log.ts';
import { prepareWorkspace, Workspaces } from '../workspace.ts';
import { type QuestionHooks, Questions } from './questions.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-questions-'));
after(() => rmSync(root, { recursive: true, force: true }));

const HOOKS: QuestionHooks = {
  deliver: () => {},
  answerFields: () => ({}),
  onResumed: () => {},
  onUnanswered: () => {},
  onFailed: (error) => assert.fail(String(error)),
};

describe('an answer that was given beforehand', () => {
  it('counts for a question that is read after its tool has exited', async () => {
    const { questions, answered } = await started();
    await questions.end();
    questions.ask({ action_id: 'q-1', action: 'question', blocking: false });
    assert.deepEqual(await answered(), [['action_answered', 'two']]);
  });

  it('counts for a question whose check was waiting when its tool exited', async () => {
    const { questions, answered } = await started();
    const ended = questions.end();
    questions.ask({ action_id: 'q-1', action: 'question', blocking: false });
    await ended;
    assert.deepEqual(await answered(), [['action_answered', 'two']]);
  });

  it('is refused for such a question as for any other, and makes no run wait', async () => {
    const { questions, answered, state } = await started();
    await questions.end();
    questions.ask({ action_id: 'q-1', action: 'question', schema: { type: 'number' }, blocking: true });
    assert.deepEqual(await answered(), [['runner_warning', undefined]]);
    assert.equal(state(), 'running');
  });
});

async function started() {
  const store = new MemoryRunStore(commandOf);
  const run = newRun();
  const writer = await store.create({ ...run, state: 'running' });
  const workspace = new Workspaces(join(root, '.runs')).of(run.run_id);
  prepareWorkspace(workspace);
  const questions = new Questions(writer, {
    workspace,
    answers: [{ action: 'q-1', answer: 'two', by: 'caller', source: 'beforehand' }],
    onQuestion: undefined,
    answerTimeoutS: 600,
  });
  questions.begin(HOOKS);
  return {
    questions,
    state: () => writer.record.state,
    async answered() {
      await questions.close();
      await writer.log.flush();
      const events: Record<string, unknown>[] = [];
      for await (const event of readEvents(store, run.run_id, { wait: false })) events.push(event);
      return events
        .filter(({ type }) => type === 'action_answered' || type === 'runner_warning')
        .map(({ type, answer }) => [type, answer]);
    },
  };
}
