import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import * as z from 'zod';
import { defaultManifest } from './default-manifest.ts';
import { completeManifest, type Manifest, manifestFile } from './manifest.ts';

const SEEDS = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'seeds');

describe('a manifest', () => {
  it('of the design loads unchanged (seed 000, data_migrator)', () => {
    const manifest = checked(parse(readFileSync(join(SEEDS, 'data_migrator.tool.yaml'), 'utf8')));
    assert.equal(manifest.name, 'data_migrator');
    assert.equal(manifest.version, '1.2.0');
    assert.deepEqual(manifest.permissions, {
      level: 'standard',
      filesystem: { read: ['${WORKSPACE}/source/**'], write: ['${WORKSPACE}/migrated/**'] },
      network: { egress_allow: ['api.example.com:443'] },
      commands: [],
    });
    assert.deepEqual(manifest.env, { require: ['AWS_REGION'], allow: [], set: {} });
    assert.deepEqual(manifest.resources, { cpu_seconds: 600, memory_mb: 2048 });
    assert.deepEqual(manifest.exit_codes, { ok: 0, retryable_error: 20, fatal_error: 30 });
    assert.deepEqual(manifest.health, { selftest: ['--selftest'], describe: ['--describe'] });
    assert.deepEqual(
      manifest.inputs?.map(({ name, type, required }) => ({ name, type, required })),
      [
        { name: 'source', type: 'path', required: true },
        { name: 'target', type: 'path', required: true },
      ],
    );
  });

  it('of the design loads unchanged (seed 000, example_processor), and stays minimal', () => {
    const manifest = checked(parse(readFileSync(join(SEEDS, 'example_processor.tool.yaml'), 'utf8')));
    assert.equal(manifest.permissions.level, 'minimal');
    assert.equal(manifest.timeout_s, undefined);
    assert.equal(manifest.strict, false);
  });

  it('that is empty is the manifest of a tool that has none', () => {
    assert.deepEqual(checked({}, 'some_tool'), defaultManifest('some_tool'));
  });

  it('keeps its own name', () => {
    assert.equal(checked({ name: 'own' }, 'folder').name, 'own');
  });

  it('fills in a retry that is only named', () => {
    assert.deepEqual(checked({ retry: {} }).retry, { max_attempts: 3, backoff_s: 1, max_backoff_s: 30 });
    assert.equal(checked({}).retry, undefined);
  });

  it('has a JSON Schema for editors', () => {
    const schema = z.toJSONSchema(manifestFile, { io: 'input', target: 'draft-07' });
    assert.equal(schema.additionalProperties, false);
    assert.deepEqual(schema.required ?? [], []);
  });
});

describe('the level of a manifest', () => {
  const level = (permissions: unknown) => checked({ permissions }).permissions.level;

  it('is the least that covers what is asked for', () => {
    assert.equal(level({}), 'minimal');
    assert.equal(level({ filesystem: { read: ['${WORKSPACE}/in/**', './x'] } }), 'minimal');
    assert.equal(level({ filesystem: { read: ['/usr/share/dict'] } }), 'standard');
    assert.equal(level({ network: { egress_allow: ['example.com:443'] } }), 'standard');
    assert.equal(level({ commands: ['git'] }), 'standard');
  });

  it('does not count a path as inside the workspace that climbs out of it', () => {
    assert.equal(level({ filesystem: { read: ['${WORKSPACE}/../../secrets'] } }), 'standard');
    assert.equal(level({ filesystem: { read: ['${WORKSPACE}_other/x'] } }), 'standard');
  });

  it('is privileged for the whole disk, every host or every command', () => {
    for (const path of ['/', '/**', '//*', '**'])
      assert.equal(level({ filesystem: { write: [path] } }), 'privileged', path);
    assert.equal(level({ network: { egress_allow: ['*'] } }), 'privileged');
    assert.equal(level({ network: { egress_allow: '*' } }), 'privileged');
    assert.equal(level({ commands: ['*'] }), 'privileged');
  });

  it('may be set higher, and not lower', () => {
    assert.equal(level({ level: 'standard' }), 'standard');
    assert.deepEqual(rules({ permissions: { level: 'minimal', commands: ['git'] } }), ['level-too-low']);
  });
});

