import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { doubles } from '../../examples/compose/doubles.ts';
import { BASE_ERRORS } from './base-errors.ts';
import { BUILTIN_COMMANDS } from './builtins/names.ts';
import { captureCli } from './capture-cli.ts';
import { checkContract } from './check-contract.ts';
import { createKit, defineCli } from './define-cli.ts';
import { defineOperation } from './operation.ts';

const READS = { effect: 'reads', idempotent: true, rateLimit: null } as const;
const SERVE = join(import.meta.dirname, 'serve.ts');
const DEFINE = join(import.meta.dirname, 'define-cli.ts');

/** Runs a program that is made of a definition, in a process of its own. */
function run(source: string, args: readonly string[], env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'define-cli-'));
  try {
    const file = join(folder, 'main.ts');
    writeFileSync(file, source);
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
      encoding: 'utf8',
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', ...env },
    });
    return { status, stdout, stderr };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const NOISY = `
import { serve } from ${JSON.stringify(SERVE)};
import { defineCli } from ${JSON.stringify(DEFINE)};
import * as z from ${JSON.stringify(join(import.meta.dirname, '../../node_modules/zod/index.js'))};
await serve(defineCli({
  name: 'noisy', version: '1.0.0', summary: 'Prints beside its answer.',
  commands: { 'items list': {
    name: 'items.list', summary: 'List the items.', effect: 'reads', idempotent: true, rateLimit: null,
    input: z.object({ owner: z.string().default('Eve').meta({ env: 'NOISY_OWNER' }).describe('Whose.') }),
    output: z.object({ owner: z.string() }), example: 'noisy items list',
    async run({ owner }) {
      console.log('from console'); console.table([1]); process.stdout.write('from stdout\\n');
      return { kind: 'data', data: { owner } };
    },
  } },
}));`;

