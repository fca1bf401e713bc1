import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOkExit, judge, timedOut } from './outcome.ts';
import { backoffMs, nextStep } from './retry.ts';
import { notStarted } from './run-executor.ts';

type Facts = Parameters<typeof judge>[0] & Parameters<typeof judge>[1];

const EXIT_CODES = { ok: 0, retryable_error: 20, fatal_error: 30 };
const usage = { cpu_s: null, max_rss_bytes: null };

function exited(rc: number | null, facts: Partial<Facts> = {}): Facts {
  const exit = { rc, signal: rc === null ? 'SIGKILL' : null, usage };
  return {
    ending: { kind: 'exited', exit },
    message: { type: 'result', status: 'ok' },
    protocolProblem: undefined,
    adapter: 'jsonl',
    strict: false,
    exitCodes: EXIT_CODES,
    extraCodes: {},
    ...facts,
  };
}

function outcomeOf(facts: Facts) {
  return judge(facts, facts);
}

function error(fields: Record<string, unknown>): Partial<Facts> {
  return { message: { type: 'error', ...fields } };
}

describe('the outcome of an attempt', () => {
  for (const [title, facts, expected] of [
    ['a result and 0 complete it', exited(0), ['completed', null, false]],
    ['a result and another code fail it', exited(1), ['failed', 'E_TOOL_FAILED', false]],
    ['a result and a signal fail it', exited(null), ['failed', 'E_TOOL_FAILED', false]],
    [
      'a result that calls itself failed is one',
      exited(0, { message: { type: 'result', status: 'failed' } }),
      ['failed', 'E_TOOL_FAILED', false],
    ],
    [
      'a result of a program that then stayed completes it',
      exited(null, { ending: { kind: 'lingered' } }),
      ['completed', null, false],
    ],
    [
      'an error of a program that then stayed fails it',
      exited(null, { ending: { kind: 'lingered' }, ...error({ code: 'E_RATE_LIMIT', msg: 'x' }) }),
      ['failed', 'E_RATE_LIMIT', true],
    ],
    ['nothing and 0 complete it', exited(0, { message: undefined }), ['completed', null, false]],
    [
      'nothing and 0 fail a strict tool',
      exited(0, { message: undefined, strict: true }),
      ['failed', 'E_NO_RESULT', false],
    ],
    [
      'nothing and retryable_error fail it for now',
      exited(20, { message: undefined }),
      ['failed', 'E_TOOL_FAILED', true],
    ],
    [
      'nothing and fatal_error fail it',
      exited(30, { message: undefined }),
      ['failed', 'E_TOOL_FAILED', false],
    ],
    [
      'an error fails it also with exit code 0',
      exited(0, error({ code: 'E_INPUT_NOT_FOUND', msg: 'x' })),
      ['failed', 'E_INPUT_NOT_FOUND', false],
    ],
    [
      'an error is retryable by the table',
      exited(1, error({ code: 'E_TRANSIENT_NET', msg: 'x' })),
      ['failed', 'E_TRANSIENT_NET', true],
    ],
    [
      'an error is retryable by its exit code before the table',
      exited(30, error({ code: 'E_TRANSIENT_NET', msg: 'x' })),
      ['failed', 'E_TRANSIENT_NET', false],
    ],
    [
      'an error is retryable by its own word before all else',
      exited(30, error({ code: 'E_UNKNOWN', msg: 'x', retryable: true })),
      ['failed', 'E_UNKNOWN', true],
    ],
    [
      'an error that is spelled wrong still fails it',
      exited(0, error({ code: 'oops' })),
      ['failed', 'E_TOOL_FAILED', false],
    ],
    [
      'cancelled is what the tool says',
      exited(130, { message: { type: 'cancelled', reason: 'cancel-file' } }),
      ['cancelled', null, false],
    ],
    [
      'a breach of the protocol fails a strict tool',
      exited(0, { strict: true, protocolProblem: 'pct' }),
      ['failed', 'E_PROTOCOL', false],
    ],
    [
      'a breach of the protocol is let pass otherwise',
      exited(0, { protocolProblem: 'pct' }),
      ['completed', null, false],
    ],
    [
      'a silent tool may be tried again',
      exited(0, { ending: { kind: 'silent', silentForS: 90 } }),
      ['failed', 'E_HEARTBEAT_MISSED', true],
    ],
    [
      'a cancellation wins over the result that comes after it',
      exited(0, { ending: { kind: 'cancelled', reason: 'enough' } }),
      ['cancelled', null, false],
    ],
  ] as const) {
    it(title, () => {
      const outcome = outcomeOf(facts as Facts);
      assert.deepEqual([outcome.state, outcome.code, outcome.retryable], expected);
    });
  }

  it('names the flag for a longer timeout', () => {
    assert.match(timedOut('the tool', { timeoutS: 1 }).hint ?? '', /--timeout/);
  });

  it('takes every exit code whose name begins with ok for success', () => {
    assert.equal(isOkExit(3, { ...EXIT_CODES, ok_partly: 3 }), true);
    assert.equal(isOkExit(3, EXIT_CODES), false);
    assert.equal(isOkExit(0, {}), true);
  });
});

describe('the next step after an attempt', () => {
  const retry = { maxAttempts: 3, backoffS: 1, maxBackoffS: 5 };
  const failure = outcomeOf(exited(20, { message: undefined }));
  const tool = ({ idempotent }: { idempotent: boolean }) => ({ idempotent, wasStopped: false });

  it('is another try only for a retryable failure, and only while tries are left', () => {
    assert.equal(nextStep(failure, 1, retry, tool({ idempotent: false })), 'retry');
    assert.equal(nextStep(failure, 3, retry, tool({ idempotent: true })), 'end');
    assert.equal(
      nextStep(outcomeOf(exited(30, { message: undefined })), 1, retry, tool({ idempotent: true })),
      'end',
    );
    assert.equal(nextStep(outcomeOf(exited(0)), 1, retry, tool({ idempotent: true })), 'end');
  });

  it('is none for a tool that was stopped mid-way, unless doing it twice is harmless', () => {
    assert.equal(nextStep(failure, 1, retry, { idempotent: false, wasStopped: true }), 'unknown');
    assert.equal(nextStep(failure, 1, retry, { idempotent: true, wasStopped: true }), 'retry');
  });

  it('is another try after an attempt that did not start, also for a tool that may not be repeated', () => {
    const { wasStopped } = notStarted(failure);
    assert.equal(nextStep(failure, 1, retry, { idempotent: false, wasStopped }), 'retry');
  });

  it('comes after a wait that doubles, has chance in it, and has a ceiling', () => {
    assert.deepEqual(
      [1, 2, 3, 4, 9].map((attempt) => backoffMs(attempt, retry, () => 1)),
      [1000, 2000, 4000, 5000, 5000],
    );
    assert.deepEqual(
      [1, 2].map((attempt) => backoffMs(attempt, retry, () => 0)),
      [500, 1000],
    );
  });
});