describe('the mistakes between the keys of a manifest', () => {
  const cases: [string, unknown, string][] = [
    ['entry beside command', { entry: 'cli.py', command: ['true'] }, 'entry-or-command'],
    ['inputs beside input_schema', { inputs: [], input_schema: {} }, 'inputs-or-schema'],
    ['output: json without adapter: plain', { output: 'json' }, 'output-needs-plain'],
    ['output: records of a plain program', { adapter: 'plain', output: 'records' }, 'output-records'],
    ['a form of output without adapter: plain', { output: { format: 'csv' } }, 'output-needs-plain'],
    ['columns without names', { adapter: 'plain', output: 'columns' }, 'output-columns'],
    [
      'two columns of one name',
      { adapter: 'plain', output: { format: 'csv', columns: ['a', 'b', 'a'] } },
      'output-columns',
    ],
    [
      'the type of a column that is not named',
      { adapter: 'plain', output: { format: 'csv', columns: ['a'], types: { b: 'int' } } },
      'output-columns',
    ],
    [
      'a setting of another form',
      { adapter: 'plain', output: { format: 'json', columns: ['a'] } },
      'output-setting',
    ],
    ['errors without text', { errors: [{ exit: 1, code: 'E_USAGE' }] }, 'errors-need-text'],
    ['an error without a sign', { adapter: 'plain', errors: [{ code: 'E_USAGE' }] }, 'error-rule'],
    [
      'an error with an invalid pattern',
      { adapter: 'plain', errors: [{ match: '(', code: 'E_USAGE' }] },
      'pattern',
    ],
    ['two inputs of one flag', { inputs: [{ name: 'a_b' }, { name: 'a-b' }] }, 'duplicate-input'],
    [
      'an own flag that another input has',
      { inputs: [{ name: 'a' }, { name: 'b', flag: '--a' }] },
      'duplicate-input',
    ],
    [
      'a positional behind a list',
      {
        inputs: [
          { name: 'a', positional: true, multiple: true },
          { name: 'b', positional: true },
        ],
      },
      'list-is-last',
    ],
    [
      'a required positional behind an optional one',
      {
        inputs: [
          { name: 'a', positional: true },
          { name: 'b', positional: true, required: true },
        ],
      },
      'optional-is-last',
    ],
    ['two meanings of one exit code', { exit_codes: { ok: 0, fatal_error: 0 } }, 'duplicate-exit-code'],
    ['a property that cannot be a flag', { input_schema: { properties: { '../x': {} } } }, 'input-name'],
    [
      'access for something other than a path',
      { inputs: [{ name: 'a', access: 'read' }] },
      'access-needs-path',
    ],
    [
      'a bound on something without order',
      { inputs: [{ name: 'a', type: 'url', min: 1 }] },
      'bound-needs-order',
    ],
    ['min above max', { inputs: [{ name: 'a', type: 'int', min: 2, max: 1 }] }, 'min-above-max'],
    ['an invalid pattern', { inputs: [{ name: 'a', pattern: '(' }] }, 'pattern'],
    ['a default of another type', { inputs: [{ name: 'a', type: 'int', default: '5' }] }, 'default-type'],
    ['one default for a list', { inputs: [{ name: 'a', multiple: true, default: 'x' }] }, 'default-type'],
    [
      'a flag for a positional',
      { inputs: [{ name: 'a', positional: true, flag: '-a' }] },
      'flag-or-positional',
    ],
    [
      'a positional that is joined',
      { inputs: [{ name: 'a', positional: true, joined: true }] },
      'joined-needs-flag',
    ],
    [
      'a bool whose false would be -cfalse',
      { inputs: [{ name: 'a', type: 'bool', flag: '-c', joined: true, default: true }] },
      'joined-needs-flag',
    ],
    [
      'an empty default that is joined to a letter',
      { inputs: [{ name: 'a', flag: '-z', joined: true, default: '' }] },
      'default-value',
    ],
    ['a bool that is a list', { inputs: [{ name: 'a', type: 'bool', multiple: true }] }, 'bool-is-a-flag'],
  ];
  for (const [what, file, rule] of cases) {
    it(`are reported: ${what}`, () => assert.deepEqual(rules(file), [rule]));
  }

  it('are reported beside a problem within a key', () => {
    const found = rules({ entry: 'a', command: ['b'], timeout_s: 'x', unknown_key: 1 });
    assert.ok(found.includes('entry-or-command'));
    assert.equal(found.length, 3);
  });

  it('are none where everything fits', () => {
    const inputs = [
      { name: 'size', type: 'int', min: 1, max: 9, default: 3, flag: '-n' },
      { name: 'wait', type: 'duration', default: '5m' },
      { name: 'first', positional: true, required: true },
      { name: 'rest', positional: true, multiple: true, type: 'path', access: 'write' },
    ];
    assert.deepEqual(rules({ inputs, adapter: 'plain', output: 'json' }), []);
  });
});

