import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseArgs } from 'node:util';
import { type FlagForm, tokensOf } from './flags.ts';

const FORMS: Record<string, FlagForm> = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  fields: { type: 'string', short: 'f' },
  'input-json': { type: 'string' },
  limit: { type: 'string', short: 'n' },
  constructor: { type: 'string' as const },
};
const WORDS = [
  'tool',
  '',
  '-',
  '--',
  '-h',
  '-f',
  '-n',
  '-hf',
  '-fx',
  '-fh',
  '-xyz',
  '-hn3',
  '-3',
  '-3.5',
  '-f=a',
  '--help',
  '--json',
  '--no-json',
  '--fields',
  '--fields=a,b',
  '--fields=',
  '--limit',
  '--limit=-1',
  '--unknown',
  '--unknown=x=y',
  '--=x',
  '--constructor',
  '--toString',
  '---',
  '---x=1',
  '--a b',
  'a=b',
  '{"x":"--"}',
  'ä',
  '-ä',
  '--ä=ö',
];

describe('tokensOf', () => {
  it('splits every pair and triple of these words as parseArgs does', () => {
    let compared = 0;
    const compare = (...args: string[]) => {
      const { tokens } = parseArgs({
        args,
        options: FORMS,
        strict: false,
        allowPositionals: true,
        tokens: true,
      });
      assert.deepEqual(plain(tokensOf(args, FORMS)), plain(tokens), JSON.stringify(args));
      compared++;
    };
    for (const first of WORDS)
      for (const second of WORDS) {
        compare(first, second);
        for (const third of WORDS) compare(first, second, third);
      }
    assert.ok(compared > 40_000, String(compared));
  });
});

/** Without prototypes and keys that are undefined. */
function plain(tokens: readonly object[]): unknown {
  return JSON.parse(JSON.stringify(tokens));
}
