import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { composeKit } from '../support/compose-kit.ts';
import { packed } from '../support/packages.ts';
import { ROOT } from '../support/project.ts';
import { startRegistry } from '../support/registry.ts';

const TSC = join(ROOT, 'node_modules', '.bin', 'tsc');
/** The Node of the project: that of the machine may be too old. */
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const MAX_BYTES = 155_000;
const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const missing = ['npm', 'tar'].find((program) => !isThere(program));

describe('the package @acor/compose', { skip: missing ? `${missing} is not here` : false }, () => {
  let folder: string;
  let project: string;
  let kit: ReturnType<typeof packed>;
  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-compose-')));
    kit = packed(folder, composeKit());
    using registry = await startRegistry([kit, packed(folder, join(ROOT, 'node_modules', 'zod'))]);
    project = join(folder, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
    const installed = await install(project, registry.url);
    assert.equal(installed.status, 0, installed.output);
    // What a project in TypeScript has besides: the types of Node.
    for (const name of ['@types', 'undici-types'])
      symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
    const example = readFileSync(join(ROOT, 'examples', 'compose', 'doubles.ts'), 'utf8');
    writeFileSync(join(project, 'doubles.ts'), example.replace("'acor/compose'", "'@acor/compose'"));
    writeFileSync(
      join(project, 'start.ts'),
      "import { serve } from '@acor/compose';\nimport { doubles } from './doubles.js';\n\nawait serve(doubles);\n",
    );
    const readme = readFileSync(join(project, 'node_modules', '@acor', 'compose', 'README.md'), 'utf8');
    const [program, start] = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!);
    writeFileSync(join(project, 'box.ts'), program!);
    writeFileSync(join(project, 'start-box.ts'), start!);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('has at most 155 kB and three dependencies, and no import of ACOR', () => {
    assert.ok(statSync(kit.tarball).size <= MAX_BYTES, `${statSync(kit.tarball).size} bytes`);
    assert.ok(Object.keys(kit.manifest['dependencies'] as object).length <= 3);
    const names = execFileSync('tar', ['-tzf', kit.tarball], { encoding: 'utf8' }).split('\n');
    const types = names.filter((name) => name.endsWith('.d.ts'));
    assert.ok(
      types.every((name) => /types\/(?:compose|util)\//.test(name)),
      types.join(' '),
    );
  });

  it('builds the example, and the first program of README.md, in a project of their own with a strict compiler', () => {
    const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
    const settings = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'esnext', '--types', 'node'];
    const built = spawnSync(TSC, [...strict, ...settings, '--outDir', 'out', 'start.ts', 'start-box.ts'], {
      cwd: project,
      encoding: 'utf8',
    });
    assert.equal(built.status, 0, built.stdout);
  });

  it('runs the example in Node', () => {
    mkdirSync(join(project, 'files'));
    for (const name of ['a', 'b']) writeFileSync(join(project, 'files', name), 'equal');
    const call = (...args: string[]) => {
      const { stdout, stderr, status } = spawnSync(NODE, ['out/start.js', ...args], {
        cwd: project,
        encoding: 'utf8',
      });
      const lines = stdout.split('\n');
      assert.deepEqual([lines.length, lines[1]], [2, ''], stdout + stderr);
      return { status, ...JSON.parse(lines[0]!) };
    };
    const { data, error } = call('copies', 'list', 'files');
    assert.equal(error, undefined);
    assert.deepEqual(
      data.copies[0].files.map((path: string) => path.split('/').at(-1)),
      ['a', 'b'],
    );
    // The descriptions are metadata of zod: they must be in the registry that the bundled zod reads.
    const listed = call('tools', 'copies.list');
    assert.match(JSON.stringify(listed.data), /Only files of so many bytes/);
    const wrong = call('copies', 'list', '--min-size', 'x');
    assert.deepEqual([wrong.status, wrong.error.code], [1, 'E_USAGE']);
  });

  it('runs the first program of its tutorial, as README.md has it', () => {
    for (const node of nodes(kit.manifest)) {
      const run = (...args: string[]) => {
        const [command, ...options] = node;
        const call = [...options, 'out/start-box.js', ...args];
        const { stdout, stderr, status } = spawnSync(command!, call, { cwd: project, encoding: 'utf8' });
        assert.equal(status, 0, `${call.join(' ')}: ${stdout}${stderr}`);
        return stdout;
      };
      assert.deepEqual(JSON.parse(run('items', 'list', '-o', 'Ada', '--fields', 'id')).data, {
        items: [{ id: 'Ada-1' }],
      });
      assert.match(run('explain', '--format', 'markdown'), /^# box 1\.0\.0/);
      assert.match(run('man'), /^\.TH BOX 1/);
      assert.match(run('--help'), /items list/);
      assert.match(run('items', '--help'), /items list/);
      assert.match(run('tools', '--format', 'text'), /items list/);
      assert.match(run('complete', 'bash'), /_box/);
    }
  });

  it('passes its own check, also with schemas of the zod that the project has', () => {
    const cli = (zod: string) => `import { checkContract, defineCli, defineOperation } from '@acor/compose';
import { z } from '${zod}';
const list = defineOperation({
  name: 'items.list', summary: 'List the items.', effect: 'reads', idempotent: true, rateLimit: null,
  input: z.object({ owner: z.string().default('me').describe('Whose items.') }),
  output: z.object({ items: z.array(z.string()) }),
  example: 'box items list',
  async run({ owner }) { return { kind: 'data', data: { items: [owner] } }; },
});
const box = defineCli({ name: 'box', version: '1.0.0', summary: 'Keeps items.', commands: { 'items list': list } });
console.log(JSON.stringify(await checkContract(box)));
`;
    for (const zod of ['@acor/compose', 'zod']) {
      writeFileSync(join(project, 'box.mjs'), cli(zod));
      const { stdout, stderr } = spawnSync(NODE, ['box.mjs'], { cwd: project, encoding: 'utf8' });
      assert.deepEqual(JSON.parse(stdout || 'null'), [], stderr);
    }
  });
});

/** What Node 20, the oldest that the package names, does not have. */
const NEWER_THAN_20 = [
  ...['Map.groupBy', 'Object.groupBy', 'Promise.withResolvers', 'Promise.try', 'Array.fromAsync'],
  ...['Set.prototype.union', 'Set.prototype.intersection', 'Set.prototype.difference', 'globalThis.Iterator'],
  ...['Error.isError', 'RegExp.escape', 'Uint8Array.fromBase64', 'Uint8Array.prototype.toHex'],
];

/** Ways to start Node: that of the project, the same without what is newer than Node 20, and the machine's where it is that old. */
function nodes({ engines }: Record<string, unknown>): string[][] {
  assert.deepEqual(engines, { node: '>=20' });
  const older = NEWER_THAN_20.map((name) => `delete ${name}`).join(';');
  const ways = [[NODE], [NODE, '--import', `data:text/javascript,${older}`]];
  const { stdout } = spawnSync('node', ['--version'], { encoding: 'utf8' });
  return stdout?.startsWith('v20.') ? [...ways, ['node']] : ways;
}

/** Asynchronous: the registry answers in this process. */
async function install(cwd: string, url: string): Promise<{ status: number | null; output: string }> {
  const { spawn } = await import('node:child_process');
  const args = ['install', '--no-audit', '--no-fund', '--registry', url, '@acor/compose'];
  const child = spawn('npm', args, { cwd, env: { ...process.env, npm_config_cache: join(cwd, '.npm') } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, output };
}
