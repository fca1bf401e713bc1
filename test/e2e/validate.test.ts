import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import { RULES } from '../../src/core/authoring/validation/rules.ts';
import { TestProject, until } from '../support/project.ts';

interface Finding {
  file: string;
  line: number;
  col: number;
  severity: string;
  rule: string;
  message: string;
  fix: string;
}

const MODELINE = '# yaml-language-server: $schema=../../.acor/schemas/manifest.schema.json\n';

/** A manifest without any finding. */
const WHOLE = `${MODELINE}name: whole
version: 1.0.0
description: Does it all.
timeout_s: 60
exit_codes: { ok: 0, fatal_error: 30 }
effects: reads
health: { selftest: ["--selftest"] }
inputs:
  - { name: count, type: int, max: 9, description: How many. }
examples:
  - { args: ["--count", "3"] }
`;

const WHOLE_CONFIG = '# yaml-language-server: $schema=schemas/config.schema.json\nversion: 1\n';

/** Common mistakes, with comments and an order of their own. */
const MISTAKEN = `# A tool of mine

name: mistaken   # its name
descripton: Does it.   # slips happen
timeout: "30"
idempotent: "yes"   # safe
permissions:
    level:   standard
    filesystem: { read: data }
inputs:
# the count
- {name: count, type: int, requird: true} # n
`;

const FIXED = `${MODELINE}# A tool of mine

name: mistaken   # its name
version: 0.1.0
description: Does it.   # slips happen
timeout_s: 30
idempotent: true   # safe
permissions:
    level:   standard
    filesystem: { read: ["data"] }
inputs:
# the count
- {name: count, type: int, required: true} # n
`;

function projectWith(
  manifests: Readonly<Record<string, string>>,
  config: string = WHOLE_CONFIG,
): TestProject {
  const project = new TestProject({ config });
  for (const [tool, manifest] of Object.entries(manifests)) {
    project.write(`tools/${tool}/tool.yaml`, manifest);
    project.write(
      `tools/${tool}/cli.sh`,
      '#!/bin/bash\n[ "$1" = --selftest ] && exit "$(cat "$(dirname "$0")/rc")"\n',
    );
    project.write(`tools/${tool}/rc`, '0');
  }
  return project;
}

function placed(findings: readonly Finding[], project: TestProject): string[] {
  return findings.map(({ file, line, col, severity, rule }) => {
    return `${file.replace(`${project.root}/`, '')}:${line}:${col} ${severity} ${rule}`;
  });
}

