import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { readFlags } from './flags.ts';
import { readInput } from './input.ts';
import { takeKnownFlags } from './known-flags.ts';
import type { OperationDescription } from './operation.ts';
import { parametersOf } from './parameters.ts';

const op: OperationDescription = {
  name: 'a.b',
  summary: 'A.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    where: z.string().optional().describe('W.'),
    args: z.array(z.string()).optional().describe('A.'),
    timeout: z.number().positive().max(9).optional().describe('T.'),
    below: z.number().lt(3).optional().describe('B.'),
    retries: z.int().min(0).optional().describe('R.'),
    steps: z.number().multipleOf(5).optional().describe('S.'),
    title: z.string().min(2).optional().describe('T.'),
    letter: z.string().length(1).optional().describe('L.'),
    tag: z.array(z.string().min(1)).max(2).optional().describe('T.'),
    word: z
      .string()
      .regex(/^[a-z]+$/)
      .optional()
      .describe('W.'),
    when: z.iso.datetime().optional().describe('W.'),
    max_age: z
      .union([z.number(), z.literal('forever')])
      .optional()
      .describe('M.'),
    color: z.enum(['red', 'green']).optional().describe('C.'),
    limits: z
      .strictObject({ rows: z.int().min(1) })
      .optional()
      .describe('L.'),
    own: z.number().min(0, 'the author’s own words').optional().describe('O.'),
  }),
  output: z.unknown(),
  positionals: ['where'],
  example: 'app do --timeout 5',
};

interface Refusal {
  message: string;
  hint: string;
}

async function refusalOf(args: readonly string[]): Promise<Refusal> {
  const parameters = parametersOf(op);
  const line = readFlags(parameters, args, op);
  const sources = { cwd: '/', readStdin: async () => '', invocation: 'app do', example: op.example };
  return readInput(op, parameters, line, sources).then(
    (input) => assert.fail(`taken: ${JSON.stringify(input)}`),
    ({ message, hint }: Refusal) => ({ message, hint }),
  );
}

const CASES: readonly [args: string[], message: string][] = [
  [['--timeout', '-1'], '--timeout must be greater than 0, not -1'],
  [['--timeout', '0'], '--timeout must be greater than 0, not 0'],
  [['--timeout', '10'], '--timeout must be at most 9, not 10'],
  [['--below', '3'], '--below must be less than 3, not 3'],
  [['--retries', '-1'], '--retries must be at least 0, not -1'],
  [['--retries', '1.5'], '--retries must be a whole number, not 1.5'],
  [['--steps', '7'], '--steps must be a multiple of 5, not 7'],
  [['--title', 'x'], '--title must have at least 2 characters, not "x"'],
  [['--letter', 'ab'], '--letter must have exactly 1 character, not "ab"'],
  [['--tag', 'a', '--tag', ''], '--tag must have at least 1 character, not ""'],
  [['--tag', 'a', '--tag', 'b', '--tag', 'c'], '--tag must have at most 2 elements, not ["a","b","c"]'],
  [['--word', 'A1'], '--word must match /^[a-z]+$/, not "A1"'],
  [['--when', 'noon'], '--when must be a time such as 2030-01-31T12:00:00Z, not "noon"'],
  [['--max-age', '"old"'], '--max-age must be a number or be forever, not "old"'],
  [['--color', 'rde'], '--color must be one of red, green, not "rde"'],
  [['--input-json', '{"color":{"toString":1}}'], '--color must be one of red, green, not {"toString":1}'],
  [['--limits', '{"rows":0}'], '--limits at rows must be at least 1, not 0'],
  [['--limits', '{}'], '--limits at rows must be a number; it is missing'],
  [['--limits', '{"rows":1,"cols":2}'], '--limits must not have the key "cols"'],
  [['--limits', '[]'], '--limits must be a JSON object, not []'],
  [['--input-json', '{"retries":"2"}'], '--retries must be a number, not "2"'],
  [['--own', '-1'], '--own: the author’s own words'],
];

describe('what a schema refuses', () => {
  for (const [args, message] of CASES) {
    it(`is reported plainly: ${message}`, async () => assert.equal((await refusalOf(args)).message, message));
  }

  it('is reported in the same words among the arguments of another program', () => {
    const passing = { ...op, passthrough: 'args' };
    assert.throws(() => takeKnownFlags(passing, ['x', '--retries', '-1'], () => false), {
      message: '--retries must be at least 0, not -1',
    });
  });

  it('cuts a long value short', async () => {
    const { message } = await refusalOf(['--word', 'A'.repeat(5000)]);
    assert.ok(message.length < 150, message);
  });
});

describe('the hint of a bad command line', () => {
  for (const [what, args, hint] of [
    [
      'an example with the flag when nothing better is known',
      ['--timeout', '-1'],
      /^For example: app do --timeout 5 \(see: app do --help\)$/,
    ],
    ['the help when the example has another flag', ['--retries', '-1'], /^See: app do --help$/],
    ['the nearest of the choices', ['--color', 'gren'], /^Did you mean green\? See: /],
    ['the nearest flag', ['--timeuot', '3'], /^Did you mean --timeout\? See: /],
    [
      'the flags there are when none is near',
      ['--xyzzy'],
      /^Its flags: .*--args, --timeout, --below, .*--own\. /,
    ],
    ['the arguments that are taken', ['a', 'b'], /^It takes <where>\. See: /],
  ] as const) {
    it(`is ${what}`, async () => assert.match((await refusalOf(args)).hint, hint));
  }
});
