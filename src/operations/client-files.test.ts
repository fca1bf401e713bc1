import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestProject } from '../../test/support/project.ts';
import { ProjectHost } from './project-host.ts';

describe('the refusal of a file that a client may not name', () => {
  it('offers the content itself only where an input takes it', async () => {
    using project = new TestProject({ tools: ['quick'] });
    const host = new ProjectHost({ cwd: project.root, env: project.environment(), surface: 'http' });
    const { signal } = new AbortController();
    const hintOf = async (name: 'secret.set' | 'run.start', input: Record<string, unknown>) => {
      const answer = await host.openFor({ kind: 'token', name: 'ada' }).call(name, input, { signal });
      assert.ok(!answer.ok && answer.error.code === 'E_PERMISSION', JSON.stringify(answer));
      return answer.error.hint;
    };
    const secret = await hintOf('secret.set', { name: 'A_TOKEN', file: '/etc/hostname' });
    assert.doesNotMatch(secret, /content itself/);
    const args = ['--input-json', '@/etc/hostname'];
    assert.match(
      await hintOf('run.start', { tool: 'quick', args }),
      /or give the content itself\. At a terminal/,
    );
  });
});
