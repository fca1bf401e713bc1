import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { followFirstPage } from '../support/first-page.ts';
import { librarySnippets } from '../support/library-snippets.ts';
import { buildPackages } from '../support/packages.ts';
import { ROOT } from '../support/project.ts';
import { startRegistry } from '../support/registry.ts';

const MEGABYTE = 1_000_000;
/** The oldest Node that runs ACOR's JavaScript. */
const LEAST_NODE = [22, 22] as const;

const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const missing = ['npm', 'python3', 'tar'].find((program) => !isThere(program));
const isRoot = process.getuid?.() === 0;
const OTHER_USER = { uid: 65534, gid: 65534 };

interface Node {
  version: string;
  /** A folder with this `node` and no other program. */
  bin: string;
}

describe('the npm package', { skip: missing ? `${missing} is not here` : false }, () => {
  let folder: string;
  let nodes: Node[];
  let built: ReturnType<typeof buildPackages>;
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  /** Has no compiled program, as for a platform without one. */
  let poorRegistry: typeof registry;
  const hosts = new Map<string, Promise<ReturnType<typeof homeOf>>>();
  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-npm-')));
    chmodSync(folder, 0o755);
    built = buildPackages(folder);
    registry = await startRegistry(built.packages);
    poorRegistry = await startRegistry(
      built.packages.filter(({ manifest }) => !manifest.name.startsWith('@acor/')),
    );
    nodes = nodesOf(folder);
  });
  after(() => {
    registry?.[Symbol.dispose]();
    poorRegistry?.[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A new folder that belongs to a user, and the user's environment. */
  function homeOf(name: string, node: Node, user?: typeof OTHER_USER) {
    const home = join(folder, name);
    mkdirSync(home);
    if (user !== undefined) chownSync(home, user.uid, user.gid);
    const env = {
      PATH: [join(home, 'prefix', 'bin'), node.bin, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      HOME: home,
      LANG: 'C.UTF-8',
      npm_config_registry: registry.url,
      npm_config_update_notifier: 'false',
    };
    return { home, env, user };
  }

  async function run(command: readonly string[], where: ReturnType<typeof homeOf>, cwd = where.home) {
    const child = spawn(command[0]!, command.slice(1), {
      cwd,
      env: where.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...where.user,
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (text) => (stdout += text));
    child.stderr.on('data', (text) => (stderr += text));
    const status = await new Promise((resolve) => child.once('close', resolve));
    return { status, stdout, stderr };
  }

  /** Where ACOR is installed, once for all tests: as JavaScript, or with the compiled program of the platform. */
  function hostOf(form: 'js' | 'program', node: Node, user?: typeof OTHER_USER) {
    const name = `${form}-${node.version}`;
    const host = hosts.get(name) ?? installed(homeOf(name, node, user), form);
    hosts.set(name, host);
    return host;
  }

  async function installed(where: ReturnType<typeof homeOf>, form: 'js' | 'program') {
    if (form === 'js') where.env.npm_config_registry = poorRegistry.url;
    await install(where);
    return where;
  }

  /** A new folder of a user of an ACOR that is installed elsewhere. */
  function guestOf(host: ReturnType<typeof homeOf>, name: string, user?: typeof OTHER_USER) {
    const where = homeOf(name, nodes[0]!, user);
    where.env.PATH = host.env.PATH;
    return where;
  }

  function programHost() {
    const node = nodes.find((each) => !isRecent(each)) ?? nodes[0]!;
    return hostOf('program', node, isRoot ? OTHER_USER : undefined);
  }

  async function install(where: ReturnType<typeof homeOf>) {
    const prefix = join(where.home, 'prefix');
    const command = ['npm', 'install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', 'acor'];
    const { status, stdout, stderr } = await run(command, where);
    assert.equal(status, 0, stdout + stderr);
    assert.ok(existsSync(join(prefix, 'share/man/man1/acor.1')), 'no manual page');
  }

  async function detailsOf(where: ReturnType<typeof homeOf>) {
    const { stdout } = await run(['acor', 'version', '--detailed'], where);
    return JSON.parse(stdout).data;
  }

  it('has at most 5 MB', () => {
    assert.ok(built.tarballBytes < 5 * MEGABYTE, `${built.tarballBytes} bytes`);
  });

  it('has files that everyone may read, also when a careful user packed them', () => {
    for (const { tarball } of built.packages.filter(({ manifest }) => /acor/.test(manifest.name))) {
      const { stdout } = spawnSync('tar', ['-tvzf', tarball], { encoding: 'utf8', maxBuffer: 1 << 24 });
      const files = stdout.split('\n').filter((line) => line.startsWith('-'));
      assert.ok(files.length > 0);
      for (const file of files) assert.match(file, /^-(rw-r--r--|rwxr-xr-x) /);
    }
  });

  it('runs the first page of the guide as JavaScript on each Node, for a user who did not install it', async () => {
    for (const node of nodes) {
      const where = await hostOf('js', node);
      if (!isRecent(node)) {
        const { status, stdout } = await run(['acor', 'version'], where);
        assert.equal(status, 2);
        const { code, message } = JSON.parse(stdout).error;
        assert.equal(code, 'E_RUNTIME_MISSING');
        assert.match(message, /needs Node\.js 22\.22 or later; this is/);
        continue;
      }
      assert.equal((await detailsOf(where)).runtime, `node ${node.version}`);
      const { status, stdout } = await run(['acor', 'self-test'], where);
      assert.equal(status, 0, stdout);
      // What root has installed is for every user.
      const user = isRoot ? OTHER_USER : undefined;
      const other = guestOf(where, `other-${node.version}`, user);
      followFirstPage({ folder: other.home, env: other.env, ...(user && { user }) });
    }
  });

  it('runs the first page with the compiled program of the platform, also where Node is too old for the JavaScript', async () => {
    const where = await programHost();
    assert.match((await detailsOf(where)).runtime, /^bun /);
    followFirstPage({ folder: where.home, env: where.env, ...(where.user && { user: where.user }) });
  });

  it('refuses a TypeScript tool before its start, where Node cannot run it', async () => {
    const [recent] = nodes.filter(isRecent);
    const host = await hostOf('js', recent!);
    const where = guestOf(host, 'typescript');
    await run(['acor', 'template', 'typescript', '--name', 'greet'], where);
    const { stdout: good } = await run(['acor', 'run', 'greet', '--who', 'Ada', '--no-stream'], where);
    assert.equal(JSON.parse(good).ok, true, good);
    const program = join(where.home, 'old-node', 'node');
    mkdirSync(join(where.home, 'old-node'));
    writeFileSync(program, '#!/bin/sh\necho v20.20.2\n');
    chmodSync(program, 0o755);
    // ACOR itself runs in the recent Node, and the PATH of the tools has the old one.
    where.env.PATH = `${join(where.home, 'old-node')}:${where.env.PATH}`;
    const main = join(host.home, 'prefix/lib/node_modules/acor/dist/lib/cli/start-in-node.js');
    const command = [join(recent!.bin, 'node'), main, 'run', 'greet', '--who', 'Ada'];
    const { error } = JSON.parse((await run(command, where)).stdout);
    assert.equal(error.code, 'E_RUNTIME_MISSING');
    assert.match(error.message, /TypeScript, which Node\.js 20\.20\.2 \(.*\) cannot run/);
    assert.match(error.hint, /Node\.js 22\.18 or later/);
  });

  it('works without a network after the install', {
    skip: isRoot ? false : 'only root makes a network',
  }, async () => {
    const where = guestOf(await programHost(), 'offline');
    followFirstPage({ folder: where.home, env: where.env, prefix: ['unshare', '--net', '--'] });
  });

  it('starts by npx', async () => {
    const where = homeOf('npx', nodes[0]!);
    const { stdout, stderr } = await run(['npx', '--yes', 'acor', 'version'], where);
    assert.equal(JSON.parse(stdout || '{}').ok, true, stderr);
  });

  it('is a library with types on each Node', async () => {
    const where = homeOf('library', nodes[0]!);
    const project = join(where.home, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{"name":"uses-acor","private":true,"type":"module"}');
    const installed = await run(
      ['npm', 'install', '--no-audit', '--no-fund', '--omit=optional', 'acor'],
      where,
      project,
    );
    assert.equal(installed.status, 0, installed.stderr);
    writeFileSync(join(project, 'use.ts'), USE);
    const sources = ['use.ts', ...librarySnippets().map((_, index) => `snippet-${index}.ts`)];
    for (const [index, snippet] of librarySnippets().entries())
      writeFileSync(join(project, `snippet-${index}.ts`), snippet);
    const strict = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--noUncheckedIndexedAccess',
      '--skipLibCheck',
      'false',
    ];
    const nodenext = ['--module', 'nodenext', '--target', 'es2023', '--types', ''];
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const compiled = await run([tsc, ...strict, ...nodenext, ...sources], where, project);
    assert.equal(compiled.status, 0, compiled.stdout + compiled.stderr);
    for (const node of nodes) {
      const { stdout, stderr } = await run([join(node.bin, 'node'), 'use.js'], where, project);
      const code = isRecent(node) ? 'E_TOOL_NOT_FOUND' : 'E_RUNTIME_MISSING';
      assert.equal(stdout, `${code} 0.1.0 1 function true\n`, stderr);
    }
  });
});

/** Uses all four exports, with their types. */
const USE = `
import { Acor, AcorError, ACOR_VERSION, type RunSummary, type Plugin } from 'acor';
import { ERROR_CODES, type RunEvent } from 'acor/protocol';
import { emitResult, ProtocolEmitter, type Artifact } from 'acor/tool';
import { defineOperation, type Operation } from 'acor/compose';

export const plugin: Plugin = { onPreRun: () => undefined };
export const artifact: Artifact | undefined = undefined;
export const operation: Operation | undefined = undefined;
let code = 'none';
try {
  const running = new Acor({ cwd: '.' }).run('no_such_tool');
  for await (const event of running) { const each: RunEvent = event; void each; }
  const summary: RunSummary = await running;
  code = summary.state;
} catch (error) {
  if (error instanceof AcorError) code = error.code;
}
declare const console: { log(...args: unknown[]): void };
void emitResult; void ProtocolEmitter;
console.log(code, ACOR_VERSION, 'E_USAGE' in ERROR_CODES ? 1 : 0, typeof defineOperation, true);
`;

/** The Node of the test suite, the one on the PATH, and those in ACOR_TEST_NODES (paths, separated by colons). */
function nodesOf(folder: string): Node[] {
  const paths = [
    join(ROOT, 'node_modules', '.bin', 'node'),
    ...(process.env.ACOR_TEST_NODES ?? '').split(':'),
  ];
  const onPath = spawnSync('sh', ['-c', 'command -v node'], { encoding: 'utf8' }).stdout.trim();
  const nodes = new Map<string, Node>();
  for (const path of [...paths, onPath].filter((each) => each !== '')) {
    const version = spawnSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout.trim();
    const bin = join(folder, `node-${version}`);
    if (nodes.has(version)) continue;
    mkdirSync(bin);
    symlinkSync(realpathSync(path), join(bin, 'node'));
    nodes.set(version, { version, bin });
  }
  return [...nodes.values()];
}

function isRecent({ version }: Node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
}
