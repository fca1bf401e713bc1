import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ACOR_VERSION } from './version.ts';

test('the version is the one of the package', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8');
  assert.equal(ACOR_VERSION, (JSON.parse(text) as { version: string }).version);
});
