import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { configDefaults } from '../../protocol/config-defaults.ts';
import { loadConfig, projectPath, registryDirsOf, runsDirOf, toolsDirsOf } from './load.ts';
import type { Problem } from './problem.ts';

let project: ProjectFolder;
beforeEach(() => {
  project = projectFolder();
});
afterEach(() => project.remove());

describe('the configuration', () => {
  it('of a folder without one is the default', async () => {
    const loaded = await load();
    assert.deepEqual(loaded.config, {
      ...configDefaults(),
      project: { ...configDefaults().project, name: loaded.config.project.name },
    });
    assert.deepEqual([loaded.root, loaded.file], [project.root, null]);
    assert.deepEqual(loaded.origins['environment.timeout_s'], { source: 'default' });
  });

  it('is found upwards, and its folder is the root', async () => {
    const file = project.write('.acor/config.yaml', 'environment: {timeout_s: 7}\n');
    const loaded = await load({ cwd: project.folder('a/b/c') });
    assert.equal(loaded.config.environment.timeout_s, 7);
    assert.deepEqual([loaded.root, loaded.file], [project.root, file]);
  });

  it('from variables is checked once while they stay the same, and each time when they are wrong', async () => {
    const env = { XDG_CACHE_HOME: project.at('cache'), ACOR_ENVIRONMENT_TIMEOUT_S: '10' };
    const kept = () => readFileSync(project.at('cache/acor/config/checked.json'), 'utf8');
    for (let start = 0; start < 2; start++) {
      const { config } = await load({ env });
      assert.equal(config.environment.timeout_s, 10);
    }
    const [digest, ...others] = JSON.parse(kept());
    assert.match(digest, /^[0-9a-f]{64}$/);
    assert.deepEqual(others, []);
    for (let start = 0; start < 2; start++)
      await assert.rejects(
        load({ env: { ...env, ACOR_ENVIRONMENT_TIMEOUT_S: '-1' } }),
        (error) => error instanceof AcorError && error.code === 'E_CONFIG_INVALID',
      );
    assert.deepEqual(JSON.parse(kept()), [digest]);
  });

  it('of the nearest project is taken whole', async () => {
    project.write('.acor/config.yaml', 'environment: {timeout_s: 7}\n');
    project.folder('inner/.acor');
    const loaded = await load({ cwd: project.folder('inner/deep') });
    assert.deepEqual([loaded.root, loaded.file], [project.at('inner'), null]);
    assert.equal(loaded.config.environment.timeout_s, 1800);
  });

  it('is taken from flag, variable, project, user and default, in this order, and says so', async () => {
    const user = project.write(
      'xdg/acor/config.yaml',
      'environment:\n  timeout_s: 1\n  heartbeat_grace_s: 1\n  stall_s: 1\n  cancel_grace_s: 1\n',
    );
    const file = project.write(
      '.acor/config.yaml',
      'environment:\n  timeout_s: 2\n  heartbeat_grace_s: 2\n  stall_s: 2\n',
    );
    const { config, origins } = await load({
      env: {
        XDG_CONFIG_HOME: project.at('xdg'),
        ACOR_ENVIRONMENT_TIMEOUT_S: '3',
        ACOR_ENVIRONMENT_HEARTBEAT_GRACE_S: '3',
      },
      overrides: { 'environment.timeout_s': 4, 'environment.max_output_size': undefined },
    });
    const { timeout_s, heartbeat_grace_s, stall_s, cancel_grace_s, max_output_size } = config.environment;
    assert.deepEqual(
      [timeout_s, heartbeat_grace_s, stall_s, cancel_grace_s, max_output_size],
      [4, 3, 2, 1, 30_000_000],
    );
    assert.deepEqual(origins['environment.timeout_s'], { source: 'flag', where: 'environment.timeout_s' });
    assert.deepEqual(origins['environment.heartbeat_grace_s'], {
      source: 'environment',
      where: 'ACOR_ENVIRONMENT_HEARTBEAT_GRACE_S',
    });
    assert.deepEqual(origins['environment.stall_s'], { source: 'project', where: `${file}:4:12` });
    assert.deepEqual(origins['environment.cancel_grace_s'], { source: 'user', where: `${user}:5:19` });
    assert.deepEqual(origins['environment.max_output_size'], { source: 'default' });
  });

  it('is not widened by a variable of an agent beyond what the user’s file sets', async () => {
    project.write(
      'xdg/acor/config.yaml',
      'version: 1\nsecurity: { require_plan: destroys, writes: snapshot, isolation: required, resource_limits: { memory_mb: 100 } }\n',
    );
    const env = {
      XDG_CONFIG_HOME: project.at('xdg'),
      ACOR_SECURITY_REQUIRE_PLAN: 'never',
      ACOR_SECURITY_WRITES: 'review',
      ACOR_SECURITY_ISOLATION: 'off',
      ACOR_SECURITY_RESOURCE_LIMITS_MEMORY_MB: '200',
      ACOR_ENVIRONMENT_TIMEOUT_S: '7',
    };
    const effective = async (more: Record<string, string>) => {
      const { config, warnings } = await load({ env: { ...env, ...more } });
      const { require_plan, writes, isolation, resource_limits } = config.security;
      const { timeout_s } = config.environment;
      return {
        values: [require_plan, writes, isolation, resource_limits.memory_mb, timeout_s],
        warnings: warnings.length,
      };
    };
    // What narrows, and what the file does not set, has its effect.
    assert.deepEqual(await effective({ CLAUDECODE: '1' }), {
      values: ['destroys', 'review', 'required', 100, 7],
      warnings: 3,
    });
    // The control: the variables of a person.
    assert.deepEqual(await effective({}), { values: ['never', 'review', 'off', 200, 7], warnings: 0 });
  });

  it('finds the user’s file in the home folder when XDG says nothing, or something relative', async () => {
    project.write('home/.config/acor/config.yaml', 'storage: {keep: 9}\n');
    for (const XDG_CONFIG_HOME of [undefined, '', 'xdg']) {
      const { config } = await load({ env: { HOME: project.at('home'), XDG_CONFIG_HOME } });
      assert.equal(config.storage.keep, 9);
    }
  });

  it('takes the names of seed 000 for two variables, and the ACOR_ name first', async () => {
    const alias = await load({ env: { TOOL_TIMEOUT_S: '3600', HEARTBEAT_GRACE_S: '5' } });
    assert.deepEqual(
      [alias.config.environment.timeout_s, alias.config.environment.heartbeat_grace_s],
      [3600, 5],
    );
    assert.equal(alias.origins['environment.timeout_s']?.where, 'TOOL_TIMEOUT_S');
    const both = await load({ env: { TOOL_TIMEOUT_S: '3600', ACOR_ENVIRONMENT_TIMEOUT_S: '10' } });
    assert.equal(both.config.environment.timeout_s, 10);
  });

  it('takes lists and truth values from variables, and no notice of other ACOR_ ones', async () => {
    const { config } = await load({
      env: {
        ACOR_PROJECT_TOOLS_DIRS: 'a,b',
        ACOR_DISCOVERY_AUTO_DISCOVER: 'false',
        ACOR_VERSION: '9',
        ACOR_LIB: 'x',
        ACOR_STORAGE_KEEP: '',
      },
    });
    assert.deepEqual(config.project.tools_dirs, ['a', 'b']);
    assert.equal(config.discovery.auto_discover, false);
    assert.equal(config.version, 1);
    assert.equal(config.storage.keep, undefined);
  });

  it('reads keys that were removed, without effect, and says so', async () => {
    project.write(
      '.acor/config.yaml',
      'version: 1\nsecurity: { workspace_isolation: false, drop_privileges: false }\n',
    );
    const { config, origins, warnings, trust } = await load({});
    assert.deepEqual(
      Object.keys(origins).filter((key) => /workspace_isol|drop_priv/.test(key)),
      [],
    );
    assert.equal('drop_privileges' in config.security, false);
    assert.equal(trust.isTrusted, true);
    assert.equal(warnings.length, 2);
    assert.match(
      warnings[0]!,
      /config\.yaml:2:\d+: 'security\.workspace_isolation' is deprecated\. Remove it, as it has no effect: /,
    );
  });

  it('replaces lists and joins maps', async () => {
    project.write('xdg/acor/config.yaml', 'project: {tools_dirs: [u]}\ndiscovery: {patterns: {bash: [a]}}\n');
    project.write('.acor/config.yaml', 'project: {tools_dirs: [p]}\ndiscovery: {patterns: {python: [b]}}\n');
    const { config } = await load({ env: { XDG_CONFIG_HOME: project.at('xdg') } });
    assert.deepEqual(config.project.tools_dirs, ['p']);
    assert.deepEqual(config.discovery.patterns, { bash: ['a'], python: ['b'] });
  });

  it('does not change the defaults of the next one', async () => {
    project.write('.acor/config.yaml', 'security: {resource_limits: {memory_mb: 1}}\n');
    await load();
    project.write('.acor/config.yaml', 'version: 1\n');
    const { config } = await load();
    assert.deepEqual(config.security.resource_limits, {});
  });
});

