import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AgentRig } from './rig.ts';

/** The checks that the makers' own programs have, on files that ACOR writes; none of them asks a model. */
describe('the makers’ own validators', () => {
  it('of Claude Code find nothing wrong with the plugin, nor with the folder .claude', async () => {
    using rig = await AgentRig.make('claude', []);
    const { ok } = await rig.project.envelope(['agents', 'plugin', '--output', 'plugin']);
    assert.ok(ok);
    for (const args of [
      ['plugin', '--strict'],
      ['plugin', '--profile', 'directory'],
      ['.claude', '--strict'],
    ]) {
      const { status, stdout, stderr } = rig.call(['plugin', 'validate', ...args]);
      assert.equal(status, 0, `${args}: ${stdout}${stderr}`);
    }
    // The control: a file that is wrong is told of.
    rig.project.write('plugin/hooks/hooks.json', '{"hooks":{"NoSuchEvent":7}}');
    assert.notEqual(rig.call(['plugin', 'validate', 'plugin', '--strict']).status, 0);
  });

  it('of Codex and Gemini CLI list the server as the settings have it', async () => {
    for (const agent of ['codex', 'gemini'] as const) {
      using rig = await AgentRig.make(agent, []);
      const { stdout, stderr } = rig.call(['mcp', 'list']);
      assert.match(stdout + stderr, /acor.*\bmcp\b/s, agent);
    }
  });
});
