import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { untrustedCode, untrustedText } from '../operations/system/explain/section.ts';
import { errorInfo } from '../protocol/error-codes.ts';
import { errorInCalls, explanationInCalls, inCalls } from './surface-words.ts';

function explained(text: string): string {
  return explanationInCalls({ topic: null, sections: [{ heading: '', text }], topics: [] }).sections[0]!.text;
}

describe('an explanation of ACOR for a client with calls', () => {
  const cases: Readonly<Record<string, string>> = {
    'Read `acor logs <run> --type error`.': 'Read `acor_logs {"run":"<run>","type":"error"}`.',
    'Read `acor logs <run> --type error --type runner_error`.':
      'Read `acor_logs {"run":"<run>","type":["error","runner_error"]}`.',
    '`acor run <tool> … --dry-run`': '`acor_run {"tool":"<tool>","dry_run":true}`',
    '`acor run survey --topic x`': '`acor_run {"tool":"survey"}`',
    'See `acor list`.': 'See `acor_explain {}`.',
    'Before: `--dry-run`, `--idempotency-key KEY`.': 'Before: `dry_run`, `idempotency_key KEY`.',
    '`acor approve <tool>`': '(at a terminal: `acor approve <tool>`)',
    'ACOR and acor are names; `acor frobnicate` is no command -- a dash':
      'ACOR and acor are names; (at a terminal: `acor frobnicate`) is no command -- a dash',
  };
  for (const [text, expected] of Object.entries(cases))
    it(`has no command line: ${text}`, () => assert.equal(explained(text), expected));

  for (const text of ['runs git push --force, and acor list', 'see `acor list` and `--force`'])
    it(`keeps the words of a tool: ${text}`, () => {
      for (const shown of [
        untrustedText(text),
        untrustedCode(text),
        untrustedCode('acor list'),
        untrustedCode('--a, --b'),
      ])
        assert.equal(explained(shown), shown);
    });
});

describe('an error of ACOR for a client with calls', () => {
  it('names a longer timeout as a value that the parameter takes: a number of seconds', () => {
    assert.match(inCalls(errorInfo('E_DEADLINE')!.hint), /\(timeout \d+, in seconds\)/);
  });

  it('keeps flags and commands of others, beside words of its own', () => {
    const path = 'my --dry-run --answers acor show file.txt';
    const hint = `There is no ${path}. If a repeat is harmless, add --force, or do not acor run it.`;
    const error = { code: 'E_X', message: path, hint, class: 'unknown', retryable: false, action: path };
    assert.deepEqual(errorInCalls(error, false), {
      ...error,
      hint: hint.replace('add --force', 'add force'),
    });
  });
});