describe('a command line that is defined with the kit', () => {
  it('keeps the contract in the example, as its author checks it', async () => {
    assert.deepEqual(await checkContract(doubles), []);
  });

  it('answers with a page of a list where the operation has a pageSize and the caller no limit', async () => {
    const paged = defineCli({
      name: 'paged',
      version: '1.0.0',
      summary: 'Lists numbers.',
      commands: {
        'numbers list': defineOperation({
          ...READS,
          name: 'numbers.list',
          summary: 'List the numbers.',
          input: z.object({}),
          output: z.object({ numbers: z.array(z.number()) }),
          pageSize: 2,
          example: 'paged numbers list',
          run: async () => ({ kind: 'data' as const, data: { numbers: [1, 2, 3, 4, 5] } }),
        }),
      },
    });
    const listed = async (...flags: string[]) =>
      JSON.parse((await captureCli(paged, ['numbers', 'list', ...flags])).stdout);
    const page = await listed();
    assert.deepEqual(page.data.numbers, [1, 2]);
    assert.deepEqual([page.meta.total, page.meta.next], [5, ['paged numbers list --offset 2']]);
    assert.deepEqual((await listed('--offset', '2')).data.numbers, [3, 4]);
    assert.deepEqual((await listed('--limit', '4')).data.numbers, [1, 2, 3, 4]);
    assert.deepEqual((await listed('--max-tokens', '5000')).data.numbers, [1, 2, 3, 4, 5]);
    assert.match((await captureCli(paged, ['numbers', 'list', '--help'])).stdout, /2 at once unless --limit/);
  });

  it('has the built-in commands', () => {
    assert.deepEqual(
      doubles.routes.map(({ command }) => command),
      [
        'copies list',
        'copies remove',
        'files hash',
        'scan',
        'tools',
        'health',
        'config show',
        'errors',
        'explain',
        'complete',
        'man',
        'mcp',
        'complete-words',
      ],
    );
  });

  it('names them in the one list that others read', () => {
    const shown = doubles.routes.filter(({ hidden }) => hidden !== true).map(({ command }) => command);
    assert.deepEqual(shown.slice(-BUILTIN_COMMANDS.length), BUILTIN_COMMANDS);
  });

  it('loads the module of a lazy command only when it is called, and adds the inputs of the kit', async () => {
    let loads = 0;
    const kit = createKit<{ owner: string }>();
    const drop = kit.defineOperation({
      name: 'item.drop',
      summary: 'Remove an item.',
      effect: 'destroys',
      idempotent: true,
      rateLimit: null,
      input: z.object({ id: z.string().describe('Which.') }),
      output: z.object({ dropped: z.string() }),
      positionals: ['id'],
      example: 'lazy group items drop a',
      run: async ({ id }, { app }) => ({ kind: 'data', data: { dropped: `${app.owner}/${id}` } }),
    });
    const load = async () => {
      loads++;
      return drop;
    };
    const lazy = kit.defineCli({
      name: 'lazy',
      version: '1.0.0',
      summary: 'Loads late.',
      commands: { 'group items drop': { operation: 'item.drop', positionals: ['id'], load } },
      context: () => ({ owner: 'Ada' }),
    });
    await captureCli(lazy, ['errors']);
    assert.equal(loads, 0);
    const { stdout } = await captureCli(lazy, ['group', 'items', 'drop', 'a', '--yes']);
    assert.deepEqual([JSON.parse(stdout).data, loads], [{ dropped: 'Ada/a' }, 1]);
  });

  it('answers on stdout alone, whatever is printed beside the answer', () => {
    const { status, stdout, stderr } = run(NOISY, ['items', 'list']);
    assert.equal(status, 0, stderr);
    assert.equal(JSON.parse(stdout).data.owner, 'Eve');
    assert.equal(stdout.split('\n').length, 2);
    assert.match(stderr, /from console/);
    assert.match(stderr, /from stdout/);
  });

  it('takes an input from its variable, and a flag before it', () => {
    const env = { NOISY_OWNER: 'Ada' };
    const owner = (args: string[]) =>
      JSON.parse(run(NOISY, ['items', 'list', ...args], env).stdout).data.owner;
    assert.equal(owner([]), 'Ada');
    assert.equal(owner(['--owner', 'Bob']), 'Bob');
    assert.equal(owner(['--input-json', '{"owner":"Cy"}']), 'Cy');
    assert.match(run(NOISY, ['items', 'list', '--help']).stdout, /or the variable NOISY_OWNER/);
  });

  it('opens its context once when a person is asked, and closes it, also after an error', async () => {
    const calls: string[] = [];
    const { defineCli: defineWith, defineOperation: operationWith } = createKit<number>();
    const pair = operationWith({
      ...READS,
      name: 'items.pair',
      summary: 'Pair two items.',
      input: z.object({ left: z.string().describe('One.'), right: z.string().describe('Another.') }),
      output: z.object({ context: z.int() }),
      positionals: ['left', 'right'],
      example: 'box items pair a b',
      run: async (_, ctx) => ({ kind: 'data', data: { context: ctx.app } }),
    });
    const box = defineWith({
      name: 'box',
      version: '1.0.0',
      summary: 'Keeps items.',
      commands: { 'items pair': pair },
      context: () => calls.push('open'),
      close: (context) => void calls.push(`close ${context}`),
      values: async ({ key }) => (key === 'left' ? [{ value: 'a', about: '' }] : undefined),
    });
    const person = {
      say: async () => true,
      askForText: async () => 'b',
      askForSecret: async () => 'b',
      ask: async () => ({ value: 'a' }),
    };
    const asking = {
      ...box,
      terminal: async () => ({ presenter: async () => undefined, person: () => person }),
    };
    const terminal = { stdinIsTTY: true, stdoutIsTTY: true };
    assert.equal((await captureCli(asking, ['items', 'pair'], terminal)).exit, 0);
    assert.deepEqual(calls.splice(0), ['open', 'close 1']);
    assert.equal((await captureCli(box, ['items', 'pair'])).exit, 1);
    assert.equal((await captureCli(box, ['items', 'pair', '--right', 'b'])).exit, 1);
    assert.deepEqual(
      calls.filter((each) => each === 'open').length,
      calls.filter((each) => each !== 'open').length,
    );
    assert.ok(calls.includes('open'), 'the example of the error asks for values');
  });

  it('is found wrong by checkContract, with a fix for each problem', async () => {
    const wrong = defineOperation({
      ...READS,
      name: 'items',
      summary: '',
      effect: 'destroys',
      rateLimit: 'often',
      deprecated: { use: 'bad nothing' },
      input: z.object({
        json: z.string().default(''),
        id: z.string().default('').meta({ short: 'h' }).describe('Which.'),
        all: z.boolean().default(false).meta({ short: 'h' }).describe('All of them.'),
        old: z.string().default('').meta({ replacement: '--new' }).describe('Replaced.'),
      }),
      list: 'items',
      output: z.object({}),
      positionals: ['nothing'],
      example: 'other items',
      run: async () => ({ kind: 'data' as const, data: {} }),
    });
    const refused = defineOperation({
      ...READS,
      name: 'items.find',
      summary: 'Find items.',
      input: z.object({ words: z.string().describe('What to find.') }),
      output: z.object({}),
      example: 'bad items find --nonsense',
      run: async () => ({ kind: 'data' as const, data: {} }),
    });
    const problems = await checkContract(
      defineCli({
        name: 'bad',
        version: '1.0.0',
        summary: 'Breaks the contract.',
        commands: { 'items drop': wrong, 'items rm': wrong, 'items find': refused },
        errors: { NO_CODE: { class: 'user_error', retryable: false, exit: 0, action: 'Stop.', hint: '' } },
      }),
    );
    const messages = problems
      .filter(({ command }) => command === 'errors' || command.startsWith('items'))
      .map(({ message }) => message);
    for (const expected of [
      "the name 'items' is not group.action",
      'it has no summary',
      "the positional 'nothing' is not an input",
      "the input 'json' has no description",
      'the flag --json hides the global one',
      'it changes something and has no --dry-run',
      'its example does not call it: other items',
      "'items drop' has the same name items",
      'two inputs have the letter -h',
      'the letter -h hides the global one',
      "the rate limit 'often' cannot be read",
      'what replaces it is no other command: bad nothing',
      "what replaces the input 'old' is no other input: --new",
      "its list 'items' is no array of the output",
      'its example is refused: unknown flag --nonsense',
      'its example is refused: --words is required',
      'the row of NO_CODE: its code is not E_ and capital letters',
      'the row of NO_CODE: it has no hint',
      'the row of NO_CODE: its exit code is 0, not 1 or 2',
    ])
      assert.ok(messages.includes(expected), `${expected} is not among ${messages.join('; ')}`);
    assert.ok(problems.every(({ fix }) => fix.length > 10));
  });

  it('shows its error codes, and refuses one that does not exist', async () => {
    const codes = JSON.parse(run(NOISY, ['errors', '--fields', 'code']).stdout).data.codes;
    assert.deepEqual(
      codes.map(({ code }: { code: string }) => code),
      Object.keys(BASE_ERRORS).sort(),
    );
    assert.equal(run(NOISY, ['errors', 'E_NONE']).status, 1);
  });
});
