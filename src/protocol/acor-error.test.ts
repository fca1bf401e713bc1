import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AcorError } from './acor-error.ts';
import { VALIDATE } from './next-steps.ts';

describe('AcorError', () => {
  it('carries its code, message, hint, details, next steps and cause', () => {
    const cause = new Error('ENOENT');
    const error = new AcorError('E_CONFIG_INVALID', 'config.yaml:3:1: unknown key', {
      hint: 'Did you mean runs_dir?',
      details: { line: 3 },
      next: [VALIDATE],
      cause,
    });
    assert.ok(error instanceof Error);
    assert.equal(error.name, 'AcorError');
    assert.equal(error.message, 'config.yaml:3:1: unknown key');
    const { code, hint, details, next } = error;
    assert.deepEqual(
      { code, hint, details, next },
      {
        code: 'E_CONFIG_INVALID',
        hint: 'Did you mean runs_dir?',
        details: { line: 3 },
        next: [VALIDATE],
      },
    );
    assert.equal(error.cause, cause);
  });

  it('has no cause of its own when none was given', () => {
    assert.equal(Object.hasOwn(new AcorError('E_UNKNOWN', 'x'), 'cause'), false);
  });
});