describe('variables in the configuration', () => {
  it('are put in place, with a default for what is unset or empty', async () => {
    project.write(
      '.acor/config.yaml',
      'project: {name: "${USER}-${LANG:-thing}"}\nenvironment: {timeout_s: "${T:-60}", heartbeat_grace_s: "${H}"}\n',
    );
    const { config } = await load({ env: { USER: 'me', LANG: '', H: '5' } });
    assert.equal(config.project.name, 'me-thing');
    assert.deepEqual([config.environment.timeout_s, config.environment.heartbeat_grace_s], [60, 5]);
  });

  it('that are unset and have no default are reported with their names and places, all at once', async () => {
    project.write(
      '.acor/config.yaml',
      'project:\n  runs_dir: ${A}\n  tools_dirs: ["x/${B}"]\nstorage: {keeep: 1}\n',
    );
    const problems = await problemsOf(load());
    assert.deepEqual(
      problems.map(({ rule, line, message }) => [rule, line, message]),
      [
        ['unset-variable', 2, 'the variable A is not set'],
        ['unset-variable', 3, 'the variable B is not set'],
        ['unknown-key', 4, "unknown key 'keeep' in 'storage'; did you mean 'keep'?"],
      ],
    );
  });
});

describe('a broken configuration', () => {
  it('is refused with every mistake, and where each is', async () => {
    const file = project.write(
      '.acor/config.yaml',
      'versoin: 1\nenvironment:\n  timeout_s: "10"\nsecurity: {isolation: strict}\n',
    );
    const error = await failureOf(load());
    assert.equal(error.code, 'E_CONFIG_INVALID');
    assert.match(error.message, /config\.yaml:1:1: unknown key 'versoin'.* \(and 2 more\)$/);
    const problems = error.details?.['problems'] as Problem[];
    assert.deepEqual(
      problems.map(({ file: at, line, column }) => [at, line, column]),
      [
        [file, 1, 1],
        [file, 3, 14],
        [file, 4, 23],
      ],
    );
  });

  it('is refused when it is no YAML, or no map', async () => {
    project.write('.acor/config.yaml', 'project: [\n');
    assert.deepEqual(
      (await problemsOf(load())).map(({ rule }) => rule),
      ['yaml'],
    );
    project.write('.acor/config.yaml', 'nonsense\n');
    assert.deepEqual(
      (await problemsOf(load())).map(({ rule }) => rule),
      ['type'],
    );
  });

  it('may be a variable or a flag, which the message names', async () => {
    const variable = await failureOf(load({ env: { ACOR_ENVIRONMENT_TIMEOUT_S: 'soon' } }));
    assert.match(variable.message, /^the variable ACOR_ENVIRONMENT_TIMEOUT_S: .*must be a number/);
    const flag = await failureOf(load({ overrides: { 'environment.timeout_s': -1 } }));
    assert.match(flag.message, /^the flag for environment\.timeout_s: /);
  });

  it('cannot reach the prototype of objects', async () => {
    project.write('.acor/config.yaml', 'discovery: {patterns: {__proto__: {reached: [a]}}}\n');
    await load().catch(() => {});
    assert.equal(({} as Record<string, unknown>)['reached'], undefined);
  });
});

