import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sdkPaths } from './sdk-paths.ts';

test('the SDKs are found from the sources', () => {
  const { packageRoot, sdkPython, sdkBash } = sdkPaths();
  assert.ok(existsSync(join(packageRoot, 'package.json')));
  assert.ok(existsSync(join(sdkPython, 'acor', '__init__.py')));
  assert.equal(sdkBash, join(packageRoot, 'sdk', 'bash'));
});
