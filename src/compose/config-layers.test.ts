import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import * as z from 'zod';
import { captureCli } from './capture-cli.ts';
import { defineCli } from './define-cli.ts';
import { defineOperation } from './operation.ts';

const show = defineOperation({
  name: 'box.show',
  summary: 'Show what it got.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    owner: z
      .string()
      .default('no-one')
      .meta({ short: 'o', env: 'BOX_OWNER', config: 'box.owner' })
      .describe('Whose.'),
    size: z.int().max(9).optional().meta({ config: 'box.size', replacement: '--owner' }).describe('How big.'),
    edge: z.int().max(9).optional().meta({ env: 'BOX_EDGE' }).describe('How long.'),
    token: z.string().optional().meta({ config: 'token', secret: true }).describe('The key.'),
  }),
  output: z.object({ owner: z.string(), size: z.int().optional() }),
  example: 'box show -o Ada',
  run: async ({ owner, size }) => ({ kind: 'data', data: { owner, size } }),
});
const box = defineCli({ name: 'box', version: '1.0.0', summary: 'A box.', commands: { show } });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'layers-'));
  mkdirSync(join(folder, 'project', 'inner'), { recursive: true });
  mkdirSync(join(folder, 'config', 'box'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const projects = () => join(folder, 'project', '.box.json');
const users = () => join(folder, 'config', 'box', 'config.json');

async function call(argv: readonly string[], env: Record<string, string> = {}) {
  const { exit, stdout } = await captureCli(box, argv, {
    cwd: join(folder, 'project', 'inner'),
    env: { XDG_CONFIG_HOME: join(folder, 'config'), ...env },
  });
  return { exit, ...JSON.parse(stdout) };
}

describe('the layers of a setting', () => {
  it('are the flag, the variable, the file of the folder or above it, that of the user, and the default', async () => {
    const owner = async (argv: readonly string[] = [], env = {}) =>
      (await call(['show', ...argv], env)).data.owner;
    assert.equal(await owner(), 'no-one');
    writeFileSync(users(), '{"box":{"owner":"user"},"token":"t-123"}');
    assert.equal(await owner(), 'user');
    writeFileSync(projects(), '{"box":{"owner":"project"}}');
    assert.equal(await owner(), 'project');
    assert.equal(await owner([], { BOX_OWNER: 'variable' }), 'variable');
    assert.equal(await owner(['-o', 'flag'], { BOX_OWNER: 'variable' }), 'flag');
    assert.equal(await owner(['-oflag']), 'flag');
    const { data } = await call(['config', 'show']);
    assert.deepEqual(data.settings, [
      { key: 'box.owner', value: 'project', source: projects() },
      { key: 'box.size', value: null, source: 'default' },
      { key: 'token', value: '(secret)', source: users() },
    ]);
    const [first] = (await call(['config', 'show', 'box.owner'], { BOX_OWNER: 'Eve' })).data.settings;
    assert.deepEqual(first, { key: 'box.owner', value: 'Eve', source: 'BOX_OWNER' });
  });

  it('name the file of a value that does not fit, and of an unknown key with the nearest one', async () => {
    writeFileSync(projects(), '{"box":{"size":70,"ownr":"x"}}');
    const { exit, error } = await call(['show']);
    assert.deepEqual([exit, error.code], [2, 'E_CONFIG_INVALID']);
    assert.equal(error.message, `box.size in ${projects()}: --size must be at most 9, not 70`);
    const { data } = await call(['health']);
    assert.equal(data.status, 'degraded');
    assert.equal(data.checks[0].fix, `Remove box.ownr from ${projects()}, or write box.owner`);
    writeFileSync(projects(), '{');
    const broken = await call(['health']);
    assert.deepEqual([broken.exit, broken.error.code], [2, 'E_NOT_READY']);
    assert.equal((await call(['show'])).error.hint, `Fix or remove ${projects()}`);
  });
});

describe('a value of a variable that does not fit', () => {
  it('is reported with the variable, and one of the flag without it', async () => {
    const message = async (argv: readonly string[], edge: string) =>
      (await call(['show', ...argv], { BOX_EDGE: edge })).error.message;
    assert.equal(await message([], 'x'), 'BOX_EDGE: --edge must be a number, not "x"');
    assert.equal(await message([], '70'), 'BOX_EDGE: --edge must be at most 9, not 70');
    assert.equal(await message(['--edge', 'y'], 'x'), '--edge must be a number, not "y"');
    assert.equal(await message(['--edge'], '7'), '--edge needs a value');
  });
});

describe('a short flag, and a deprecated one', () => {
  it('are in the help, in the catalog and in completion', async () => {
    const help = (await captureCli(box, ['show', '--help'])).stdout;
    assert.match(
      help,
      /--owner, -o <string> +Whose\. \(or the variable BOX_OWNER; or box\.owner of the configuration; default no-one\)/,
    );
    assert.match(help, /--size <integer> +Deprecated, use --owner\./);
    const { data } = await call(['tools', 'box.show']);
    const [owner, size] = data.parameters;
    assert.deepEqual([owner.short, owner.env, owner.config], ['o', 'BOX_OWNER', 'box.owner']);
    assert.equal(size.replacement, '--owner');
    const { stdout } = await captureCli(box, ['complete-words', '--', 'show', '-o', 'Ada', '--si']);
    assert.equal(stdout, 'words\n--size\tHow big.\n');
    const { meta } = await call(['show', '--size', '3']);
    assert.deepEqual(meta.warnings, ['--size is deprecated, use --owner']);
  });
});