function checked(file: unknown, name = 'tool'): Manifest {
  return completeManifest(manifestFile.parse(file), name);
}

/** The rules that a file breaks; for one of the schema's own, its code. */
function rules(file: unknown): unknown[] {
  const { error } = manifestFile.safeParse(file);
  return (error?.issues ?? []).map((issue) =>
    issue.code === 'custom' ? issue.params?.['rule'] : issue.code,
  );
}

describe('the environment that a manifest asks for', () => {
  const mistakes = (env: Record<string, unknown>) =>
    (manifestFile.safeParse({ name: 't', env }).error?.issues ?? []).map(({ path, message }) => [
      path,
      message,
    ]);

  it('has no variable that would have other code run in the tool, wherever it is named, and says why', () => {
    const denied = [
      'LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GLIBC_TUNABLES GCONV_PATH',
      'NODE_OPTIONS NODE_PATH BUN_OPTIONS BUN_BE_BUN npm_config_script_shell',
      'PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONWARNINGS PYTHONBREAKPOINT',
      'BASH_ENV BASH_FUNC_ls SHELLOPTS PS4 IFS CDPATH PROMPT_COMMAND',
      'GIT_SSH_COMMAND GIT_DIR GIT_CONFIG_GLOBAL GIT_EXTERNAL_DIFF PAGER EDITOR SSH_ASKPASS',
      'PERL5OPT PERL5LIB RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS DOTNET_STARTUP_HOOKS',
      'OPENSSL_CONF SSLKEYLOGFILE RUN_ID SECRETS_DIR ACOR_ATTEMPT ACOR_LIB',
    ].flatMap((names) => names.split(' '));
    for (const name of denied) {
      for (const [env, place] of [
        [{ require: ['OK', name] }, ['env', 'require', 1]],
        [{ allow: [name] }, ['env', 'allow', 0]],
        [{ set: { OK: '1', [name]: 'x' } }, ['env', 'set', name]],
      ] as const) {
        const [found, ...others] = mistakes(env);
        assert.deepEqual([found?.[0], others], [place, []], name);
        assert.match(String(found?.[1]), new RegExp(`'${name}': .*(it makes|connections|sets it itself)`));
      }
    }
  });

  it('may have any other', () => {
    const names =
      'AWS_REGION PATH NODE_ENV ENV PYTHONUNBUFFERED PYTHONIOENCODING DEBUG GITHUB_TOKEN LDAP_URL TZ'.split(
        ' ',
      );
    const set = Object.fromEntries(names.map((name) => [name, 'x']));
    assert.deepEqual(mistakes({ require: names, allow: names, set }), []);
  });
});
