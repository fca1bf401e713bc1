import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { questionsOf } from './open-questions.ts';

describe('the questions of a run', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-questions-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const ask = (action_id: string, blocking: boolean) => ({ type: 'action_required', action_id, blocking });
  const answer = (action_id: string, value = 'yes') => ({
    type: 'action_answered',
    action_id,
    answer: value,
  });
  const state = (to: string) => ({ type: 'runner_state', to });
  const waiting = [state('running'), ask('a-1', true), state('waiting_ai')];

  async function openAfter(...events: object[]): Promise<unknown[]> {
    const path = join(folder, 'events.jsonl');
    writeFileSync(
      path,
      events.map((event, index) => `${JSON.stringify({ ...event, seq: index + 1 })}\n`).join(''),
    );
    const questions = await questionsOf(path);
    return questions.filter(({ isOpen }) => isOpen).map(({ asked }) => asked.action_id);
  }

  it('are open from the asking to the answer', async () => {
    assert.deepEqual(await openAfter(...waiting), ['a-1']);
    assert.deepEqual(await openAfter(...waiting, ask('a-2', true), answer('a-1')), ['a-2']);
    assert.deepEqual(await openAfter(...waiting, answer('a-1'), state('running')), []);
  });

  it('hold those of its children, if it is a workflow or a pipe', async () => {
    const child_event = { type: 'action_required', action_id: 'a-1', blocking: true };
    const asked = { type: 'task_action_required', task_id: 't', child_run_id: 'r-1', child_event };
    const openIn = (start: object) => openAfter({ type: 'runner_start', ...start }, asked);
    assert.deepEqual(await openIn({ tool: 'workflow:x', kind: 'workflow' }), ['t:a-1']);
    assert.deepEqual(await openIn({ tool: 'a|b', kind: 'pipe' }), ['t:a-1']);
    assert.deepEqual(await openIn({ tool: 'workflow:x', kind: 'tool' }), []);
    // Logs of earlier builds name no kind.
    assert.deepEqual(await openIn({ tool: 'workflow:x' }), ['t:a-1']);
    assert.deepEqual(await openIn({ tool: 'x' }), []);
  });

  it('that block it are closed with their attempt, and open again when the next one asks them', async () => {
    const over = [...waiting, state('running')];
    assert.deepEqual(await openAfter(...over), []);
    assert.deepEqual(await openAfter(...over, ask('a-1', true), state('waiting_ai')), ['a-1']);
  });

  it('that do not block it stay open while it goes on', async () => {
    const both = [ask('b', false), ...waiting];
    assert.deepEqual(await openAfter(...both, answer('a-1'), state('running')), ['b']);
  });

  it('that have an answer on file are not opened by asking once more', async () => {
    const answered = [...waiting, answer('a-1'), state('running'), { type: 'runner_end' }];
    const resumed = { ...state('queued'), reason: 'resume' };
    assert.deepEqual(await openAfter(...answered, resumed, ...waiting), []);
  });

  it('are opened by a retry, and those whose answer held a secret by any next attempt of the run', async () => {
    const given = (value: string) => [...waiting, answer('a-1', value), state('running')];
    const retried = { ...state('queued'), reason: 'retry' };
    const resumed = { ...state('queued'), reason: 'resume' };
    const end = { type: 'runner_end' };
    assert.deepEqual(await openAfter(...given('yes'), end, retried, ...waiting), ['a-1']);
    const secret = '[redacted:TOKEN]';
    assert.deepEqual(await openAfter(...given(secret), end, resumed, ...waiting), ['a-1']);
    assert.deepEqual(await openAfter(...given(secret), ...waiting), []);
  });

  it('are all closed with the run, whatever ended it', async () => {
    assert.deepEqual(await openAfter(ask('b', false), ...waiting, { type: 'runner_end' }), []);
  });
});
