import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERROR_CODES, type ErrorInfo, errorInfo } from './error-codes.ts';

const rows: readonly (readonly [string, ErrorInfo])[] = Object.entries(ERROR_CODES);

describe('the error table', () => {
  it('has a class, a default action and a hint in every row', () => {
    const classes = ['user_error', 'retryable', 'infra_error', 'policy_error', 'unknown'];
    for (const [code, row] of rows) {
      assert.ok(classes.includes(row.class), code);
      for (const text of [row.action, row.hint]) assert.ok(text.trim().length >= 10, `${code}: ${text}`);
      assert.match(row.action, /\.$/, `${code}: an action is a sentence`);
    }
    assert.equal(rows.length, 46);
  });

  it('has codes that messages may carry', () => {
    for (const [code] of rows) assert.match(code, /^E_[A-Z0-9_]+$/);
  });

  it('calls retryable whatever is of that class, and never a user or policy error', () => {
    for (const [code, row] of rows) {
      if (row.class === 'retryable') assert.equal(row.retryable, true, code);
      if (row.class === 'user_error' || row.class === 'policy_error')
        assert.equal(row.retryable, false, code);
    }
  });

  it('leaves an agent the default action of each code of the first taxonomy', () => {
    const actions: Record<string, RegExp> = {
      E_INPUT_NOT_FOUND: /ask the user.*do not retry/i,
      E_SCHEMA_MISMATCH: /mapping|schema update/i,
      E_TRANSIENT_NET: /retry.*backoff.*3/i,
      E_RATE_LIMIT: /back off.*concurrency/i,
      E_DEADLINE: /split.*batch/i,
      E_DISK_FULL: /free space.*workspace/i,
      E_PERMISSION: /permissions.*do not retry/i,
      E_HEARTBEAT_MISSED: /retry.*smaller batch/i,
      E_TIMEOUT: /timeout.*split/i,
      E_UNKNOWN: /triage.*context.*logs/i,
    };
    for (const [code, action] of Object.entries(actions))
      assert.match(errorInfo(code)?.action ?? '', action, code);
  });
});

describe('looking a code up', () => {
  const own: ErrorInfo = { class: 'infra_error', retryable: true, exit: 1, action: 'Wait.', hint: 'Wait.' };

  it('finds the built-in row', () => {
    assert.equal(errorInfo('E_DEADLINE'), ERROR_CODES.E_DEADLINE);
  });

  it("prefers the project's own row", () => {
    assert.equal(errorInfo('E_DEADLINE', { E_DEADLINE: own }), own);
    assert.equal(errorInfo('E_OWN', { E_OWN: own }), own);
  });

  it('finds nothing under a name that every object has', () => {
    for (const name of ['E_NOT_LISTED', 'constructor', 'toString', '__proto__', '']) {
      assert.equal(errorInfo(name), undefined, name);
      assert.equal(errorInfo(name, {}), undefined, name);
    }
  });
});