describe('acor validate', () => {
  it('reports nothing for a valid project, also strictly and with versions and self-tests', async () => {
    using project = projectWith({ whole: WHOLE });
    const { code, ok, data } = await project.envelope([
      'validate',
      '--strict',
      '--check-versions',
      '--selftest',
    ]);
    assert.deepEqual([code, ok, data.findings, data.tools], [0, true, [], 1]);
    assert.equal(project.runIds().length, 1, 'the self-test is a run on record');
  });

  it('reports all mistakes of all files at once, in the order of their places, each with its rule and its fix', async () => {
    using project = projectWith(
      {
        mistaken: MISTAKEN,
        whole: WHOLE.replace('"3"', '"12"').replace('effects: reads', 'input_schema: { type: 5 }'),
      },
      `${WHOLE_CONFIG}enviroment: {}\n`,
    );
    project.write('.acor/error_codes.yaml', 'codes: { E_DEADLINE: { class: retryable, retryable: true } }\n');
    project.write('.acor/policy.yaml', 'max_level: much\n');
    const { code, ok, error, meta } = await project.envelope(['validate']);
    assert.deepEqual([code, ok, error.code], [2, false, 'E_CONFIG_INVALID']);
    const { findings, errors, warnings } = error.details;
    assert.deepEqual(
      placed(findings, project).filter((each) => each.includes(' error ')),
      [
        '.acor/config.yaml:3:1 error unknown-key',
        '.acor/error_codes.yaml:1:10 error built-in-code',
        '.acor/policy.yaml:1:12 error allowed-values',
        'tools/mistaken/tool.yaml:4:1 error unknown-key',
        'tools/mistaken/tool.yaml:5:1 error unknown-key',
        'tools/mistaken/tool.yaml:6:13 error type',
        'tools/mistaken/tool.yaml:9:25 error type',
        'tools/mistaken/tool.yaml:12:28 error unknown-key',
        'tools/whole/tool.yaml:7:1 error input-schema',
        'tools/whole/tool.yaml:7:15 error inputs-or-schema',
      ],
    );
    assert.deepEqual([errors, warnings], [10, findings.length - 10]);
    for (const { rule, message, fix, severity } of findings as Finding[]) {
      assert.ok(message !== '' && fix !== '');
      assert.equal(RULES[rule]?.severity, severity, rule);
    }
    assert.deepEqual(meta.next, ['acor validate --fix --dry-run']);
  });

  it('checks the examples against the inputs, and compiles the schemas', async () => {
    using project = projectWith({
      whole: WHOLE.replace('"3"', '"12"'),
      typed: WHOLE.replace('name: whole', 'name: typed').replace(
        /inputs:\n.*\n/,
        'input_schema: { type: object, properties: { n: { type: integer, maximum: no } } }\noutput_schema: { type: thing }\n',
      ),
    });
    const { error } = await project.envelope(['validate']);
    assert.deepEqual(placed(error.details.findings, project), [
      'tools/typed/tool.yaml:9:1 error input-schema',
      'tools/typed/tool.yaml:10:1 error output-schema',
      'tools/typed/tool.yaml:12:13 error example-args',
      'tools/whole/tool.yaml:12:13 error example-args',
    ]);
    assert.match(error.details.findings[3].message, /'count' must be at most 9, and is '12'/);
    assert.equal(error.code, 'E_MANIFEST_INVALID');
  });

  it('reports each default that its input does not accept, in manifests, schemas and workflows', async () => {
    const typed = WHOLE.replace('name: whole', 'name: typed').replace('"--count", "3"', '"--kind", "a"');
    using project = projectWith({
      whole: WHOLE.replace(
        /inputs:\n.*\n/,
        `inputs:
  - { name: count, type: int, default: 12, max: 9 }
  - { name: kind, enum: [a, b], default: c }
  - { name: word, pattern: ^a, default: b }
  - { name: big, type: number, default: 9007199254740993 }
  - { name: wait, type: duration, enum: [5s, 1m], default: 5s }
  - { name: need, required: true }
`,
      ).replace('"--count", "3"', '"--count", "3", "--need", "x"'),
      typed: typed
        .replace(
          /inputs:\n.*\n/,
          `input_schema:
  type: object
  required: [need]
  properties:
    need: { type: integer }
    kind: { enum: [a, b], default: c }
    half: { type: number, multipleOf: 0.5, default: 0.7 }
    wait: { type: string, format: duration, enum: [5s], default: 1m }
    good: { type: integer, exclusiveMinimum: 0, default: 1 }
`,
        )
        .replace('"--kind", "a"', '"--kind", "a", "--need", "1"'),
    });
    project.write(
      'workflows/flow.yaml',
      'inputs:\n  kind: { enum: [a, b], default: c }\n  good: { enum: [a], default: a }\nsteps: [{ name: a, tool: whole, args: { need: x } }]\n',
    );
    const { error } = await project.envelope(['validate']);
    // Each call that leaves such an input out is refused, so examples and steps are reported, too.
    const findings = (error.details.findings as Finding[]).filter(({ rule }) =>
      ['default-value', 'inexact-number'].includes(rule),
    );
    assert.deepEqual(placed(findings, project), [
      'tools/typed/tool.yaml:14:36 error default-value',
      'tools/typed/tool.yaml:16:66 error default-value',
      'tools/whole/tool.yaml:10:40 error default-value',
      'tools/whole/tool.yaml:11:42 error default-value',
      'tools/whole/tool.yaml:12:41 error default-value',
      'tools/whole/tool.yaml:13:41 error inexact-number',
      'workflows/flow.yaml:2:34 error default-value',
    ]);
    assert.match(findings[2]!.message, /^the default of 'count' must be at most 9, and is 12$/);
    // What the schema alone refuses is reported where all inputs can be read.
    project.write(
      'tools/typed/tool.yaml',
      typed.replace(
        /inputs:\n.*\n/,
        'input_schema: { type: object, properties: { kind: { type: string }, half: { type: number, multipleOf: 0.5, default: 0.7 } } }\n',
      ),
    );
    const again = await project.envelope(['validate', 'tools/typed']);
    const [half] = (again.error.details.findings as Finding[]).filter(({ rule }) => rule === 'default-value');
    assert.match(half!.message, /^the default of 'half' must be multiple of 0\.5, and is 0\.7$/);
  });

  it('reads the recorded outputs of tools that map their lines or send messages, and reports what differs', async () => {
    using project = new TestProject();
    const map =
      "from: both\nmap:\n  - { match: '^total (?<n>\\d+)', to: result, fields: { data: { n: $.n } } }\n  - { match: '^(?<pct>\\d+)%', to: progress, fields: { pct: $.pct } }\nerrors: [{ match: 'not found', code: E_INPUT_NOT_FOUND }]\n";
    const jsonMap = 'map: [{ when: { done: true }, to: result, fields: { data: { n: $.n } } }]\n';
    const recordings = {
      mapped: [
        `adapter: text-map\n${map}`,
        { stdout: '10%\r50%\rtotal 7\n', data: { n: 7 } },
        { stdout: '', stderr: 'total 8\n', data: { n: 8 } },
        { stdout: '10%\nother\n', data: { output: 'other' } },
        { stdout: '', stderr: 'x: not found\n', rc: 1, code: 'E_INPUT_NOT_FOUND' },
      ],
      json_mapped: [
        `adapter: jsonl-map\n${jsonMap}`,
        { stdout: '{"n":1}\n{"done":true,"n":2}\n', data: { n: 2 } },
      ],
      sends: [
        'strict: true\n',
        {
          stdout: '{"type":"start","step":"s"}\n{"type":"result","status":"ok","data":{"a":1}}\n',
          data: { a: 1 },
        },
        { stdout: '{"type":"error","code":"E_USAGE","msg":"m"}\n', rc: 1, code: 'E_USAGE' },
        { stdout: '{"type":"start","step":"s"}\n', code: 'E_NO_RESULT' },
        { stdout: '', rc: 3, code: 'E_TOOL_FAILED' },
      ],
    } as const;
    const write = (wrong: boolean) => {
      for (const [name, [manifest, ...runs]] of Object.entries(recordings)) {
        project.write(`tools/${name}/cli.sh`, 'true\n');
        project.write(`tools/${name}/tool.yaml`, manifest);
        for (const [at, run] of runs.entries()) {
          const expected = wrong ? ('code' in run ? { code: 'E_OTHER' } : { data: { n: 0 } }) : {};
          const text = JSON.stringify({ args: [], stderr: '', rc: 0, ...run, ...expected });
          project.write(`tools/${name}/tests/${at}.json`, text);
        }
      }
    };
    const errors = async () => {
      const { data, error } = await project.envelope(['validate']);
      const findings: { rule: string; severity: string; file: string }[] =
        data?.findings ?? error?.details.findings;
      return findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
    };
    write(false);
    assert.deepEqual(await errors(), []);
    write(true);
    assert.deepEqual(await errors(), Array(9).fill('recorded-run'));
  });

  it('reports defaults and examples in the header of a script, with their places', async () => {
    using project = new TestProject();
    project.write(
      'tools/headed.sh',
      '#!/bin/bash\n# acor: inputs: [{ name: size, type: int, max: 5, default: 7 }]\n# acor: examples: [{ args: [--size, x], description: d }]\necho\n',
      0o755,
    );
    const { error } = await project.envelope(['validate', 'headed']);
    assert.deepEqual(
      error?.details.findings
        .filter(({ severity }: { severity: string }) => severity === 'error')
        .map(({ rule, line, file }: { rule: string; line: number; file: string }) => [rule, line, file]),
      [
        ['default-value', 2, project.path('tools/headed.sh')],
        ['example-args', 3, project.path('tools/headed.sh')],
      ],
    );
  });

  it('reports the default of a secret input that no run accepts', async () => {
    const withDefault = (text: string) =>
      WHOLE.replace(
        'inputs:\n',
        `inputs:\n  - { name: key, secret: true, default: "${text}", description: A key. }\n`,
      );
    using project = projectWith({ whole: withDefault('short') });
    const { error } = await project.envelope(['validate']);
    assert.deepEqual(placed(error.details.findings, project), [
      'tools/whole/tool.yaml:10:41 error default-value',
    ]);
    assert.match(error.message, /'key' cannot be used: it has 5 bytes .* cannot be redacted/);
    const { error: refused } = await project.envelope(['run', 'whole']);
    assert.match(refused.message, /cannot be redacted/, 'the control: each run is refused');
    project.write('tools/whole/tool.yaml', withDefault('long enough'));
    assert.deepEqual((await project.envelope(['validate'])).data.findings, []);
  });

  it('names the command that builds a tool once, where its self-test finds no program', async () => {
    using project = projectWith({});
    project.write('tools/unbuilt/tool.yaml', 'entry: main.go\nhealth: { selftest: [] }\n');
    project.write('tools/unbuilt/main.go', 'package main\n');
    const { error } = await project.envelope(['validate', '--selftest']);
    const [{ rule, fix }] = error.details.findings.filter(({ severity }: Finding) => severity === 'error');
    assert.deepEqual([rule, fix.split('go build').length - 1], ['selftest', 1], fix);
  });

  it('names each keyword and format of an input_schema that no call is checked by', async () => {
    const schema =
      '{ type: object, properties: { n: { type: string, format: iri, minLenght: 2, x-own: 1 } } }';
    using project = projectWith({
      whole: WHOLE.replace(/inputs:\n.*\n/, `input_schema: ${schema}\n`).replace('"--count"', '"--n"'),
    });
    const { ok, data } = await project.envelope(['validate']);
    assert.equal(ok, true);
    assert.deepEqual(placed(data.findings, project), [
      'tools/whole/tool.yaml:9:15 warning unchecked-input',
      'tools/whole/tool.yaml:9:15 warning unchecked-input',
    ]);
    assert.match(
      JSON.stringify(data.findings),
      /the format 'iri' in input_schema.*the keyword 'minLenght' in/,
    );
  });

  it('names the error that a self-test reports, and takes the exit code of one that says nothing', async () => {
    using project = new TestProject();
    for (const [name, script] of [
      ['says', `echo '{"type":"error","code":"E_DISK_FULL","msg":"no room","hint":"Free it."}'; exit 30`],
      ['raises', 'source "$ACOR_LIB/acor.sh"; set -e; secret token'],
      ['fails', 'exit 3'],
      ['prints', 'echo "all well"'],
    ] as const) {
      project.write(
        `tools/${name}/tool.yaml`,
        'version: 1.0.0\nstrict: true\nhealth: { selftest: ["--x"] }\n',
      );
      project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
    }
    const { error } = await project.envelope(['validate', '--selftest']);
    const said = error.details.findings.filter(({ rule }: Finding) => rule === 'selftest');
    assert.equal(said.length, 3);
    const of = (tool: string): Finding => said.find(({ file }: Finding) => file.includes(`/${tool}/`));
    assert.match(of('says').message, /failed: E_DISK_FULL: no room/);
    assert.match(of('says').fix, /^Free it\./);
    assert.match(of('raises').message, /failed: E_ENV_MISSING: .*token/);
    assert.match(of('fails').message, /failed: E_TOOL_FAILED/);
  });

  it('warns of what a manifest should declare, and treats warnings as errors when it is strict', async () => {
    using project = projectWith({
      terse:
        'name: terse\ninputs: [{ name: n }]\npermissions:\n  level: privileged\n  network: { egress_allow: ["*.example.com:443"] }\n',
    });
    project.write('tools/bare.sh', '#!/bin/bash\n', 0o755);
    const lax = await project.envelope(['validate']);
    assert.deepEqual(placed(lax.data.findings, project), [
      'tools/bare.sh:0:0 warning no-manifest',
      'tools/terse/tool.yaml:1:1 warning no-description',
      'tools/terse/tool.yaml:1:1 warning no-effects',
      'tools/terse/tool.yaml:1:1 warning no-exit-codes',
      'tools/terse/tool.yaml:1:1 warning no-modeline',
      'tools/terse/tool.yaml:1:1 warning no-selftest',
      'tools/terse/tool.yaml:1:1 warning no-timeout',
      'tools/terse/tool.yaml:1:1 warning no-version',
      'tools/terse/tool.yaml:2:10 warning no-description',
      'tools/terse/tool.yaml:4:10 warning level-too-high',
      'tools/terse/tool.yaml:5:28 warning wildcard-egress',
    ]);
    assert.deepEqual([lax.code, lax.data.errors, lax.data.warnings], [0, 0, 11]);
    const strict = await project.envelope(['validate', '--strict']);
    assert.deepEqual([strict.code, strict.error.details.errors, strict.error.details.warnings], [2, 11, 0]);
  });

  it('checks only what is named: a tool, a file, a folder, or a tool outside of the project', async () => {
    using project = projectWith({ whole: WHOLE, other: 'name: other\nbad: 1\n' }, 'verison: 1\n');
    project.write('elsewhere/tool.yaml', 'command: [echo]\nbad: 1\n');
    const files = async (...targets: string[]) => {
      const { error, data } = await project.envelope(['validate', ...targets]);
      const { findings } = error?.details ?? data;
      return [...new Set((findings as Finding[]).map(({ file }) => file.replace(`${project.root}/`, '')))];
    };
    assert.deepEqual(await files('whole'), []);
    assert.deepEqual(await files('other'), ['tools/other/tool.yaml']);
    assert.deepEqual(await files('tools/other/tool.yaml'), ['tools/other/tool.yaml']);
    assert.deepEqual(await files('.acor', 'tools/whole'), ['.acor/config.yaml']);
    assert.deepEqual(await files('elsewhere'), ['elsewhere/tool.yaml']);
    const { code, error } = await project.envelope(['validate', 'othr']);
    assert.deepEqual([code, error.code, error.hint], [1, 'E_INPUT_NOT_FOUND', "Did you mean 'other'?"]);
  });

  it('reports a self-test that fails, and runs none unless it is asked to', async () => {
    using project = projectWith({ whole: WHOLE });
    project.write('tools/whole/rc', '3');
    assert.equal((await project.envelope(['validate'])).code, 0);
    assert.deepEqual(project.runIds(), []);
    const { code, error } = await project.envelope(['validate', 'whole', '--selftest']);
    assert.deepEqual(
      [code, placed(error.details.findings, project)],
      [2, ['tools/whole/tool.yaml:8:21 error selftest']],
    );
    assert.ok(error.details.findings[0].fix.includes(`acor logs ${project.runIds()[0]}`));
  });

  it('stops a self-test in order when it is interrupted, starts no other, and still answers', async () => {
    using project = projectWith(
      { whole: WHOLE, zero: WHOLE.replace('name: whole', 'name: zero') },
      `${WHOLE_CONFIG}environment: { cancel_grace_s: 0.3 }
`,
    );
    project.write('tools/whole/cli.sh', 'sleep 300\n');
    const running = project.start(['validate', '--selftest']);
    running.child.stdin!.end();
    await until(() => project.record(project.runIds()[0] ?? '')?.state === 'running');
    running.child.kill('SIGINT');
    const { code, stdout } = await running.finished;
    const { error } = JSON.parse(stdout);
    assert.deepEqual(
      [code, placed(error.details.findings, project)],
      [2, ['tools/whole/tool.yaml:8:21 error selftest']],
    );
    assert.deepEqual(
      project.runIds().map((run) => project.record(run)?.state),
      ['cancelled'],
    );
  });

  it('reports on request what is incompatible with this version of ACOR', async () => {
    const late = WHOLE.replace('version: 1.0.0', 'version: 1.0.0\nmin_acor_version: 99.0.0');
    using project = projectWith(
      { whole: late, future: WHOLE.replace('name: whole', 'name: future\nprotocol_version: 9') },
      `${WHOLE_CONFIG}acor_version: 0.1.99\n`,
    );
    const made = {
      created_at: '2026-01-01T00:00:00Z',
      created_by: '2.0.0',
      schema_versions: { config: 7, protocol: 1 },
    };
    project.write('.acor/version.json', JSON.stringify(made, null, 2));
    assert.equal((await project.envelope(['validate'])).code, 0);
    const { error } = await project.envelope(['validate', '--check-versions']);
    assert.deepEqual(placed(error.details.findings, project), [
      '.acor/config.yaml:3:15 warning newer-acor',
      '.acor/version.json:3:17 error incompatible',
      '.acor/version.json:4:22 error incompatible',
      'tools/future/tool.yaml:3:19 error incompatible',
      'tools/whole/tool.yaml:4:19 error incompatible',
    ]);
    const { data, code } = await project.envelope(['version', '--detailed']);
    assert.deepEqual([code, data.project.compatible, data.project.problems.length], [0, false, 5]);
    assert.deepEqual([data.project.created_by, data.config_schema, data.protocols], ['2.0.0', 1, [1]]);
    assert.ok(data.schemas.includes('manifest.schema.json'));
    assert.deepEqual(
      data.features.sandboxes.map(({ name }: { name: string }) => name),
      ['bubblewrap', 'landlock', 'seatbelt', 'none'],
    );
  });
});

