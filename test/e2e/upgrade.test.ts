import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const OLD = `# Settings of the photo tools
version: 0

# where the tools are
tools_dir: mine/   # one folder
timeout_s: 600 # ten minutes
heartbeat_grace_s: \${GRACE:-30}
name: photos
security:
  isolation: "off"   # trusted
`;

const NEW = `# Settings of the photo tools
version: 1

project:
  # where the tools are
  tools_dirs: [ mine/ ] # one folder
  name: photos
environment:
  timeout_s: 600 # ten minutes
  heartbeat_grace_s: \${GRACE:-30}
security:
  isolation: "off" # trusted
`;

function projectOf(config: string): TestProject {
  const project = new TestProject({ config });
  project.write('mine/one/cli.sh', 'echo\n');
  return project;
}

describe('acor upgrade', () => {
  it('takes flat settings without a version for those of version 0', async () => {
    using project = projectOf(OLD.replace('version: 0\n', ''));
    const { error, meta } = await project.envelope(['list']);
    assert.match(error.message, /the file has version 0; this ACOR reads version 1/);
    assert.deepEqual(meta.next, ['acor upgrade --config']);
    assert.equal((await project.envelope(['upgrade', '--config'])).ok, true);
    const text = readFileSync(project.path('.acor/config.yaml'), 'utf8');
    assert.match(text, /^version: 1$/m);
    assert.match(text, /^ {2}timeout_s: 600 # ten minutes$/m);
    assert.equal((await project.envelope(['list'])).ok, true);
  });

  it('is the next step for a configuration of an earlier version (the control of the next tests)', async () => {
    using project = projectOf(OLD);
    const { code, error, meta } = await project.envelope(['list']);
    assert.deepEqual([code, error.code], [2, 'E_CONFIG_INVALID']);
    assert.equal(error.hint, 'Bring it up to date.');
    assert.deepEqual(meta.next, ['acor upgrade --config']);
    assert.deepEqual(
      error.details.problems.map(({ rule, line }: { rule: string; line: number }) => [rule, line]),
      [['config-version', 2]],
      'later rules are not checked',
    );
  });

  it('updates the configuration with its comments, keeps the old one, and changes nothing the second time', async () => {
    using project = projectOf(OLD);
    const file = project.path('.acor/config.yaml');
    const dry = await project.envelope(['upgrade', '--config', '--dry-run']);
    assert.deepEqual([dry.code, dry.meta.next], [0, ['acor upgrade --config']]);
    assert.ok(dry.data.changes[0].diff.includes('\n-version: 0\n+version: 1\n'), dry.data.changes[0].diff);
    assert.equal(readFileSync(file, 'utf8'), OLD);
    assert.deepEqual(readdirSync(project.path('.acor')), ['config.yaml']);

    const { data } = await project.envelope(['upgrade', '--config']);
    assert.deepEqual(data.config_version, { from: 0, to: 1 });
    assert.equal(readFileSync(file, 'utf8'), NEW);
    assert.equal(data.changes[0].backup, `${file}.bak-0`);
    assert.equal(readFileSync(`${file}.bak-0`, 'utf8'), OLD);
    const { data: listed } = await project.envelope(['list']);
    assert.deepEqual(
      listed.tools.map(({ name }: { name: string }) => name),
      ['one'],
    );

    const again = await project.envelope(['upgrade', '--config']);
    assert.deepEqual([again.data.changes, again.data.config_version], [[], { from: 1, to: 1 }]);
    assert.equal(readFileSync(file, 'utf8'), NEW);
    assert.match(again.data.acor.update_with, /^git -C \/.* pull --ff-only$/);
  });

  it('overwrites no backup, and keeps the mode', async () => {
    using project = projectOf(OLD);
    const file = project.write('.acor/config.yaml', OLD, 0o600);
    project.write('.acor/config.yaml.bak-0', 'mine\n');
    const { data } = await project.envelope(['upgrade']);
    assert.equal(data.changes[0].backup, `${file}.bak-0-2`);
    assert.equal(readFileSync(`${file}.bak-0`, 'utf8'), 'mine\n');
    assert.deepEqual(
      [file, `${file}.bak-0-2`].map((path) => statSync(path).mode & 0o777),
      [0o600, 0o600],
    );
  });

  it('rejects a version that is later than this ACOR, and one whose result would be invalid, and writes nothing', async () => {
    for (const [text, code] of [
      ['version: 2\n', 'E_INCOMPATIBLE'],
      ['version: -1\n', 'E_INCOMPATIBLE'],
      [`${OLD}unknown: 1\n`, 'E_CONFIG_INVALID'],
      ['version: 0\n  bad: [\n', 'E_CONFIG_INVALID'],
    ] as const) {
      using project = projectOf(text);
      const result = await project.envelope(['upgrade', '--config']);
      assert.deepEqual([result.code, result.error.code], [2, code], text);
      assert.equal(readFileSync(project.path('.acor/config.yaml'), 'utf8'), text);
      assert.deepEqual(readdirSync(project.path('.acor')), ['config.yaml']);
    }
  });

  it('names the places and keys of the file before in what is invalid', async () => {
    for (const [text, ...problems] of [
      [
        'name: old\ntools_dir: mine/\nheartbeat_grace_s: 10\ntimeout_s: soon\n',
        'config.yaml:4:12: \'timeout_s\' must be a number, got the text "soon"',
      ],
      [
        'version: 0\ntools_dir: 5\nenvironment:\n  timeout_s: soon\n  stall_s: never\ntimeout_s: 5\nstal_s: 6\n',
        "config.yaml:2:12: 'tools_dir' must be text, got the number 5",
        'config.yaml:4:14: \'environment.timeout_s\' must be a number, got the text "soon"',
        'config.yaml:5:12: \'environment.stall_s\' must be a number, got the text "never"',
        "config.yaml:7:1: unknown key 'stal_s'",
      ],
      [
        'tools_dir: [a, 5]\nruns_dir: {}\n',
        "config.yaml:1:16: 'tools_dir[1]' must be text, got the number 5",
        "config.yaml:2:11: 'runs_dir' must be text, got a map of keys",
      ],
    ] as const) {
      using project = projectOf(text);
      const { error } = await project.envelope(['upgrade', '--config']);
      const found = error.details.problems as { line: number; column: number; message: string }[];
      assert.deepEqual(
        found.map(({ line, column, message }) => `config.yaml:${line}:${column}: ${message}`),
        problems,
      );
    }
  });

  it('keeps the line ends and the byte order mark of the file', async () => {
    const windows = (text: string) => `\ufeff${text.replaceAll('\n', '\r\n')}`;
    using project = projectOf(windows(OLD));
    await project.envelope(['upgrade', '--config']);
    assert.equal(readFileSync(project.path('.acor/config.yaml'), 'utf8'), windows(NEW));
    const set = await project.envelope(['config', 'set', 'environment.timeout_s', '5']);
    assert.equal(set.ok, true, JSON.stringify(set));
    const changed = NEW.replace('timeout_s: 600', 'timeout_s: 5');
    assert.equal(readFileSync(project.path('.acor/config.yaml'), 'utf8'), windows(changed));
  });

  it('also renames outdated keys of manifests and updates the versions in version.json, and fixes nothing else', async () => {
    using project = projectOf('version: 1\nproject: { tools_dirs: [mine] }\n');
    const manifest = 'nam: one   # a slip\npermissions:\n  network:\n    egress_allow: "*"  # all\n';
    project.write('mine/one/tool.yaml', manifest);
    const made = {
      created_at: '2026-01-01T00:00:00Z',
      created_by: '0.1.0',
      schema_versions: { config: 0, protocol: 1 },
    };
    project.write('.acor/version.json', JSON.stringify(made, null, 2));
    assert.deepEqual((await project.envelope(['upgrade', '--config'])).data.changes, []);
    const { data } = await project.envelope(['upgrade']);
    assert.equal(data.changes.length, 2);
    assert.equal(readFileSync(project.path('mine/one/tool.yaml'), 'utf8'), manifest.replace('"*"', '["*"]'));
    const version = JSON.parse(readFileSync(project.path('.acor/version.json'), 'utf8'));
    assert.deepEqual(version, { ...made, schema_versions: { config: 1, protocol: 1 } });
    assert.deepEqual((await project.envelope(['upgrade'])).data.changes, []);
  });

  it('changes nothing when there is no configuration', async () => {
    using project = projectOf('');
    const folder = project.path('mine');
    const { code, data } = await project.envelope(['upgrade', '--cwd', folder]);
    assert.deepEqual([code, data.changes], [0, []]);
    assert.equal(existsSync(project.path('mine', '.acor')), false);
  });
});
