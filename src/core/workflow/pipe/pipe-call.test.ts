import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { RunSummary } from '../../run/run-summary.ts';
import type { RunnerServices } from '../../run/services.ts';
import { callsOf, mayAsk, pipeCall, stagesOf } from './pipe-call.ts';
import { pipeOutcome } from './pipe-outcome.ts';
import type { PlannedStage } from './plan-pipe.ts';

describe('the calls of a pipe', () => {
  it('are words as a shell splits them, and become command lines again', () => {
    const lines = ['makes --n 5', "reads 'two words'"];
    assert.deepEqual(callsOf(lines), [
      ['makes', '--n', '5'],
      ['reads', 'two words'],
    ]);
    assert.deepEqual(pipeCall(callsOf(lines)), { kind: 'pipe', tool: 'pipe:makes|reads', args: lines });
    assert.deepEqual(stagesOf(lines), [
      { taskId: '1.makes', tool: 'makes', args: ['--n', '5'] },
      { taskId: '2.reads', tool: 'reads', args: ['two words'] },
    ]);
  });

  it('are two at least, and none is empty', () => {
    const refused = (lines: readonly string[], message: string) =>
      assert.throws(() => callsOf(lines), { code: 'E_USAGE', message });
    refused([], 'a pipe needs at least 2 tools, got 0');
    refused(['one'], 'a pipe needs at least 2 tools, got 1');
    refused(['one', ' '], 'stage 2 of the pipe cannot be read: it is empty');
    refused(["one 'x", 'two'], 'stage 1 of the pipe cannot be read: a quote in it is never closed');
  });

  it('may ask where one of the tools may', async () => {
    const registry = {
      find: async (name: string) => {
        if (name === 'unknown') throw new AcorError('E_TOOL_NOT_FOUND', 'no');
        return { manifest: { actions: name === 'asks' ? ['x'] : [] } };
      },
    };
    const config = { config: { security: { on_denied: 'deny' } } };
    const services = { registry, config } as unknown as RunnerServices;
    assert.equal(await mayAsk(services, ['quiet', 'asks']), true);
    assert.equal(await mayAsk(services, ['quiet', 'unknown']), false);
  });
});

describe('the outcome of a pipe', () => {
  const stage = { taskId: '2.reads', tool: 'reads', args: [], form: 'lines', mayCost: false } as PlannedStage;
  const summary = (more: Partial<RunSummary>) =>
    ({
      run_id: 'r-1',
      state: 'failed',
      code: null,
      message: null,
      hint: null,
      retryable: false,
      ...more,
    }) as RunSummary;

  it('is its first failure, before any ending', () => {
    const failed = summary({ code: 'E_RATE_LIMIT', message: 'enough', hint: 'Wait.', retryable: true });
    const outcome = pipeOutcome({ stage, summary: failed }, { kind: 'cancelled', reason: 'late' });
    const { state, code, message, hint, retryable, byRunner } = outcome;
    assert.deepEqual(
      [state, code, message, hint, retryable, byRunner],
      ['failed', 'E_RATE_LIMIT', 'stage 2.reads (r-1) failed: enough', 'Wait.', true, true],
    );
    const bare = pipeOutcome({ stage, summary: summary({}) }, undefined);
    assert.deepEqual([bare.code, bare.message], ['E_TOOL_FAILED', 'stage 2.reads (r-1) failed: ']);
    assert.notEqual(bare.hint, null);
    const coded = pipeOutcome({ stage, summary: summary({ code: 'E_DISK_FULL' }) }, undefined);
    assert.equal(coded.message, 'stage 2.reads (r-1) failed: E_DISK_FULL');
    const cancelled = pipeOutcome(
      { stage, summary: summary({ state: 'cancelled', message: 'by hand' }) },
      undefined,
    );
    assert.deepEqual(
      [cancelled.state, cancelled.message],
      ['failed', 'stage 2.reads (r-1) was cancelled: by hand'],
    );
    const error = new AcorError('E_POLICY_DENIED', 'no', { hint: 'Ask.' });
    const { code: why, message: said, hint: fix } = pipeOutcome({ stage, error }, undefined);
    assert.deepEqual([why, said, fix], ['E_POLICY_DENIED', 'stage 2.reads could not begin: no', 'Ask.']);
    assert.equal(pipeOutcome({ stage, error: new AcorError('E_STORAGE', 'no') }, undefined).hint, null);
  });

  it('is its ending otherwise', () => {
    const none = { code: null, hint: null, retryable: false, byRunner: false };
    assert.deepEqual(pipeOutcome(undefined, undefined), { ...none, state: 'completed', message: null });
    assert.deepEqual(pipeOutcome(undefined, { kind: 'cancelled', reason: 'enough' }), {
      ...none,
      state: 'cancelled',
      message: 'enough',
    });
    const late = pipeOutcome(undefined, { kind: 'deadline', timeoutS: 3, outputClosed: false });
    assert.deepEqual([late.code, late.message], ['E_DEADLINE', 'the pipe timed out after 3 s']);
    const error = new AcorError('E_DISK_FULL', 'full', { hint: 'Free some.' });
    const stored = pipeOutcome(undefined, { kind: 'store-failed', error });
    assert.deepEqual([stored.code, stored.message, stored.hint], ['E_DISK_FULL', 'full', 'Free some.']);
    const bare = pipeOutcome(undefined, {
      kind: 'store-failed',
      error: new AcorError('E_DISK_FULL', 'full'),
    });
    assert.equal(bare.hint, null);
    assert.throws(() => pipeOutcome(undefined, { kind: 'lingered' }), /a pipe does not end by lingered/);
  });
});