describe('acor validate --fix', () => {
  it('fixes what has one reading only, and changes no other character', async () => {
    using project = projectWith({ mistaken: MISTAKEN });
    const before = readdirSync(project.path('.acor'));
    const dry = await project.envelope(['validate', '--fix', '--dry-run']);
    assert.equal(readFileSync(project.path('tools/mistaken/tool.yaml'), 'utf8'), MISTAKEN);
    assert.deepEqual(readdirSync(project.path('.acor')), before);
    const [{ diff, rules }] = dry.error.details.fixed;
    assert.ok(diff.includes('\n-descripton: Does it.   # slips happen\n'), diff);
    assert.deepEqual(rules, ['no-modeline', 'no-version', 'type', 'unknown-key']);

    const { code, data } = await project.envelope(['validate', '--fix']);
    assert.equal(code, 0);
    assert.equal(data.fixed[0].diff, diff, 'what was shown is what was done');
    assert.equal(readFileSync(project.path('tools/mistaken/tool.yaml'), 'utf8'), FIXED);
    assert.ok(
      existsSync(project.path('.acor/schemas/manifest.schema.json')),
      'the modeline leads to a schema',
    );
    const again = await project.envelope(['validate', '--fix']);
    assert.deepEqual(again.data.fixed, []);
    assert.equal(readFileSync(project.path('tools/mistaken/tool.yaml'), 'utf8'), FIXED);
  });

  it('is proposed only where it changes something', async () => {
    const mistake = 'timeout_s: "60"\n';
    using project = projectWith({
      file: WHOLE.replace('name: whole', 'name: file').replace(/timeout_s.*\n/, mistake),
    });
    project.write('tools/header.sh', `#!/bin/bash\n# acor: name: header\n# acor: ${mistake}echo\n`, 0o755);
    const nextOf = async (tool: string) => (await project.envelope(['validate', tool])).meta.next;
    assert.deepEqual(await nextOf('file'), ['acor validate file --fix --dry-run']);
    assert.equal(await nextOf('header'), undefined);
    const { error } = await project.envelope(['validate', 'header', '--fix']);
    assert.deepEqual(
      [error.details.fixed, error.hint],
      [[], 'Write it without quotes: timeout_s: 60 (by hand: --fix does not change the header of a script)'],
    );
  });

  it('leaves ambiguous mistakes unchanged', async () => {
    const manifest = `${WHOLE}timeout: 5\ndescriptoin: x\nstrict: maybe\nresources: { memory_mb: 12MB }\n`;
    using project = projectWith({ whole: manifest });
    const { error } = await project.envelope(['validate', '--fix']);
    assert.deepEqual([error.details.fixed, error.details.errors], [[], 4]);
    assert.equal(readFileSync(project.path('tools/whole/tool.yaml'), 'utf8'), manifest);
  });

  it('lowers a level that is not needed, but not that of a privileged tool without permissions', async () => {
    const level = (name: string, permissions: string) =>
      WHOLE.replace('name: whole', `name: ${name}\npermissions: ${permissions}`);
    using project = projectWith({
      low: level('low', '{ level: standard }'),
      named: level('named', '{ level: privileged, commands: [git] }'),
      all: level('all', '{ level: privileged }'),
    });
    const { data } = await project.envelope(['validate', '--fix']);
    assert.deepEqual(placed(data.findings, project), ['tools/all/tool.yaml:3:23 warning level-too-high']);
    assert.match(readFileSync(project.path('tools/low/tool.yaml'), 'utf8'), /level: minimal \}/);
    assert.match(
      readFileSync(project.path('tools/named/tool.yaml'), 'utf8'),
      /level: standard, commands: \[git\]/,
    );
  });

  it('keeps the mode of a file and the link to it, and makes a script executable that has no interpreter by name', async () => {
    using project = projectWith({ mistaken: MISTAKEN });
    const shared = project.write('tools/mistaken/real.yaml', MISTAKEN, 0o600);
    project.write('tools/plain/tool.yaml', WHOLE.replace('name: whole', 'name: plain\nentry: go'));
    const entry = project.write('tools/plain/go', '#!/usr/bin/awk -f\nBEGIN {}\n', 0o644);
    const manifest = project.path('tools/mistaken/tool.yaml');
    rmSync(manifest);
    symlinkSync('real.yaml', manifest);
    const { code } = await project.envelope(['validate', '--fix']);
    assert.equal(code, 0);
    assert.equal(readFileSync(shared, 'utf8'), FIXED);
    assert.equal(statSync(shared).mode & 0o777, 0o600);
    assert.equal(statSync(entry).mode & 0o777, 0o755);
  });

  it('does not change the files of the user, unless they are named', async () => {
    using project = projectWith({ whole: WHOLE });
    const home = project.path('home');
    const file = project.write('home/.config/acor/config.yaml', 'storage: { keep: "5" }\n');
    // The home is beside the project's root here, so it is not part of the project.
    using elsewhere = projectWith({ whole: WHOLE });
    const env = { HOME: home };
    const { error } = await elsewhere.envelope(['validate', '--fix'], { env });
    assert.deepEqual([error.details.fixed, error.details.findings.at(-1).rule], [[], 'type']);
    assert.equal(readFileSync(file, 'utf8'), 'storage: { keep: "5" }\n');
    const named = await elsewhere.envelope(['validate', '--fix', file], { env });
    assert.match(readFileSync(file, 'utf8'), /storage: \{ keep: 5 \}/);
    assert.equal(named.code, 0);
  });

  it('follows no link out of the project, whatever is named', async () => {
    using outside = projectWith({ whole: WHOLE });
    using project = projectWith({ whole: WHOLE });
    const file = outside.write('mine/tool.yaml', 'command: [echo]\nstrict: "yes"\n');
    mkdirSync(project.path('tools/lured'));
    symlinkSync(file, project.path('tools/lured/tool.yaml'));
    symlinkSync(outside.root, project.path('.acor/schemas'));
    project.write('tools/plain/tool.yaml', 'command: [echo]\n');
    for (const targets of [[], ['lured'], ['tools/lured/tool.yaml'], ['plain']])
      await project.envelope(['validate', '--fix', ...targets]);
    assert.equal(readFileSync(file, 'utf8'), 'command: [echo]\nstrict: "yes"\n');
    assert.equal(existsSync(outside.path('manifest.schema.json')), false);
    await project.envelope(['validate', '--fix', file]);
    assert.match(readFileSync(file, 'utf8'), /strict: true/, 'the control: named directly, it is fixed');
  });

  it('updates outdated keys, which every command reads and warns of once', async () => {
    using project = projectWith(
      { whole: WHOLE },
      `${WHOLE_CONFIG}project:\n  tools_dir: mine   # all of them\n`,
    );
    project.write('mine/one/cli.sh', 'echo\n');
    const list = await project.acor(['list']);
    assert.deepEqual(
      JSON.parse(list.stdout).data.tools.map(({ name }: { name: string }) => name),
      ['one'],
    );
    assert.deepEqual(list.stderr.match(/deprecated.*/g), ['deprecated. Write tools_dirs: ["mine"]']);
    await project.acor(['validate', '--fix']);
    assert.match(
      readFileSync(project.path('.acor/config.yaml'), 'utf8'),
      / {2}tools_dirs: \["mine"\] {3}# all of them\n/,
    );
    assert.equal((await project.acor(['list'])).stderr, '');
  });

  it('removes keys that have no effect any more', async () => {
    using project = projectWith(
      {
        whole: WHOLE.replace(
          'health: { selftest: ["--selftest"] }\n',
          'health:\n  selftest: ["--selftest"]\n  describe: ["--describe"] # old\ncost: { per_run: 0.5 }\n',
        ),
      },
      `${WHOLE_CONFIG}security:\n  drop_privileges: true # old\n  # The sandbox.\n  isolation: required\n`,
    );
    const found = await project.envelope(['validate']);
    const deprecated = found.data.findings.filter(({ rule }: { rule: string }) => rule === 'deprecated');
    assert.equal(deprecated.length, 2);
    for (const { fix } of deprecated) assert.match(fix, /^Remove it, as it has no effect: /);
    await project.acor(['validate', '--fix']);
    assert.match(
      readFileSync(project.path('.acor/config.yaml'), 'utf8'),
      /^security:\n {2}# The sandbox\.\n {2}isolation: required\n/m,
    );
    assert.match(
      readFileSync(project.path('tools/whole/tool.yaml'), 'utf8'),
      /^health:\n {2}selftest: .*\ncost:/m,
    );
    assert.deepEqual((await project.envelope(['describe', 'whole'])).data.cost, {
      per_run: 0.5,
      currency: 'USD',
    });
  });
});
