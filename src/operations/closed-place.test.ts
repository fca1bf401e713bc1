import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TestProject, until } from '../../test/support/project.ts';
import { nextTurn } from '../util/pause.ts';
import { describeClosed } from './closed-place.ts';
import { ProjectHost } from './project-host.ts';
import { deliverForever } from './run/deliver-forever.ts';

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

  it('makes none for the messages that it delivers in the background', async () => {
    using project = new TestProject({ tools: ['quick'] });
    using settings = new TestProject({});
    settings.write('acor/config.yaml', `version: 1\nnotify: [{ program: [/bin/true], on: [end] }]\n`);
    const env = project.environment({ XDG_CONFIG_HOME: settings.root });
    const host = new ProjectHost({ cwd: project.root, env, surface: 'http' });
    const stop = new AbortController();
    let refused = 0;
    const open = () => {
      const { app } = host.openFor({ kind: 'local-user', name: 'ada' });
      app.project().catch(() => refused++);
      return app;
    };
    const delivering = deliverForever(open, env, stop.signal);
    const outbox = project.path('.runs', 'outbox');
    await until(() => existsSync(join(outbox, 'deliver.lock')));
    const moved = `${project.root}-moved`;
    renameSync(project.root, moved);
    try {
      // What a run writes there wakes the process that delivers.
      await until(() => {
        writeFileSync(join(moved, '.runs', 'outbox', 'wake'), '');
        return refused > 0;
      });
      await nextTurn();
      assert.equal(existsSync(project.root), false);
    } finally {
      rmSync(project.root, { recursive: true, force: true });
      renameSync(moved, project.root);
    }
    stop.abort();
    await delivering;
    assert.deepEqual(readdirSync(outbox), ['wake'], 'its lock is released in the folder that is back');
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
