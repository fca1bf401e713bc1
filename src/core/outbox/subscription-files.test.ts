import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { SubscriptionFiles } from './subscription-files.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-subscriptions-'));
after(() => rmSync(root, { recursive: true, force: true }));

describe('the registered callbacks of a project', () => {
  it('are not read, written or removed through a link', () => {
    const target = join(root, 'outside');
    mkdirSync(target);
    writeFileSync(join(target, 'mine.json'), '{}');
    for (const name of ['linked', 'plain']) mkdirSync(join(root, name));
    symlinkSync(target, join(root, 'linked', 'subscriptions'));
    const linked = new SubscriptionFiles(join(root, 'linked'));
    const refused = { code: 'E_STORAGE', message: /is a link, which ACOR does not follow/ };
    assert.throws(() => linked.list(), refused);
    assert.throws(() => linked.claim(), refused);
    assert.throws(() => linked.remove('mine'), refused);
    assert.deepEqual(readdirSync(target), ['mine.json']);

    const plain = new SubscriptionFiles(join(root, 'plain'));
    mkdirSync(join(root, 'plain', 'subscriptions'));
    writeFileSync(join(root, 'plain', 'subscriptions', 'mine.json'), '{}');
    assert.equal(plain.list().length, 1);
    plain.remove('mine');
    assert.deepEqual(plain.list(), []);
  });
});
