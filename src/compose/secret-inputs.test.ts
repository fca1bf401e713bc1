import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as z from 'zod';
import { captureCli } from './capture-cli.ts';
import { defineCli } from './define-cli.ts';
import { defineOperation } from './operation.ts';
import { functionTools, serveHttp } from './surfaces.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'secret-inputs-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const secret = { secret: true };
const shelf = defineCli({
  name: 'shelf',
  version: '1.0.0',
  summary: 'Keep books.',
  commands: {
    list: defineOperation({
      name: 'book.list',
      summary: 'List the books.',
      effect: 'reads',
      idempotent: true,
      rateLimit: null,
      input: z.object({
        token: z
          .string()
          .min(12)
          .optional()
          .meta({ ...secret, env: 'SHELF_TOKEN' })
          .describe('T.'),
        pin: z.int().optional().meta(secret).describe('P.'),
        pair: z.strictObject({ user: z.string() }).optional().meta(secret).describe('P.'),
        kind: z.enum(['hunter1', 'other']).optional().meta(secret).describe('K.'),
        open: z.string().min(12).optional().describe('O.'),
      }),
      output: z.object({ books: z.array(z.string()) }),
      list: 'books',
      pageSize: 1,
      example: 'shelf list',
      run: async () => ({ kind: 'data', data: { books: ['Emma', 'Ulysses'] } }),
    }),
  },
});

async function call(argv: readonly string[], env: Record<string, string> = {}) {
  const { stdout, stderr } = await captureCli(shelf, argv, { env, cwd: folder });
  return { text: stdout + stderr, ...JSON.parse(stdout) };
}

describe('the value of a secret input', () => {
  it('is not in the message about it, whatever way it came', async () => {
    const json = (value: object) => ['list', '--input-json', JSON.stringify(value)];
    for (const argv of [
      ['list', '--token', 'hunter2'],
      ['list', '--token', '--hunter2'],
      ['list', '--pin', 'hunter2'],
      ['list', '--pair', 'hunter2'],
      ['list', '--pair', '{"hunter2":1}'],
      ['list', '--kind', 'hunter2'],
      json({ token: 'hunter2' }),
      json({ pin: 'hunter2' }),
      json({ pair: { user: 'a', hunter2: 1 } }),
      ['list', '--input-json', '{"token":hunter2}'],
    ]) {
      const { text, error } = await call(argv);
      assert.equal(error.code, 'E_USAGE', argv.join(' '));
      assert.match(error.message, /^(2 problems: )?--(token|pin|pair|kind|input-json)/);
      assert.ok(!text.includes('hunter2'), text);
    }
    assert.ok(!(await call(['list'], { SHELF_TOKEN: 'hunter2' })).text.includes('hunter2'));
    assert.ok((await call(['list', '--open', 'hunter2'])).text.includes('hunter2'), 'the control');
  });

  it('is not in the answer of other surfaces about it', async () => {
    const [tool] = await functionTools(shelf);
    const answer = await tool!.call({ token: 'hunter2' });
    assert.ok(!answer.ok && !JSON.stringify(answer).includes('hunter2'));
    const server = await serveHttp(shelf);
    try {
      const headers = { authorization: `Bearer ${server.token}` };
      const text = await (await fetch(`${server.url}book.list?pin=hunter2`, { headers })).text();
      assert.match(text, /pin must be a number/);
      assert.ok(!text.includes('hunter2'));
    } finally {
      await server.close();
    }
  });

  it('is in no command for the next page, which is left out where it would have one', async () => {
    const token = 'hunter2hunter2';
    for (const argv of [
      ['list', '--token', token],
      ['list', '--input-json', JSON.stringify({ token })],
    ]) {
      const { text, data, meta } = await call(argv);
      assert.deepEqual([data.books, meta.hasMore], [['Emma'], true]);
      assert.ok(!text.includes(token), text);
    }
    // The controls: there the command has no value of it.
    writeFileSync(join(folder, 'input.json'), JSON.stringify({ token }));
    for (const [argv, env] of [
      [['list'], { SHELF_TOKEN: token }],
      [['list', '--input-json', '@input.json'], {}],
    ] as const)
      assert.match((await call(argv, env)).meta.next[0], /--offset 1/);
  });
});
