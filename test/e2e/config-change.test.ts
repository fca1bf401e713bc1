import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';
import { ProjectInProcess } from '../support/project-in-process.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

const CONFIG = `# yaml-language-server: $schema=schema.json
# Our project.
version: 1

project:
  name: photos # the name
  tools_dirs: [tools/, more/]
environment:
  # Builds are slow.
  timeout_s: \${TIMEOUT:-600}
security:
  grant_roots:
  - /srv/photos
`;

let project: ProjectInProcess;
beforeEach(() => {
  project = new ProjectInProcess({ config: CONFIG, isTrusted: false });
});
afterEach(() => project[Symbol.dispose]());

const text = () => readFileSync(project.path('.acor/config.yaml'), 'utf8');
const set = (...args: string[]) => project.envelope(['config', 'set', ...args]);

describe('acor config set', () => {
  it('changes one value of the file of the project and leaves everything else as it was', async () => {
    const { data } = await set('environment.timeout_s', '10m');
    assert.equal(text(), CONFIG.replace('${TIMEOUT:-600}', '600'));
    assert.deepEqual([data.before, data.after, data.needs_trust], ['${TIMEOUT:-600}', 600, false]);
    assert.deepEqual(data.holds, {
      value: 600,
      source: 'project',
      where: `${project.path('.acor/config.yaml')}:10:14`,
    });
    await set('project.name', '123');
    await set('project.tools_dirs', 'tools/,scripts/');
    assert.match(text(), /^ {2}name: "123" # the name\n {2}tools_dirs: \[tools\/, scripts\/\]$/m);
    await set('storage.keep', '5');
    await set('task.executor', '{command: [./agent], adapter: plain}');
    assert.match(text(), /^ {2}grant_roots:\n {2}- \/srv\/photos\nstorage:\n {2}keep: 5\ntask:\n/m);
    const { data: shown } = await project.envelope(['config', 'show', 'task']);
    assert.deepEqual(
      shown.values.find(({ key }: { key: string }) => key === 'task.max_iterations').source,
      'default',
    );
  });

  it('refuses a key or value that the file cannot have, and writes nothing', async () => {
    const cases: [string[], RegExp][] = [
      [['environment.timeout_s', 'soon'], /environment\.timeout_s was not changed: .*must be a number/],
      [['environment.timeout', '5'], /unknown key 'timeout'/],
      [['security.isolation', 'of'], /must be one of required, preferred, off/],
      [['__proto__.x', '1'], /there is no setting/],
      [['project.tools_dirs', '[a'], /the value is not valid YAML/],
      [['budget', '5'], /'budget' must be a map/],
    ];
    for (const [args, message] of cases) {
      const { error } = await set(...args);
      assert.equal(error.code, 'E_USAGE', args.join(' '));
      assert.match(error.message, message);
      assert.ok(error.hint.length > 0);
    }
    assert.equal(text(), CONFIG);
    assert.equal(({} as Record<string, unknown>)['x'], undefined);
  });

  it('refuses a deprecated key, of which every later command would warn, and names what replaces it', async () => {
    for (const [name, hint] of [
      ['project.tools_dir', /^Set project\.tools_dirs\.$/],
      ['security.drop_privileges', /^It has no effect: the permissions\.level of a tool/],
    ] as const) {
      const { error } = await set(name, 'true');
      assert.deepEqual([error.code, error.message], ['E_USAGE', `'${name}' is deprecated`]);
      assert.match(error.hint, hint);
    }
    assert.equal(text(), CONFIG);
  });

  it('says that another source decides, and that a person must trust what widens security', async () => {
    const held = await project.envelope(['config', 'set', 'environment.timeout_s', '60'], {
      env: { ACOR_ENVIRONMENT_TIMEOUT_S: '7' },
    });
    assert.deepEqual(held.data.holds, {
      value: 7,
      source: 'environment',
      where: 'ACOR_ENVIRONMENT_TIMEOUT_S',
    });
    const wide = await set('security.isolation', 'off');
    assert.deepEqual([wide.data.needs_trust, wide.data.holds.value], [true, 'preferred']);
    assert.deepEqual(wide.meta.next, ['acor trust']);
    // An answer has the warnings of what the configuration is now.
    const noEffect = ({ meta }: typeof wide) =>
      /These settings have no effect: (.*?)\. To read/.exec(meta.warnings[0])?.[1];
    assert.equal(noEffect(wide), 'security.grant_roots, security.isolation');
    const narrow = await set('security.isolation', 'required');
    assert.equal(narrow.data.needs_trust, false);
    assert.equal(noEffect(narrow), 'security.grant_roots');
  });

  it('shows with --dry-run what it would change', async () => {
    const { data } = await set('environment.timeout_s', '60', '--dry-run');
    assert.match(data.diff, /^- {2}timeout_s: \$\{TIMEOUT:-600\}\n\+ {2}timeout_s: 60$/m);
    assert.equal(text(), CONFIG);
  });

  it('repairs a file that is invalid at this key, and no other', async () => {
    project.write('.acor/config.yaml', 'version: 1\nenvironment: { timeout_s: soon }\n');
    assert.equal((await set('storage.keep', '5')).error.code, 'E_CONFIG_INVALID');
    await set('environment.timeout_s', '5');
    assert.equal(text(), 'version: 1\nenvironment: { timeout_s: 5 }\n');
  });

  it('makes the file of a project that has none, and needs a project', async () => {
    using empty = new TestProject();
    mkdirSync(empty.path('sub/.acor'), { recursive: true });
    const { data } = await project.envelope(['config', 'set', 'storage.keep', '5'], {
      cwd: empty.path('sub'),
    });
    assert.equal(readFileSync(data.file, 'utf8'), 'version: 1\nstorage:\n  keep: 5\n');
    const { error } = await project.envelope(['config', 'set', 'storage.keep', '5'], { cwd: '/' });
    assert.deepEqual([error.code, /--user/.test(error.hint)], ['E_USAGE', true]);
  });

  it('never writes through a link out of the project', async () => {
    const user = project.write('elsewhere.yaml', 'version: 1\n');
    using other = new TestProject();
    symlinkSync(user, other.path('.acor/linked.yaml'));
    mkdirSync(other.path('linked/.acor'), { recursive: true });
    symlinkSync(user, other.path('linked/.acor/config.yaml'));
    const { error } = await project.envelope(['config', 'set', 'storage.keep', '5'], {
      cwd: other.path('linked'),
    });
    assert.equal(error.code, 'E_PERMISSION');
    assert.equal(readFileSync(user, 'utf8'), 'version: 1\n');
  });

  it('neither makes nor migrates a file behind a linked folder out of the project', async () => {
    mkdirSync(project.path('outside/acor'), { recursive: true });
    mkdirSync(project.path('through'));
    symlinkSync(project.path('outside/acor'), project.path('through/.acor'));
    const cwd = project.path('through');
    const args = ['config', 'set', 'storage.keep', '5'];
    assert.equal((await project.envelope(args, { cwd })).error?.code, 'E_PERMISSION');
    assert.equal(existsSync(project.path('outside/acor/config.yaml')), false);
    const old = project.write('outside/acor/config.yaml', 'version: 0\n');
    assert.equal((await project.envelope(['upgrade', '--config'], { cwd })).error?.code, 'E_PERMISSION');
    assert.equal(readFileSync(old, 'utf8'), 'version: 0\n');
    // A control: a link that stays in the project.
    mkdirSync(project.path('within/real'), { recursive: true });
    symlinkSync('real', project.path('within/.acor'));
    assert.equal((await project.envelope(args, { cwd: project.path('within') })).ok, true);
  });
});

describe('acor config unset', () => {
  it('removes the key, and a map that it leaves empty', async () => {
    const { data } = await project.envelope(['config', 'unset', 'environment.timeout_s']);
    assert.deepEqual([data.after, data.holds.value, data.holds.source], [null, 1800, 'default']);
    assert.doesNotMatch(text(), /environment|timeout/);
    assert.match(text(), /# Our project\.[\s\S]*name: photos # the name/);
    const again = await project.envelope(['config', 'unset', 'environment.timeout_s']);
    assert.equal(again.data.diff, '');
  });
});

describe("the user's own file", () => {
  const env = () => ({ XDG_CONFIG_HOME: project.path('user') });

  it('takes what needs no trust from anybody, and the rest only from a person at a terminal', async () => {
    const { data } = await project.envelope(['config', 'set', 'environment.stall_s', '9', '--user'], {
      env: env(),
    });
    assert.deepEqual([data.file, data.holds.source], [project.path('user/acor/config.yaml'), 'user']);
    for (const change of [
      ['set', 'security.isolation', 'off'],
      ['set', 'environment', '{cancel_grace_s: 99}'],
      ['set', 'budget', '{max_runs: 99}'],
    ]) {
      const { error } = await project.envelope(['config', ...change, '--user'], { env: env() });
      assert.equal(error.code, 'E_APPROVAL_REQUIRED', change.join(' '));
      assert.match(error.action, /in the way that the hint names/);
    }
    writeFileSync(data.file, 'version: 1\nsecurity: { isolation: required }\n');
    const { error } = await project.envelope(['config', 'unset', 'security.isolation', '--user'], {
      env: env(),
    });
    assert.equal(error.code, 'E_APPROVAL_REQUIRED');
    assert.ok(existsSync(data.file));
  });

  it('is changed by a person at a terminal, who sees what holds now', { skip: noTerminal }, async () => {
    const { code, text: shown } = await atTerminal(
      ['config', 'set', 'security.isolation', 'required', '--user'],
      {
        cwd: project.root,
        env: env(),
      },
    );
    assert.equal(code, 0, shown);
    assert.match(
      shown.replaceAll('\r', ''),
      /^security\.isolation is required \(user .*config\.yaml:3:14\)$/m,
    );
  });
});
