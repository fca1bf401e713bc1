import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { explain, launchFailed } from './bubblewrap-failure.ts';

describe('what bubblewrap says when it cannot create a sandbox', () => {
  it('is explained as a limit on namespaces, with the setting that raises it', () => {
    for (const words of [
      'bwrap: Creating new namespace failed: No space left on device',
      'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
    ])
      assert.deepEqual(explain(words), {
        means: 'the system limits the number of namespaces',
        fix: 'sysctl -w user.max_user_namespaces=15000',
      });
  });

  it('is not explained by what keeps users from namespaces when it is about something else', () => {
    const { means, fix } = explain('bwrap: Unknown option --nonsense');
    const isOff = (path: string) => existsSync(path) && readFileSync(path, 'utf8').trim() === '0';
    if (isOff('/proc/sys/kernel/unprivileged_userns_clone') || isOff('/proc/sys/user/max_user_namespaces'))
      assert.match(fix, /^sysctl -w /);
    else assert.equal(means, 'bubblewrap could not create the sandbox');
    assert.doesNotMatch(means, /AppArmor/);
  });

  it('becomes an error with its last line and the fix', () => {
    const error = launchFailed('first line\nbwrap: nesting depth or namespaces exceeded');
    assert.equal(error.code, 'E_SANDBOX_UNAVAILABLE');
    assert.match(error.message, /limits the number of namespaces: bwrap: nesting depth/);
    assert.doesNotMatch(error.message, /first line/);
    assert.match(String(error.hint), /max_user_namespaces=15000/);
    assert.doesNotMatch(launchFailed('').message, /: $|undefined/);
  });
});
