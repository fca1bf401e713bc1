import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { readFlags } from './flags.ts';
import { readInput } from './input.ts';
import type { OperationDescription } from './operation.ts';
import { parametersOf } from './parameters.ts';

const op: OperationDescription = {
  name: 'a.b',
  summary: 'A.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    text: z.string().optional().describe('T.'),
    max_size: z.number().int().optional().describe('M.'),
    ratio: z.number().optional().describe('R.'),
    isOpen: z.boolean().optional().describe('I.'),
    level: z.enum(['low', 'high']).optional().describe('L.'),
    port: z.literal([80, 443]).optional().describe('P.'),
    tag: z.array(z.string()).optional().describe('T.'),
    sizes: z.array(z.number()).optional().describe('S.'),
    mixed: z.union([z.string(), z.number()]).nullable().optional().describe('X.'),
    any: z.unknown().optional().describe('A.'),
    record: z.record(z.string(), z.number()).optional().describe('R.'),
    url: z.url().optional().describe('U.'),
    limit: z.number().optional().describe('Its own limit.'),
  }),
  output: z.unknown(),
  example: 'app do',
};

async function read(...args: string[]): Promise<Record<string, unknown>> {
  const parameters = parametersOf(op);
  const line = readFlags(parameters, args, op);
  const sources = { cwd: '/', readStdin: async () => '', invocation: 'app do' };
  return readInput(op, parameters, line, sources);
}

async function problems(...args: string[]): Promise<string[]> {
  try {
    await read(...args);
    return [];
  } catch (error) {
    return (error as { details: { problems: { message: string }[] } }).details.problems.map(
      (each) => each.message,
    );
  }
}

