import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ownFile, packageFolder, sdkPaths } from './own-files.ts';

test('the SDKs are found from the sources', () => {
  const { root, sdkPython, sdkBash } = sdkPaths();
  assert.equal(packageFolder(), root);
  assert.ok(existsSync(ownFile('package.json')));
  assert.ok(existsSync(join(sdkPython, 'acor', '__init__.py')));
  assert.equal(sdkBash, join(root, 'sdk', 'bash'));
});
