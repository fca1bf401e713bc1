import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { CONFIG_DEFAULTS } from '../../protocol/config-defaults.ts';
import type { Config } from '../../protocol/config-file.ts';
import { leavesOf } from './layers.ts';
import { wideningsOf } from './widening.ts';

let project: ProjectFolder;
beforeEach(() => {
  project = projectFolder();
});
afterEach(() => project.remove());

const widened = (tree: object, user: object = {}) => {
  const base = structuredClone(CONFIG_DEFAULTS) as unknown as Record<string, object>;
  for (const [key, value] of Object.entries(user)) base[key] = { ...base[key], ...value };
  const settings = leavesOf(tree as never).map((leaf) => ({ ...leaf, where: '' }));
  return wideningsOf(settings, base as unknown as Config, project.root).map(({ key }) => key);
};

describe('the settings of a project', () => {
  it('widen where they weaken the sandbox, the network, plans, or leave the project', () => {
    symlinkSync('/etc', project.at('linked'));
    for (const tree of [
      { security: { isolation: 'off' } },
      { security: { drop_privileges: false } },
      { security: { allow_network_egress: true } },
      { security: { allow_private_egress: ['10.0.0.1:80'] } },
      { security: { egress_hosts: { 'api.example.com': '10.0.0.1' } } },
      { security: { grant_roots: ['/etc'] } },
      { security: { grant_roots: ['linked'] } },
      { security: { container: { image: 'debian' } } },
      { project: { tools_dirs: ['~/bin'] } },
      { project: { runs_dir: '../elsewhere/new' } },
      { task: { executor: { command: ['sh'] } } },
      { task: { secrets: ['KEY'] } },
      { answers: [{ action: 'deploy', answer: 'yes' }] },
    ])
      assert.equal(widened(tree).length, 1, JSON.stringify(tree));
  });

  it('do not widen where they are as strict as before, stricter, or stay in the project', () => {
    for (const tree of [
      { security: { isolation: 'preferred' } },
      { security: { isolation: 'required', drop_privileges: true, allow_network_egress: false } },
      { security: { grant_roots: ['data'], resource_limits: { memory_mb: 100 }, require_plan: 'writes' } },
      { project: { name: 'x', tools_dirs: ['tools', '.acor/tools'], runs_dir: 'build/runs' } },
      { budget: { max_timeout_s: 10 }, task: { executor: 'codex', model: 'm' } },
      { environment: { timeout_s: 7200, base_allowlist: ['CI'] } },
    ])
      assert.deepEqual(widened(tree), [], JSON.stringify(tree));
  });

  it('are compared with what the user has configured', () => {
    const user = {
      security: { isolation: 'required', direct_calls: 'deny', require_plan: 'destroys' },
      budget: { max_timeout_s: 10 },
    };
    assert.deepEqual(
      widened(
        {
          security: { isolation: 'preferred', direct_calls: 'allow', require_plan: 'never' },
          budget: { max_timeout_s: 11 },
        },
        user,
      ),
      ['security.isolation', 'security.direct_calls', 'security.require_plan', 'budget.max_timeout_s'],
    );
    assert.deepEqual(widened({ budget: { max_timeout_s: 9 } }, user), []);
  });
});
