import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestServer } from '../support/http-server.ts';
import { TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

const KEYS = `'${'k'.repeat(1000)}'.split('')`;
const LONG = 'ab'.repeat(20_000);
/** A million searches in forty thousand characters. */
const COSTLY = `${KEYS}.map(x, ${KEYS}.map(y, '${LONG}'.indexOf('aa')).size()).size() > 3`;

describe('a workflow with an expression that would take hours', () => {
  it('is checked, and fails where it is evaluated, with the reason and the fix', async () => {
    using project = new TestProject({ config: WITHOUT_SANDBOX });
    project.write('workflows/w.yaml', `steps: [{ name: a, decision_type: d, when: "\${${COSTLY}}" }]\n`);
    for (const words of [['validate'], ['workflow', 'validate', 'w'], ['workflow', 'run', 'w', '--dry-run']])
      assert.equal((await project.envelope(words)).ok, true, words.join(' '));
    const { error } = await project.envelope(['workflow', 'run', 'w', '--no-stream']);
    assert.equal(error?.code, 'E_WORKFLOW_INVALID');
    assert.match(error.message, /'a' failed: .*: it takes too much work: its loops or the texts/);
    assert.match(error.hint!, /Let a tool compute it/);
  });

  it('is checked by a server, which answers the next call', async () => {
    using project = new TestProject({ config: WITHOUT_SANDBOX });
    project.write('workflows/w.yaml', `steps: [{ name: a, decision_type: d, when: "\${${COSTLY}}" }]\n`);
    const server = await TestServer.start(project);
    for (const names of [['w'], ['w']])
      assert.equal((await server.call('workflow.validate', { workflows: names })).json.ok, true);
    await server.stop();
  });
});
