import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AcorError } from '../../protocol/acor-error.ts';
import { defaultManifest } from '../../protocol/default-manifest.ts';
import { assertCompatible } from './compatibility.ts';

describe('a tool', () => {
  it('fits an ACOR of at least the version that it asks for', () => {
    for (const acor of ['1.2.0', '1.2.1', '1.10.0', '2.0.0-rc.1']) {
      assertCompatible({ ...defaultManifest('t'), min_acor_version: '1.2.0' }, acor);
    }
    assertCompatible(defaultManifest('t'));
  });

  it('is refused by an older one, a pre-release included, with what to change', () => {
    for (const acor of ['1.1.9', '1.2.0-rc.1']) {
      assert.throws(
        () => assertCompatible({ ...defaultManifest('t'), min_acor_version: '1.2.0' }, acor),
        (error) =>
          error instanceof AcorError && error.code === 'E_INCOMPATIBLE' && /1\.2\.0/.test(error.hint!),
      );
    }
  });

  it('is refused when it speaks another protocol', () => {
    assert.throws(
      () => assertCompatible({ ...defaultManifest('t'), protocol_version: 2 }),
      (error) =>
        error instanceof AcorError &&
        error.code === 'E_INCOMPATIBLE' &&
        /protocol_version: 1/.test(error.hint!),
    );
  });
});
