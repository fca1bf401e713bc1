import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import * as z from 'zod';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { configDefaults } from '../../protocol/config-defaults.ts';
import { type Config, configFile } from '../../protocol/config-file.ts';
import { leavesOf } from './layers.ts';
import { mayWiden } from './load.ts';
import { trustDigest } from './trust.ts';
import { hasRule, wideningsOf } from './widening.ts';

let project: ProjectFolder;
beforeEach(() => {
  project = projectFolder();
});
afterEach(() => project.remove());

const widened = (tree: object, user: object = {}) => {
  const base = configDefaults() as unknown as Record<string, object>;
  for (const [key, value] of Object.entries(user))
    base[key] = Array.isArray(value) ? value : { ...base[key], ...value };
  const settings = leavesOf(tree as never).map((leaf) => ({ ...leaf, where: '' }));
  const users = new Set(leavesOf(user as never).map(({ path }) => path.join('.')));
  return wideningsOf(settings, { base: base as unknown as Config, users, root: project.root }).map(
    ({ key }) => key,
  );
};
describe('the settings of a project', () => {
  it('widen where they weaken the sandbox, the network, plans, or leave the project', () => {
    symlinkSync('/etc', project.at('linked'));
    symlinkSync('../not-there-yet', project.at('dangling'));
    for (const tree of [
      { security: { isolation: 'off' } },
      { security: { allow_network_egress: true } },
      { security: { allow_private_egress: ['10.0.0.1:80'] } },
      { security: { egress_hosts: { 'api.example.com': '10.0.0.1' } } },
      { security: { grant_roots: ['/etc'] } },
      { security: { grant_roots: ['linked'] } },
      { security: { grant_roots: ['dangling'] } },
      { project: { runs_dir: 'dangling/below' } },
      { security: { container: { image: 'debian' } } },
      { security: { on_denied: 'ask' } },
      { project: { tools_dirs: ['~/bin'] } },
      { project: { runs_dir: '../elsewhere/new' } },
      { task: { executor: { command: ['sh'] } } },
      { task: { secrets: ['KEY'] } },
      { task: { max_iterations: 51 } },
      { environment: { cancel_grace_s: 6 } },
      { environment: { waiting_stops_deadline: true } },
      { answers: [{ action: 'deploy', answer: 'yes' }] },
    ])
      assert.equal(widened(tree).length, 1, JSON.stringify(tree));
  });

  it('do not widen where they are as strict as before, stricter, or stay in the project', () => {
    symlinkSync('not-there-yet', project.at('dangling'));
    for (const tree of [
      { security: { isolation: 'preferred' } },
      // They have no effect any more.
      { security: { drop_privileges: false, workspace_isolation: false } },
      { security: { isolation: 'required', allow_network_egress: false } },
      { security: { grant_roots: ['data'], resource_limits: { memory_mb: 100 }, require_plan: 'writes' } },
      { project: { name: 'x', tools_dirs: ['tools', '.acor/tools'], runs_dir: 'build/runs' } },
      { budget: { max_timeout_s: 10 }, task: { executor: 'codex', model: 'm' } },
      { security: { grant_roots: ['dangling'] } },
      { environment: { cancel_grace_s: 4 }, storage: { keep: 0 }, task: { max_iterations: 50 } },
      { environment: { timeout_s: 7200, base_allowlist: ['CI'] } },
    ])
      assert.deepEqual(widened(tree), [], JSON.stringify(tree));
  });

  it('that name a command are trusted with the files of the project that it names', () => {
    project.write('agent.sh', 'echo one\n');
    const digest = () => {
      const settings = leavesOf({ task: { executor: { command: ['sh', 'agent.sh'] } } } as never);
      const base = configDefaults() as unknown as Config;
      const found = wideningsOf(
        settings.map((leaf) => ({ ...leaf, where: '' })),
        { base, users: new Set(), root: project.root },
      );
      return trustDigest(found);
    };
    const before = digest();
    assert.equal(digest(), before, 'the control');
    project.write('agent.sh', 'echo two\n');
    assert.notEqual(digest(), before);
    // A link out of the project in its place, and then another one.
    rmSync(project.at('agent.sh'));
    project.link('agent.sh', '/bin/true');
    const linked = digest();
    assert.equal(digest(), linked, 'the control');
    rmSync(project.at('agent.sh'));
    project.link('agent.sh', '/bin/sh');
    assert.notEqual(digest(), linked);
  });

  it('that name a folder, or a program with an interpreter of the project, are trusted with their content', () => {
    project.write('nd/__main__.py', 'one\n');
    project.write('nd/inner/part.py', 'one\n');
    project.program('interp', '#!/bin/sh\n');
    project.program('notes', `#!${project.at('interp')}\n`);
    const digest = (words: readonly string[]) => {
      const settings = leavesOf({ notify: [{ program: words, on: ['failure'] }] } as never);
      const base = configDefaults() as unknown as Config;
      return trustDigest(
        wideningsOf(
          settings.map((leaf) => ({ ...leaf, where: '' })),
          { base, users: new Set(), root: project.root },
        ),
      );
    };
    for (const [words, change] of [
      [['python3', 'nd'], () => project.write('nd/__main__.py', 'two\n')],
      [['python3', 'nd'], () => project.write('nd/inner/part.py', 'two\n')],
      [['python3', '--from=nd'], () => project.write('nd/__main__.py', 'three\n')],
      [['./notes'], () => project.program('interp', '#!/bin/sh\n:\n')],
    ] as const) {
      const before = digest(words);
      project.write('other/__main__.py', before);
      assert.equal(digest(words), before, 'the control');
      change();
      assert.notEqual(digest(words), before, words.join(' '));
    }
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

  it('widen where they lift a limit of the user that a manifest alone would not', () => {
    const user = {
      storage: { keep: 10 },
      task: { executor: 'codex', model: 'small', max_iterations: 5, price: { input: 2, output: 3 } },
    };
    const more = {
      storage: { keep: 9 },
      task: { executor: 'claude', model: 'large', max_iterations: 6, price: { input: 1, output: 2 } },
    };
    const keys = (tree: object) => leavesOf(tree as never).map(({ path }) => path.join('.'));
    assert.deepEqual(widened(more, user), keys(more));
    assert.deepEqual(widened(user, user), []);
    assert.deepEqual(widened(user, more), ['task.executor', 'task.model']);
  });

  it('widen where they drop or reorder the rules by which the user answers', () => {
    const no = { action: 'delete', answer: 'no' };
    const yes = { action: 'delete', tool: 'clean', answer: 'yes' };
    const user = { answers: [no, yes] };
    for (const answers of [[yes, no], [yes], []])
      assert.deepEqual(widened({ answers }, user), ['answers'], JSON.stringify(answers));
    assert.deepEqual(widened({ answers: [no, yes] }, user), []);
    assert.deepEqual(widened({ answers: [] }, {}), []);
  });

  it('are each decided: by a rule, or as a key that cannot widen', () => {
    const decided = keysOf(z.toJSONSchema(configFile, { unrepresentable: 'any' }) as Schema);
    assert.ok(decided.length > 40, String(decided.length));
    for (const key of decided) {
      assert.notEqual(hasRule(key), CANNOT_WIDEN.includes(key), key);
      if (hasRule(key)) assert.ok(mayWiden(key.split('.')), key);
    }
    assert.deepEqual(
      CANNOT_WIDEN.filter((key) => !decided.includes(key)),
      [],
    );
  });
});

/** A manifest may request the same, or the key only describes, or a person approves each value. */
const CANNOT_WIDEN = [
  'version',
  'acor_version',
  'project.name',
  // Read as `tools_dirs`.
  'project.tools_dir',
  // Read without effect.
  'security.workspace_isolation',
  'security.drop_privileges',
  'discovery.patterns.*',
  'discovery.cache_ttl',
  'discovery.auto_discover',
  'environment.base_allowlist',
  // They change when a run warns, and whether it asks before it ends.
  'budget.cost_warn_at',
  'budget.on_cost_limit',
  // `budget` has the ceilings.
  'environment.timeout_s',
  'environment.heartbeat_grace_s',
  'environment.answer_timeout_s',
  'environment.max_output_size',
  'environment.stall_s',
  // What it names is readable to an agent in the project, or a run of one of its tools.
  'resources',
  'plugins',
];

type Schema = {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
};

function keysOf(schema: Schema, above = ''): string[] {
  const below = Object.entries(schema.properties ?? {}).flatMap(([key, part]) =>
    keysOf(part, `${above}.${key}`),
  );
  const free =
    typeof schema.additionalProperties === 'object' ? keysOf(schema.additionalProperties, `${above}.*`) : [];
  const choices = (schema.anyOf ?? []).flatMap((part) => keysOf(part, above));
  const all = [...below, ...free, ...choices];
  return all.length > 0 ? [...new Set(all)] : [above.slice(1)];
}
