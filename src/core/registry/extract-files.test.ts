import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { until } from '../../../test/support/project.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { extractFiles } from './extract-files.ts';

const FILE = join('sdk', 'python', 'acor', '__init__.py');

describe('the files in the compiled program', () => {
  let root: string;
  let embedded: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-extract-'));
    embedded = join(root, 'embedded');
    for (const [path, text] of [
      [FILE, 'python'],
      ['dist/lib/tool/index.js', 'javascript'],
      ['templates/task/instructions.md', 'task'],
      ['templates/codemod/read-commands.mjs', 'reader'],
      ['templates/python/cli.py', 'not for other processes'],
      ['digest', 'd1\n'],
    ] as const) {
      mkdirSync(dirname(join(embedded, path)), { recursive: true });
      writeFileSync(join(embedded, path), text);
    }
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const extract = (...folders: string[]) =>
    extractFiles(
      embedded,
      folders.map((name) => () => join(root, name)),
    );

  it('are written once, below their digest, and without a rest', () => {
    const target = extract('cache');
    assert.equal(target, join(root, 'cache', 'd1'));
    assert.equal(readFileSync(join(target, FILE), 'utf8'), 'python');
    assert.deepEqual(readdirSync(join(target, 'templates')).toSorted(), ['codemod', 'task']);
    assert.deepEqual(readdirSync(join(root, 'cache')), ['d1']);
    const { ino } = statSync(join(target, FILE));
    assert.equal(extract('cache'), target);
    assert.equal(statSync(join(target, FILE)).ino, ino);
  });

  it('can be read by every user whatever the umask is, in a folder that only this user may write', () => {
    const umask = process.umask(0o077);
    try {
      const target = extract('cache');
      assert.equal(statSync(join(target, FILE)).mode & 0o777, 0o644);
      assert.equal(statSync(target).mode & 0o777, 0o755);
      assert.equal(statSync(join(root, 'cache')).mode & 0o022, 0);
    } finally {
      process.umask(umask);
    }
  });

  it('are written again after a change, a loss or half a write', () => {
    const target = extract('cache');
    for (const damage of [
      () => writeFileSync(join(target, FILE), 'pythom'),
      () => writeFileSync(join(target, FILE), ''),
      () => rmSync(join(target, FILE)),
      () => rmSync(target, { recursive: true }),
    ]) {
      damage();
      assert.equal(readFileSync(join(extract('cache'), FILE), 'utf8'), 'python');
    }
    assert.deepEqual(readdirSync(join(root, 'cache')), ['d1']);
  });

  it('are compared again only after a change', async () => {
    const target = extract('cache');
    const compared = join(target, 'compared.json');
    // A file that has just been written may change again without a new time.
    await until(() => extract('cache') === target && existsSync(compared));
    const bytes = readFileSync(join(embedded, FILE));
    writeFileSync(join(embedded, FILE), 'other');
    assert.equal(extract('cache'), target);
    assert.equal(readFileSync(join(target, FILE), 'utf8'), 'python');
    writeFileSync(join(embedded, FILE), bytes);
    writeFileSync(join(target, FILE), 'pythom');
    assert.equal(readFileSync(join(extract('cache'), FILE), 'utf8'), 'python');
    for (const empty of ['{}', 'not JSON']) {
      writeFileSync(compared, empty);
      writeFileSync(join(target, FILE), 'pythom');
      assert.equal(readFileSync(join(extract('cache'), FILE), 'utf8'), 'python');
    }
  });

  it('are completed in a folder of a program that extracted fewer of the same files', async () => {
    const target = extract('cache');
    const compared = join(target, 'compared.json');
    await until(() => extract('cache') === target && existsSync(compared));
    const reader = join(target, 'templates', 'codemod', 'read-commands.mjs');
    const { [reader]: _reader, ...others } = JSON.parse(readFileSync(compared, 'utf8'));
    writeFileSync(compared, JSON.stringify(others));
    rmSync(dirname(reader), { recursive: true });
    assert.equal(
      readFileSync(join(extract('cache'), 'templates/codemod/read-commands.mjs'), 'utf8'),
      'reader',
    );
  });

  it('are not written where another user could replace them', () => {
    mkdirSync(join(root, 'open'));
    chmodSync(join(root, 'open'), 0o777);
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'link'));
    writeFileSync(join(root, 'file'), '');
    assert.equal(extract('open', 'link', 'file', 'cache'), join(root, 'cache', 'd1'));
    assert.deepEqual(readdirSync(join(root, 'elsewhere')), []);
    assert.throws(
      () => extract('open', 'link'),
      (error) =>
        error instanceof AcorError && error.code === 'E_STORAGE' && /XDG_CACHE_HOME/.test(error.hint ?? ''),
    );
  });
});
