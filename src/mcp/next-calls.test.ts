import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { approve, attachTo, cancelRun, readLogs, resumeRun } from '../protocol/next-steps.ts';
import { nextCalls } from './next-calls.ts';

describe('next steps as tool calls', () => {
  it('call the tool of the operation, without what the tool does not take', () => {
    assert.deepEqual(nextCalls([resumeRun('r-1'), readLogs('r-1'), cancelRun('r-1')]), [
      { tool: 'acor_resume', arguments: { run: 'r-1' } },
      { tool: 'acor_logs', arguments: { run: 'r-1' } },
      { tool: 'acor_cancel', arguments: { run: 'r-1' } },
    ]);
  });

  it('leave out what may repeat the effects of a tool, which a client must decide', () => {
    assert.deepEqual(nextCalls([resumeRun('r-1', { force: true }), cancelRun('r-1')]), [
      { tool: 'acor_cancel', arguments: { run: 'r-1' } },
    ]);
  });

  it('wait for a run where the command line would attach to it', () => {
    assert.deepEqual(nextCalls([attachTo('r-1')]), [{ tool: 'acor_wait', arguments: { run: 'r-1' } }]);
  });

  it('are each there once, though several steps come to the same call', () => {
    const look = (operation: string) => ({ operation, input: { run: 'r-1' }, why: '' });
    const steps = ['run.show', 'run.artifacts', 'run.wait', 'run.decisions', 'run.attach'].map(look);
    assert.deepEqual(nextCalls(steps), [
      { tool: 'acor_show', arguments: { run: 'r-1' } },
      { tool: 'acor_wait', arguments: { run: 'r-1' } },
    ]);
  });

  it('give an answer as the value that it is, and a place for one as it is marked', () => {
    const answer = (value: string) => ({
      operation: 'run.answer',
      input: { run: 'r-1', action_id: 'a', value },
      why: '',
    });
    assert.deepEqual(nextCalls([answer('{"n":1}'), answer('<JSON>')]), [
      { tool: 'acor_answer', arguments: { run: 'r-1', action_id: 'a', value: { n: 1 } } },
      { tool: 'acor_answer', arguments: { run: 'r-1', action_id: 'a', value: '<JSON>' } },
    ]);
  });

  it('run a tool with the inputs that its words stand for, and not with words of another form', () => {
    const run = (...args: string[]) => ({
      operation: 'run.start',
      input: { tool: 't', plan: null, args },
      why: '',
    });
    assert.deepEqual(
      nextCalls([run(), run('--', 'a', 'b'), run('--input-json', '{"n":1}'), run('--n', '1')]),
      [
        { tool: 'acor_run', arguments: { tool: 't' } },
        { tool: 'acor_run', arguments: { tool: 't', arguments: { args: ['a', 'b'] } } },
        { tool: 'acor_run', arguments: { tool: 't', arguments: { n: 1 } } },
      ],
    );
  });

  it('leave out an operation that is not a tool here, and keep a command of another program', () => {
    const chmod = { command: 'chmod +x a', why: 'Make it executable.' };
    assert.deepEqual(nextCalls([approve('t'), chmod]), [{ command: 'chmod +x a' }]);
  });
});
