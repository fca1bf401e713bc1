import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorInfo } from '../protocol/error-codes.ts';
import { inCalls } from './surface-words.ts';

describe('a text of ACOR for a client with calls', () => {
  const cases: Readonly<Record<string, string>> = {
    'Read `acor logs <run> --type error`.': 'Read `acor_logs {"run":"<run>","type":"error"}`.',
    'Read `acor logs <run> --type error --type runner_error`.':
      'Read `acor_logs {"run":"<run>","type":["error","runner_error"]}`.',
    '`acor run <tool> … --dry-run`': '`acor_run {"tool":"<tool>","dry_run":true}`',
    '`acor run survey --topic x`': '`acor_run {"tool":"survey"}`',
    'See `acor list`.': 'See `acor_explain {}`.',
    'Answer it with acor answer, or wait.': 'Answer it with acor_answer, or wait.',
    'Give it more time with --timeout, or --max-output-size.':
      'Give it more time with timeout, or max_output_size.',
    '`acor approve <tool>`': '(at a terminal: `acor approve <tool>`)',
    'by acor approve alone': 'by (at a terminal: `acor approve`) alone',
    'ACOR and acor are names; acor frobnicate is no command -- a dash':
      'ACOR and acor are names; acor frobnicate is no command -- a dash',
  };
  for (const [text, expected] of Object.entries(cases))
    it(`has no command line: ${text}`, () => assert.equal(inCalls(text), expected));

  it('names a longer timeout as a value that the parameter takes: a number of seconds', () => {
    assert.match(inCalls(errorInfo('E_DEADLINE')!.hint), /\(timeout \d+, in seconds\)/);
  });
});
