import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { untrustedCode, untrustedText } from '../operations/system/explain/section.ts';
import { errorInfo } from '../protocol/error-codes.ts';
import { errorInCalls, explanationInCalls, inCalls, OWN_WORDS } from './surface-words.ts';

const SOURCES = join(import.meta.dirname, '..');

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

  it('has calls for each text of the core that names a flag of run, resume or retry', () => {
    const texts = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((name) => /^(?:core\/(?:run|workflow|guard|policy)|protocol)\/.*(?<!\.test)\.ts$/.test(name))
      .flatMap((name) => readFileSync(join(SOURCES, name), 'utf8').split('\n'))
      .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
      .flatMap((line) => line.match(/(['`]).*[a-z:(] ?--(?:force|dry-run|timeout|answer)\b.*\1/g) ?? []);
    assert.ok(texts.length >= 5, String(texts.length));
    for (const text of texts) assert.notEqual(inCalls(text), text, text);
  });

  it('looks for nothing that no source says any more', () => {
    const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('.test.') && !name.startsWith('mcp'))
      .map((name) => readFileSync(join(SOURCES, name), 'utf8'))
      .join('\n');
    // Commands are written from next steps.
    const said = (words: string) => words.replace(/acor (?:run |trust)$/, '');
    for (const words of Object.keys(OWN_WORDS)) assert.ok(sources.includes(said(words)), words);
  });
});
