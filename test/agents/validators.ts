import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AgentRig } from './rig.ts';

/** The validators of the vendors' own programs, run on files that ACOR writes; none of them calls a model. */
describe('the validators of the agents', () => {
  it('of Claude Code accept the plugin and the folder .claude', async () => {
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
    // The control: the validator reports an invalid file.
    rig.project.write('plugin/hooks/hooks.json', '{"hooks":{"NoSuchEvent":7}}');
    assert.notEqual(rig.call(['plugin', 'validate', 'plugin', '--strict']).status, 0);
  });

  it('of Codex and Gemini CLI list the server as the settings define it', async () => {
    for (const agent of ['codex', 'gemini'] as const) {
      using rig = await AgentRig.make(agent, []);
      const { stdout, stderr } = rig.call(['mcp', 'list']);
      assert.match(stdout + stderr, /acor.*\bmcp\b/s, agent);
    }
  });
});
