import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as z from 'zod';
import { captureCli } from './capture-cli.ts';
import { defineCli } from './define-cli.ts';
import { defineOperation } from './operation.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'state-folder-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const add = defineOperation({
  name: 'book.add',
  summary: 'Add a book.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({}),
  output: z.object({ count: z.int() }),
  example: 'shelf add',
  run: async () => ({ kind: 'data', data: { count: 1 } }),
});
const shelf = defineCli({
  name: 'shelf',
  version: '1.0.0',
  summary: 'Keep books.',
  commands: { add, 'add some': { ...add, name: 'book.some', rateLimit: '60/min' } },
});

async function call(state: string, ...argv: string[]) {
  const { stdout } = await captureCli(shelf, argv, { env: { XDG_STATE_HOME: state } });
  return JSON.parse(stdout);
}

describe('the folder of the state', () => {
  it('is named with its fix where it cannot be made', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const [state, argv] of [
      [file, ['add', '--idempotency-key', 'k']],
      [file, ['add', 'some']],
      ['/proc', ['add', '--idempotency-key', 'k']],
    ] as const) {
      const { error } = await call(state, ...argv);
      assert.equal(error.code, 'E_CONFIG_INVALID', JSON.stringify(error));
      assert.ok(error.message.includes(join(state, 'shelf')), error.message);
      assert.match(error.hint, /XDG_STATE_HOME/);
    }
    const made = join(folder, 'deep', 'state');
    assert.equal((await call(made, 'add', '--idempotency-key', 'k')).data.count, 1, 'the control');
    assert.equal(statSync(join(made, 'shelf', 'keys')).mode & 0o777, 0o700);
  });

  it('is refused at once by Node, whose own way to make folders has no end in /proc', {
    skip: spawnSync('node', ['--version']).status !== 0 && 'Node is not here',
  }, () => {
    const bundle = join(folder, 'state-folder.mjs');
    const source = join(import.meta.dirname, 'state-folder.ts');
    execFileSync(process.execPath, ['build', source, '--target=node', `--outfile=${bundle}`], {
      stdio: 'ignore',
    });
    const program = `import('${bundle}').then(({ stateFolder }) => stateFolder('shelf', 'keys', { XDG_STATE_HOME: '/proc' }))`;
    const { stderr, signal } = spawnSync('node', ['-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    assert.equal(signal, null);
    assert.match(stderr, /E_CONFIG_INVALID/);
  });

  it('may have the file of a key damaged: what the call did is not known', async () => {
    const state = join(folder, 'state');
    const keys = join(state, 'shelf', 'keys');
    const again = () => call(state, 'add', '--idempotency-key', 'k');
    assert.equal((await again()).data.count, 1);
    const file = join(keys, readdirSync(keys)[0]!);
    for (const content of ['null', '[]', '{}', '5', '{"input":"a","owner":null}', '']) {
      writeFileSync(file, content);
      const { error } = await again();
      assert.equal(error.code, 'E_OUTCOME_UNKNOWN', content);
      assert.ok(error.hint.includes(file));
    }
  });
});
