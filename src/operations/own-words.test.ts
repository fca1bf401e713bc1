import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inWordsOf, OWN_WORDS } from './own-words.ts';

const SOURCES = join(import.meta.dirname, '..');

describe('the words of a caller without a command line', () => {
  it('has other words for each text of the core that names a flag of run, resume or retry', () => {
    const texts = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((name) => /^(?:core\/(?:run|workflow|guard|policy)|protocol)\/.*(?<!\.test)\.ts$/.test(name))
      .flatMap((name) => readFileSync(join(SOURCES, name), 'utf8').split('\n'))
      .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
      .flatMap((line) => line.match(/(['`]).*[a-z:(] ?--(?:force|dry-run|timeout|answer)\b.*\1/g) ?? []);
    assert.ok(texts.length >= 5, String(texts.length));
    for (const text of texts)
      for (const caller of ['calls', 'library'] as const)
        assert.notEqual(inWordsOf(caller, text), text, text);
  });

  it('looks for nothing that no source says any more', () => {
    const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('.test.') && !name.endsWith('own-words.ts'))
      .map((name) => readFileSync(join(SOURCES, name), 'utf8'))
      .join('\n');
    // Commands are written from next steps.
    const said = (words: string) => words.replace(/acor (?:run |trust)$/, '').replace(/--\w+ $/, '');
    for (const words of Object.keys(OWN_WORDS)) assert.ok(sources.includes(said(words)), words);
  });
});
