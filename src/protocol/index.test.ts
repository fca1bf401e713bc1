import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as protocol from './index.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUN = join(ROOT, 'node_modules/.bin/bun');
const SERVER_ONLY = /["'](?:node|bun):|\brequire\(|\b(?:process|Buffer|Bun|__dirname)\./;

describe('acor/protocol in a browser', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-bundle-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('bundles into one file of its own sources and zod, and that file runs', async () => {
    const bundle = join(folder, 'protocol.js');
    const parts = bundleForBrowser(join(FOLDER, 'index.ts'), bundle);
    assert.ok(parts.length > 30, `${parts.length} parts`);
    for (const part of parts) assert.match(part, /^src\/protocol\/[^:]+\.ts$|^node_modules\/zod\/[^:]+$/);
    assert.doesNotMatch(readFileSync(bundle, 'utf8'), /^import\b|["'](?:node|bun):/m);
    const loaded = await import(pathToFileURL(bundle).href);
    assert.deepEqual(Object.keys(loaded).sort(), Object.keys(protocol).sort());
    assert.equal(loaded.checkMessage({}).field, 'v');
    assert.equal(loaded.envelope.safeParse({}).success, false);
  });

  it('would fail if it needed something', () => {
    for (const needed of ['node:fs', 'fs', 'node:path', 'buffer']) {
      const source = join(folder, 'needy.ts');
      writeFileSync(source, `import * as needed from '${needed}';\nexport const used = needed;\n`);
      const parts = bundleForBrowser(source, join(folder, 'needy.js'));
      assert.ok(
        parts.some((part) => part.includes(needed)),
        `${needed}: ${parts.join(' ')}`,
      );
    }
  });

  it('names no global that only a server has, in any of its files', () => {
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(isSource);
    assert.ok(files.length >= 15, `${files.length} files read`);
    for (const file of files) {
      const code = readFileSync(join(FOLDER, file), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
      assert.doesNotMatch(code, SERVER_ONLY, `src/protocol/${file}`);
    }
    assert.match('const home = process.env.HOME;', SERVER_ONLY);
  });
});

function isSource(file: string): boolean {
  return file.endsWith('.ts') && !file.endsWith('.test.ts');
}

/** Bundles, and lists the inputs: Bun replaces a builtin module by an empty stub without a trace in the bundle. */
function bundleForBrowser(source: string, target: string): string[] {
  const report = `${target}.json`;
  execFileSync(BUN, ['build', '--target=browser', source, `--outfile=${target}`, `--metafile=${report}`], {
    cwd: ROOT,
    stdio: 'pipe',
  });
  const { inputs } = JSON.parse(readFileSync(report, 'utf8')) as {
    inputs: Record<string, { imports: { path: string; external?: boolean }[] }>;
  };
  const outside = Object.values(inputs).flatMap(({ imports }) => imports.filter(({ external }) => external));
  return [...Object.keys(inputs), ...outside.map(({ path }) => path)];
}
