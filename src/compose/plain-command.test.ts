import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as z from 'zod';
import { captureCli } from './capture-cli.ts';
import type { CliApp } from './cli-app.ts';
import type { Operation, OperationResult } from './operation.ts';
import { parametersOf } from './parameters.ts';

const op: Operation<undefined> = {
  name: 'item.list',
  summary: 'Lists.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    tag: z.string().optional().describe('T.'),
    size: z.number().min(1).optional().describe('S.'),
  }),
  output: z.object({ by: z.string(), items: z.array(z.string()) }),
  list: 'items',
  example: 'app items',
  run: async () => answerOf('the operation'),
};

function answerOf(by: string): OperationResult<{ by: string; items: string[] }> {
  return { kind: 'data', data: { by, items: ['a', 'b'] } };
}

/** Who has answered a command line. */
async function answers(args: readonly string[], more: Partial<CliApp<undefined>> = {}): Promise<unknown> {
  const parameters = parametersOf(op).map((each) => ({ ...each, isPlain: each.key === 'tag' }));
  const { name, effect, list } = op;
  const plain = { name, effect, list: list!, parameters, run: async () => answerOf('the plain command') };
  const app: CliApp<undefined> = {
    name: 'app',
    version: '1',
    summary: 'An application.',
    routes: [{ operation: name, command: 'items', load: async () => op, plain: async () => plain }],
    errorInfo: () => undefined,
    openContext: () => undefined,
    ...more,
  };
  const { stdout } = await captureCli(app, ['items', ...args]);
  const { data, error, meta } = JSON.parse(stdout);
  assert.equal(meta.tool, 'item.list');
  if (data !== undefined) assert.equal(meta.count, data.items.length);
  return data?.by ?? error.code;
}

it('a plain command answers the lines that need no schema, and the operation all others', async () => {
  assert.equal(await answers([]), 'the plain command');
  assert.equal(await answers(['--tag', 'x', '--json']), 'the plain command');
  assert.equal(await answers(['--size', '3']), 'the operation');
  assert.equal(await answers(['--limit', '1']), 'the plain command');
  assert.equal(await answers(['--fields', 'by,items']), 'the operation');
  assert.equal(await answers(['--input-json', '{}']), 'the operation');
  assert.equal(await answers(['--size', '0']), 'E_USAGE');
});

it('an application that performs its operations itself has no plain commands', async () => {
  const perform = async () => answerOf('the application');
  assert.equal(await answers([], { perform }), 'the application');
});