describe('flags', () => {
  it('become values of the kind that the schema wants', async () => {
    const cases: [string[], Record<string, unknown>][] = [
      [['--text', '5'], { text: '5' }],
      [['--text='], { text: '' }],
      [['--text', '-'], { text: '-' }],
      [['--text', '-x'], { text: '-x' }],
      [['--text=--json'], { text: '--json' }],
      [['--max-size', '-3'], { max_size: -3 }],
      [['--max_size', '3'], { max_size: 3 }],
      [['--ratio', '1e-3'], { ratio: 0.001 }],
      [['--is-open'], { isOpen: true }],
      [['--isOpen=false'], { isOpen: false }],
      [['--no-is-open'], { isOpen: false }],
      [['--level', 'high'], { level: 'high' }],
      [['--port', '443'], { port: 443 }],
      [['--tag', 'a', '--tag=b', '--tag', ''], { tag: ['a', 'b', ''] }],
      [['--sizes', '1', '--sizes', '2.5'], { sizes: [1, 2.5] }],
      [['--mixed', '5'], { mixed: 5 }],
      [['--mixed', 'five'], { mixed: 'five' }],
      [['--any', '{"a":[1]}'], { any: { a: [1] } }],
      [['--any', 'yes'], { any: 'yes' }],
      [['--record', '{"a":1}'], { record: { a: 1 } }],
      [['--limit', '4'], { limit: 4 }],
    ];
    for (const [args, expected] of cases) assert.deepEqual(await read(...args), expected, args.join(' '));
  });

  it('are refused with words that say what is wrong', async () => {
    const cases: [string[], RegExp][] = [
      [['--max-size', '1.5'], /^--max-size must be a whole number, not 1\.5$/],
      [['--max-size', '0x10'], /^--max-size must be a number, not "0x10"$/],
      [['--max-size', ''], /^--max-size must be a number, not ""$/],
      [['--ratio', 'NaN'], /must be a number/],
      [['--is-open=maybe'], /^--is-open must be true or false/],
      [['--no-is-open=1'], /^--no-is-open takes no value$/],
      [['--is-open', '--no-is-open'], /^--is-open is repeated/],
      [['--text', 'a', '--text', 'b'], /^--text is repeated/],
      [['--text'], /^--text needs a value$/],
      [['--text', '--json'], /^--text needs a value$/],
      [['--level', 'hgh'], /^--level must be one of low, high, not "hgh"$/],
      [['--port', '81'], /^--port must be one of 80, 443, not 81$/],
      [['--record', 'x'], /^--record must be JSON/],
      [['--record', '{"a":"b"}'], /^--record at a must be a number, not "b"$/],
      [['--sizes', '1', '--sizes', 'x'], /^--sizes must be a number/],
      [['--url', 'x'], /^--url must be a URL, not "x"$/],
      [['--no-text'], /^unknown flag --no-text$/],
      [['-x'], /^unknown flag -x$/],
      [['---text'], /^unknown flag ---text$/],
      [['--__proto__=1'], /^unknown flag --__proto__$/],
      [['--constructor'], /^unknown flag --constructor$/],
      [['stray'], /^unexpected argument "stray"$/],
      [['--', '--text'], /^unexpected argument "--text"$/],
      [['-3'], /^unexpected argument "-3"$/],
      [['--json=1'], /^--json takes no value$/],
      [['--offset', '-1'], /^--offset must be a whole number/],
      [['--fields', 'a,,b'], /^--fields must be names/],
      [['--cwd', 'a', '--cwd', 'b'], /^--cwd is repeated/],
    ];
    for (const [args, expected] of cases) {
      const found = await problems(...args);
      assert.equal(found.length, 1, `${args.join(' ')}: ${found.join('; ')}`);
      assert.match(found[0]!, expected);
    }
  });

  it('come back as they were given, whatever the text and in whatever order', async () => {
    const random = seeded(20260101);
    for (let round = 0; round < 300; round++) {
      const text = randomText(random);
      const tags = Array.from({ length: 1 + Math.floor(random() * 4) }, () => randomText(random));
      const size = Math.floor((random() - 0.5) * 1e6);
      const groups = shuffle(random, [
        [`--text=${text}`],
        [`--max-size`, String(size)],
        ['--json'],
        ['--no-is-open'],
      ]);
      const args = [...groups.flat(), ...tags.map((tag) => `--tag=${tag}`)];
      assert.deepEqual(
        await read(...args),
        { text, max_size: size, isOpen: false, tag: tags },
        JSON.stringify(args),
      );
    }
  });

  it('never make the reader throw, whatever the arguments', () => {
    const random = seeded(7);
    const parts = [
      '--',
      '-',
      '--text',
      '--no-is-open',
      '-h',
      '--=',
      '-=',
      '--text=',
      '--tag',
      '',
      '\0',
      '-3',
      '--limit',
      '---',
    ];
    let read = 0;
    for (let round = 0; round < 500; round++) {
      const args = Array.from(
        { length: Math.floor(random() * 6) },
        () => parts[Math.floor(random() * parts.length)]! + (random() < 0.2 ? randomText(random) : ''),
      );
      readFlags(parametersOf(op), args, op);
      readFlags(parametersOf(op), args, { positionals: ['text'], passthrough: 'tag' });
      read++;
    }
    assert.equal(read, 500);
  });

  it('of the operation win over global ones of the same name', () => {
    const own = readFlags(parametersOf(op), ['--limit', '4', '--offset', '2'], op);
    assert.deepEqual([own.globals.limit, own.globals.offset], [undefined, 2]);
    const others = readFlags([], ['--limit', '4', '--fields', 'a,b', '--fields=c.d', '--toon', '-h']);
    const { limit, fields, toon, help, json } = others.globals;
    assert.deepEqual(
      { limit, fields, toon, help, json },
      { limit: 4, fields: ['a', 'b', 'c.d'], toon: true, help: true, json: false },
    );
  });
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomText(random: () => number): string {
  const alphabet = [
    'a',
    'Z',
    '0',
    ' ',
    '-',
    '=',
    '"',
    "'",
    '\n',
    '\\',
    '$',
    'é',
    '漢',
    '😀',
    ',',
    '.',
    '{',
    '@',
  ];
  return Array.from(
    { length: Math.floor(random() * 8) },
    () => alphabet[Math.floor(random() * alphabet.length)],
  ).join('');
}

function shuffle<T>(random: () => number, items: T[]): T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
