import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFlags } from '../compose/flags.ts';
import { asksForPart } from '../compose/globals.ts';
import { readInput } from '../compose/input.ts';
import type { Operation } from '../compose/operation.ts';
import { parametersOf } from '../compose/parameters.ts';
import { readPlainLine } from '../compose/plain-command.ts';
import { checkSelection } from '../compose/select.ts';
import type { AcorApp } from './acor-app.ts';
import { ROUTES } from './index.ts';

const ROUNDS = 4000;
const WORDS = [
  'a',
  '',
  '-',
  '--',
  '-3',
  'true',
  'false',
  'constructor',
  '[1]',
  '{}',
  '5m',
  '0',
  '1',
  'é',
  '--no-x',
  '-x',
  '--json',
];
const GLOBALS = [
  '--json',
  '--toon',
  '--help',
  '--fields',
  '--limit',
  '--offset',
  '--cwd',
  '--input-json',
  '-h',
  '-V',
  '--max-tokens',
];

/** Repeatable numbers from 0 to below 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A command line for an operation: its flags, global ones, and words, of which many are wrong. */
function lineFor(op: Operation<AcorApp>, random: () => number): string[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const flags = parametersOf(op).flatMap(({ flag, key, enum: values = [], kind }) => [
    [`--${flag}`, pick(WORDS)],
    [`--${flag}=${pick(WORDS)}`],
    [`--${key}`],
    ...(kind === 'boolean' ? [[`--no-${flag}`], [`--${flag}`], [`--${flag}=true`]] : []),
    ...values.map((value) => [`--${flag}`, String(value)]),
  ]);
  const words: string[] = [];
  for (let left = Math.floor(random() * 5); left > 0; left--) {
    const kind = random();
    if (kind < 0.6) words.push(...pick(flags));
    else if (kind < 0.9) words.push(pick(WORDS));
    else words.push(pick(GLOBALS), ...(random() < 0.5 ? [pick(WORDS)] : []));
  }
  return words;
}

for (const { operation, load, plain } of ROUTES) {
  if (plain === undefined) continue;
  describe(`the plain command of ${operation}`, () => {
    it('reads each line that it takes as the schema does, and takes none that the schema refuses', async () => {
      const op = await load();
      const command = await plain();
      const parameters = parametersOf(op);
      const random = randomFrom(7);
      let taken = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const args = lineFor(op, random);
        const read = readPlainLine(command, args);
        if (read === undefined) continue;
        taken++;
        const line = readFlags(parameters, args, op);
        const sources = { cwd: '/', env: {}, readStdin: async () => '', invocation: 'acor' };
        const input = await readInput(op, parameters, line, sources);
        // The order of the keys as well: the token of a plan depends on it.
        assert.equal(JSON.stringify(read.input), JSON.stringify(input), args.join(' '));
        assert.deepEqual(read.line, line, args.join(' '));
        if (asksForPart(line.globals)) checkSelection(op, line.globals);
      }
      assert.ok(taken > ROUNDS / 20, `${taken} of ${ROUNDS} lines`);
    });
  });
}

it('the command lines that are called most need no schema, and those with a problem get it', async () => {
  const isPlain = async (operation: string, ...args: string[]) => {
    const command = await ROUTES.find((route) => route.operation === operation)!.plain!();
    return readPlainLine(command, args) !== undefined;
  };
  assert.ok(await isPlain('tool.list'));
  assert.ok(await isPlain('tool.list', '--filter', 'log', '--json'));
  assert.ok(await isPlain('run.list', '--tool', 'a', '--state=failed'));
  assert.ok(await isPlain('run.start', '--no-stream', 'tool', '--input', 'a.json', '-v'));
  assert.ok(await isPlain('run.exec', '--read', 'a', '--', 'wc', '-l'));
  assert.ok(await isPlain('run.list', '--limit', '5', '--offset=2', '--max-tokens', '100'));
  assert.ok(await isPlain('run.show', 'r-1'));
  assert.ok(await isPlain('run.logs', 'r-1', '--follow', '--type', 'error'));
  assert.ok(!(await isPlain('run.logs', 'r-1', '--since', '5')));
  assert.ok(await isPlain('tool.describe', 'a', '--permissions'));
  assert.ok(!(await isPlain('run.list', '--fields', 'run_id')));
  assert.ok(!(await isPlain('run.start', '--limit', '5', 'tool')));
  assert.ok(!(await isPlain('run.start')));
  assert.ok(!(await isPlain('run.start', '--timeout', '5m', 'tool')));
  assert.ok(!(await isPlain('run.start', 'tool', '--json')));
  assert.ok(!(await isPlain('run.list', '--state', 'odd')));
  assert.ok(!(await isPlain('tool.list', '--help')));
});
