import assert from 'node:assert/strict';
import { existsSync, renameSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TestProject } from '../../test/support/project.ts';
import { describeClosed } from './closed-place.ts';
import { ProjectHost } from './project-host.ts';

describe('a server whose project folder is moved away', () => {
  it('answers E_INPUT_NOT_FOUND, makes no new folder, and works when it is back', async () => {
    using project = new TestProject({ tools: ['quick'] });
    const host = new ProjectHost({ cwd: project.root, env: project.environment(), surface: 'http' });
    const { signal } = new AbortController();
    const call = (name: 'system.health' | 'secret.list' | 'tool.list' | 'project.trust') =>
      host.openFor({ kind: 'token', name: 'ada' }).call(name, {}, { signal });
    assert.equal((await call('tool.list')).ok, true);
    renameSync(project.root, `${project.root}-moved`);
    try {
      for (const name of ['system.health', 'secret.list', 'tool.list', 'project.trust'] as const) {
        const answer = await call(name);
        assert.equal(!answer.ok && answer.error.code, 'E_INPUT_NOT_FOUND', JSON.stringify(answer));
      }
      assert.equal(existsSync(project.root), false);
    } finally {
      renameSync(`${project.root}-moved`, project.root);
    }
    assert.equal((await call('tool.list')).ok, true);
  });
});

describe('a file that is closed to this user', () => {
  it('is E_STORAGE with the command that opens the nearest folder, and no other error is', () => {
    using project = new TestProject({});
    const path = project.path('.acor', 'prompts', 'one');
    const closed = Object.assign(new Error('EACCES'), { code: 'EACCES', path });
    const described = describeClosed(closed) as { code: string; hint: string };
    assert.equal(described.code, 'E_STORAGE');
    assert.match(
      described.hint,
      /has the mode \d+: make it writable for this user \(chmod u\+rwx '.*\.acor'\)\.$/,
    );
    const other = new TypeError('x is not a function');
    assert.equal(describeClosed(other), other);
  });
});
