import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { interpreterOf } from './executable.ts';
import { LANGUAGES } from './index.ts';
import type { EntryFile } from './language.ts';

describe('the languages', () => {
  const detect = (file: Partial<EntryFile>) =>
    LANGUAGES.find((each) =>
      each.detect({ path: '/x', extension: '', executable: false, interpreter: null, ...file }),
    )?.name;

  it('are detected by extension', () => {
    const extensions = ['.py', '.sh', '.bash', '.js', '.mjs', '.cjs', '.ts', '.mts', '.go', '.rs', '.rb', ''];
    const expected = [
      'python',
      'bash',
      'bash',
      'node',
      'node',
      'node',
      'typescript',
      'typescript',
      'go',
      'rust',
      undefined,
      undefined,
    ];
    assert.deepEqual(
      extensions.map((extension) => detect({ extension })),
      expected,
    );
  });

  it('are detected by the first line', () => {
    const interpreters = ['python3', 'python3.12', 'sh', 'bash', 'node', 'bun', 'perl', 'pythonista'];
    const expected = ['python', 'python', 'bash', 'bash', 'node', 'typescript', 'executable', 'executable'];
    assert.deepEqual(
      interpreters.map((interpreter) => detect({ interpreter, executable: true })),
      expected,
    );
  });

  it('have names and extensions of their own', () => {
    assert.equal(new Set(LANGUAGES.map(({ name }) => name)).size, LANGUAGES.length);
    const extensions = LANGUAGES.flatMap((each) => each.extensions);
    assert.equal(new Set(extensions).size, extensions.length);
  });
});

describe('the interpreter of a first line', () => {
  it('is looked for behind env, its options and its settings', () => {
    const lines = [
      '/bin/sh -e',
      '/usr/bin/env python3',
      '/usr/bin/env -S node --flag',
      '/usr/bin/env A=1 perl',
      '/usr/bin/env',
      '',
    ];
    assert.deepEqual(
      lines.map((line) => interpreterOf(line.split(' '))),
      ['sh', 'python3', 'node', 'perl', null, null],
    );
  });
});
