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
import { answerSteps, readQuestion, validAnswerSteps } from './question.ts';
import type { QuestionHooks } from './question-hooks.ts';
import { Questions } from './questions.ts';

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

  it('is reported when no question has asked for it, and only then', async () => {
    const { questions, answered } = await started({}, ['q-1', 'by-action', 'never']);
    questions.ask({ action_id: 'q-1', action: 'question', blocking: true });
    questions.ask({ action_id: 'q-2', action: 'by-action', blocking: true });
    questions.noteAsked({ actionId: 'q-3', action: 'of a child' });
    await questions.end();
    await questions.reportUnused();
    assert.deepEqual(await answered(), [
      ['action_answered', 'two'],
      ['action_answered', 'two'],
      ['runner_warning', undefined],
    ]);
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

describe('the default of a question', () => {
  const asked = { action_id: 'q-2', action: 'speed', blocking: true, timeout_s: 0.01 };

  it('is the answer when the time is up, in the form that the question means', async () => {
    const { questions, answered, until } = await started();
    questions.ask({ ...asked, options: [{ id: 'slow', label: 'Slowly' }], default: 'slowly' });
    await until('action_answered');
    assert.deepEqual(await answered(), [['action_answered', 'slow']]);
  });

  for (const [what, more] of [
    ['option', { options: [{ id: 'slow' }], default: 'fast' }],
    ['value of the schema', { schema: { type: 'integer' }, default: 'seven' }],
  ] as const)
    it(`is not used when it is no ${what}, and the log says so before the time is up`, async () => {
      const unanswered: string[] = [];
      const { questions, answered, until } = await started({
        onUnanswered: (actionId) => unanswered.push(actionId),
      });
      questions.ask({ ...asked, ...more });
      await until('runner_warning');
      while (unanswered.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.deepEqual(await answered(), [['runner_warning', undefined]]);
    });

  it('is offered as an answer only when it is short and of the type of the schema', () => {
    const offered = (more: object) =>
      answerSteps('r-1', readQuestion({ ...asked, ...more })).map(({ input }) => input.value ?? input.choice);
    assert.deepEqual(offered({ default: 'x', schema: { type: 'string' } }), ['"x"']);
    assert.deepEqual(offered({ default: 7, schema: { type: 'integer' } }), ['7']);
    assert.deepEqual(offered({ default: null, schema: { type: 'null' } }), ['null']);
    assert.deepEqual(offered({ default: 'x', schema: { type: 'integer' } }), []);
    assert.deepEqual(offered({ default: 'x', schema: { type: 'integer', default: 3 } }), ['3']);
    assert.deepEqual(offered({ default: [], schema: { type: 'object' } }), []);
    assert.deepEqual(offered({ default: 'd'.repeat(2_000) }), []);
    assert.deepEqual(offered({ options: [{ id: 'i'.repeat(2_000) }, { id: 'yes' }] }), ['yes']);
  });

  it('is not offered to the reader of a log when the schema refuses it', async () => {
    const offered = async (more: object) =>
      (await validAnswerSteps('r-1', readQuestion({ ...asked, ...more }))).map(({ input }) => input.value);
    const schema = { type: 'integer', minimum: 5 };
    assert.deepEqual(await offered({ default: 3, schema }), []);
    assert.deepEqual(await offered({ default: 7, schema }), ['7']);
    assert.deepEqual(await offered({ schema: { ...schema, default: 3 } }), []);
    assert.deepEqual(await offered({ schema: { enum: [1, 9], minimum: 5 } }), ['9']);
    assert.deepEqual(await offered({ default: 3 }), ['3']);
  });

  it('is offered only when the question settles it, not when the schema merely allows it', () => {
    const offered = (schema: object) =>
      answerSteps('r-1', readQuestion({ ...asked, schema })).map(({ input }) => input.value);
    const withDepth = (depth: object) =>
      offered({ type: 'object', required: ['depth'], properties: { depth } });
    assert.deepEqual(withDepth({ type: 'integer', minimum: 1, maximum: 9 }), []);
    assert.deepEqual(withDepth({ enum: [1, 2] }), []);
    assert.deepEqual(withDepth({ type: 'integer', examples: [4] }), []);
    assert.deepEqual(offered({ type: 'integer', minimum: 3 }), []);
    assert.deepEqual(offered({ type: 'string', examples: ['x'] }), []);
    assert.deepEqual(withDepth({ const: 4 }), ['{"depth":4}']);
    assert.deepEqual(withDepth({ type: 'integer', minimum: 1, default: 4 }), ['{"depth":4}']);
  });
});

async function started(hooks: Partial<QuestionHooks> = {}, actions: readonly string[] = ['q-1']) {
  const store = new MemoryRunStore(commandOf);
  const run = newRun();
  const writer = await store.create({ ...run, state: 'running' });
  const workspace = new Workspaces(join(root, '.runs')).of(run.run_id);
  prepareWorkspace(workspace);
  const questions = new Questions(writer, {
    workspace,
    answers: actions.map((action) => ({ action, answer: 'two', by: 'caller', source: 'beforehand' })),
    onQuestion: undefined,
    answerTimeoutS: 600,
  });
  questions.begin({ ...HOOKS, ...hooks });
  return {
    questions,
    state: () => writer.record.state,
    async until(type: string) {
      for await (const event of readEvents(store, run.run_id, { wait: true }))
        if (event.type === type) return;
    },
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