describe('the paths of the configuration', () => {
  it('are relative to the root, wherever the command was given', async () => {
    project.folder('.acor');
    const overrides = { 'project.tools_dirs': ['mine', '/abs'], 'project.runs_dir': '../runs' };
    const loaded = await load({ cwd: project.folder('deep/er'), overrides });
    assert.deepEqual(toolsDirsOf(loaded), [project.at('mine'), '/abs']);
    assert.equal(runsDirOf(loaded), project.at('../runs'));
    assert.deepEqual(registryDirsOf(loaded), [
      project.at('.acor/registry'),
      project.at('tools/registry'),
      project.at('mine/registry'),
      '/abs/registry',
    ]);
  });

  it('may begin with the home folder', async () => {
    assert.ok(!projectPath(await load(), '~/tools').includes('~'));
  });
});

function load(options: Partial<Parameters<typeof loadConfig>[0]> = {}) {
  return loadConfig({ cwd: project.root, ...options, env: { HOME: project.at('no-home'), ...options.env } });
}

async function failureOf(loading: Promise<unknown>): Promise<AcorError> {
  const error = await loading.then(
    () => assert.fail('it was accepted'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof AcorError, String(error));
  return error;
}

async function problemsOf(loading: Promise<unknown>): Promise<Problem[]> {
  return (await failureOf(loading)).details?.['problems'] as Problem[];
}
