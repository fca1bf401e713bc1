import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Acor, AcorError } from '../../src/index.ts';
import { PluginProject } from '../support/plugin-project.ts';

it('plugins take part in operations of the library, and its runs report their failures', async () => {
  using project = new PluginProject(
    {
      'gate.js': `export default {
        onDiscovery: (tools) => tools.filter(({ name }) => name !== 'waits'),
        onPreRun: ({ args }) => (args.includes('bad') ? { veto: 'not that' } : undefined),
      };`,
      'unknown_one.js': 'export default {};',
    },
    { tools: ['quick', 'waits'] },
  );
  project.approve('gate.js');
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...project.env };
  const acor = new Acor({ cwd: project.root, env });
  assert.deepEqual(
    (await acor.call('tool.list')).data.tools.map(({ name }) => name),
    ['quick'],
  );
  const refused = await acor.run('quick', ['bad']).catch((error: unknown) => error);
  assert.ok(refused instanceof AcorError);
  assert.deepEqual(
    [refused.code, refused.details],
    ['E_POLICY_DENIED', { plugin: 'gate', reason: 'not that' }],
  );
  const reported: unknown[] = [];
  for await (const event of acor.run('quick')) if ('plugin' in event) reported.push(event['plugin']);
  assert.deepEqual(reported, ['unknown_one']);
});
