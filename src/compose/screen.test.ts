import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detectScreen } from './screen.ts';

describe('screen', () => {
  const detect = (env: Record<string, string>, isTTY = true, columns?: number) =>
    detectScreen({ isTTY, columns, env });

  it('has colour at a terminal, unless NO_COLOR or a dumb terminal says otherwise', () => {
    assert.equal(detect({}).color, true);
    assert.equal(detect({}, false).color, false);
    assert.equal(detect({ NO_COLOR: '1' }).color, false);
    assert.equal(detect({ NO_COLOR: '' }).color, true);
    assert.deepEqual(detect({ TERM: 'dumb' }), { width: 80, color: false, unicode: true, live: false });
    assert.equal(detect({ FORCE_COLOR: '1', NO_COLOR: '1' }, false).color, true);
    assert.equal(detect({ FORCE_COLOR: '0' }).color, false);
  });

  it('takes its width from the terminal, then COLUMNS, then 80', () => {
    assert.equal(detect({ COLUMNS: '50' }, true, 120).width, 120);
    assert.equal(detect({ COLUMNS: '50' }).width, 50);
    assert.equal(detect({ COLUMNS: 'wide' }).width, 80);
  });

  it('speaks Unicode as the first locale variable says', () => {
    assert.equal(detect({ LC_ALL: 'C', LANG: 'en_US.UTF-8' }).unicode, false);
    assert.equal(detect({ LC_ALL: '', LANG: 'en_US.UTF-8' }).unicode, true);
  });
});
