import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ROOT, TestProject } from '../support/project.ts';
import { noTerminal, Terminal } from '../support/terminal.ts';

const PROGRAM = `
import { defineCli, defineOperation, serve, z } from ${JSON.stringify(join(ROOT, 'src/compose/index.ts'))};
const add = defineOperation({
  name: 'book.add', summary: 'Add a book.', effect: 'writes', idempotent: true, rateLimit: null,
  input: z.object({
    title: z.string().describe('The title.'),
    shelf: z.enum(['top', 'low']).describe('Which shelf.'),
    code: z.string().meta({ secret: true }).describe('The secret code.'),
  }),
  output: z.object({ title: z.string(), shelf: z.string(), letters: z.int() }),
  positionals: ['title'], example: 'shelf add Emma --shelf top --code 1',
  run: async ({ title, shelf, code }) => ({ kind: 'data', data: { title, shelf, letters: code.length } }),
});
const drop = defineOperation({
  name: 'book.drop', summary: 'Remove a book.', effect: 'destroys', idempotent: true, rateLimit: null,
  input: z.object({ title: z.string().describe('Its title.') }), output: z.object({ dropped: z.string() }),
  positionals: ['title'], example: 'shelf drop Emma',
  run: async ({ title }) => ({ kind: 'data', data: { dropped: title } }),
});
await serve(defineCli({ name: 'shelf', version: '1.0.0', summary: 'Keeps books.', commands: { add, drop } }));
`;

describe('a command line of the kit at a terminal', { skip: noTerminal }, () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('shelf.ts', PROGRAM);
  });
  after(() => project[Symbol.dispose]());
  const start = (...args: string[]) =>
    new Terminal(project, [], { command: [process.execPath, project.path('shelf.ts'), ...args] });

  it('asks for each input that is missing, and does not show a secret', async () => {
    const terminal = start('add');
    await terminal.shows('The title:');
    terminal.type('Emma\r');
    await terminal.shows('2) low');
    terminal.type('2\r');
    await terminal.shows('The secret code:');
    terminal.type('hush\r');
    await terminal.ended;
    assert.match(terminal.text, /title +Emma\s+shelf +low\s+letters +4/);
    assert.doesNotMatch(terminal.text, /hush/);
  });

  it('asks before it destroys, and not with --yes', async () => {
    const asked = start('drop', 'Emma');
    await asked.shows('Type yes to go on');
    asked.type('no\r');
    await asked.ended;
    assert.match(asked.text, /E_CANCELLED: nothing was done/);
    const confirmed = start('drop', 'Emma');
    await confirmed.shows('Type yes to go on');
    confirmed.type('yes\r');
    await confirmed.ended;
    assert.match(confirmed.text, /dropped +Emma/);
    const beforehand = start('drop', 'Emma', '--yes');
    await beforehand.ended;
    assert.match(beforehand.text, /dropped +Emma/);
    assert.doesNotMatch(beforehand.text, /Type yes/);
  });
});
