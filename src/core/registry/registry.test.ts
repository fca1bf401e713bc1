import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { names, openedRegistry } from '../../../test/support/opened-registry.ts';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { describeTool, INIT, LIST_TOOLS } from '../../protocol/next-steps.ts';
import { loadConfig } from '../config/load.ts';
import { LANGUAGES } from './languages/index.ts';
import { Registry, type ToolEntry } from './registry.ts';

const SRC = join(import.meta.dirname, '..', '..');
const SEEDS = join(SRC, '..', 'test', 'fixtures', 'seeds');

let project: ProjectFolder;
const { open, list, find } = openedRegistry(() => project);
beforeEach(() => {
  project = projectFolder();
});
afterEach(() => project.remove());

describe('discovery', () => {
  it('finds folders with cli.* or main.*, and single executable files, in both tools folders', async () => {
    project.write('tools/py/cli.py', '');
    project.write('tools/sh/main.sh', '');
    project.write('.acor/tools/ts/cli.ts', '');
    project.write('tools/js/cli.mjs', '');
    project.program('tools/bin/cli', '#!/usr/bin/perl\n');
    project.program('tools/alone.sh', '');
    project.program('tools/snake', '#!/usr/bin/env python3\n');
    assert.deepEqual(
      (await list()).map(({ name, language, problems }) => [name, language, problems]),
      [
        ['alone', 'bash', []],
        ['bin', 'executable', []],
        ['js', 'node', []],
        ['py', 'python', []],
        ['sh', 'bash', []],
        ['snake', 'python', []],
        ['ts', 'typescript', []],
      ],
    );
  });

  it('ignores everything that is not a tool', async () => {
    for (const dir of ['.git', '_lib', 'registry', 'shared_venv', 'venv', 'node_modules', 'lib'])
      project.write(`tools/${dir}/cli.py`, '');
    project.write('tools/README.md', '');
    project.write('tools/not-executable.sh', '');
    project.write('tools/docs/page.md', '');
    project.write('tools/docs/cli.md', '');
    project.write('tools/tests/cli.test.ts', '');
    assert.deepEqual(await list(), []);
  });

  it('prefers cli.* to main.*, and what the manifest names to both', async () => {
    project.write('tools/a/cli.py', '');
    project.write('tools/a/main.py', '');
    project.write('tools/b/cli.py', '');
    project.write('tools/b/src/run.js', '');
    project.write('tools/b/tool.yaml', 'entry: src/run.js\n');
    const [a, b] = await list();
    assert.equal(a?.entry, project.at('tools/a/cli.py'));
    assert.deepEqual([b?.entry, b?.language], [project.at('tools/b/src/run.js'), 'node']);
  });

  it('reads the manifest beside the tool, and rather the one in a registry', async () => {
    project.write('tools/a/cli.py', '');
    project.write('tools/a/tool.yaml', 'version: 1.0.0\n');
    assert.equal((await find('a')).manifest.version, '1.0.0');
    project.write('tools/registry/a/tool.yaml', 'version: 2.0.0\n');
    const tool = await find('a');
    assert.deepEqual(
      [tool.manifest.version, tool.manifestPath],
      ['2.0.0', project.at('tools/registry/a/tool.yaml')],
    );
    rmSync(project.at('tools/registry'), { recursive: true });
    project.write('.acor/registry/a/tool.yaml', 'version: 3.0.0\n');
    assert.equal((await find('a')).manifest.version, '3.0.0');
  });

  it('takes the layout and the manifests of seed 000 unchanged', async () => {
    for (const name of ['data_migrator', 'example_processor']) {
      project.write(`tools/${name}/cli.py`, '');
      project.write(`tools/registry/${name}/tool.yaml`, readFileSync(join(SEEDS, `${name}.tool.yaml`)));
    }
    project.write('tools/registry/error_codes.yaml', readFileSync(join(SEEDS, 'error_codes.yaml')));
    assert.deepEqual(
      (await list()).map(({ name, problems }) => [name, problems]),
      [
        ['data_migrator', []],
        ['example_processor', []],
      ],
    );
    assert.deepEqual(await (await open()).errorCodes(), {});
  });

  it('takes a tool that is only a manifest with a command', async () => {
    project.write('.acor/registry/backup/tool.yaml', 'command: [restic, backup]\nadapter: plain\n');
    project.write('.acor/registry/not-a-tool/cli.py', '');
    const tools = await list();
    assert.deepEqual(
      tools.map(({ name, command, adapter, entry, problems }) => [name, command, adapter, entry, problems]),
      [['backup', ['restic', 'backup'], 'plain', null, []]],
    );
  });

  it('adds what the patterns of the configuration name', async () => {
    project.write(
      '.acor/config.yaml',
      'project: {tools_dirs: [custom]}\ndiscovery: {patterns: {bash: ["scripts/*.sh"], python: ["**/{job,task}.py"]}}\n',
    );
    project.write('custom/scripts/migrate.sh', '');
    project.write('custom/deep/er/job.py', '');
    project.write('custom/deep/er/other.py', '');
    assert.deepEqual(
      (await list()).map(({ name, language }) => [name, language]),
      [
        ['job', 'python'],
        ['migrate', 'bash'],
      ],
    );
  });

  it('offers only tools with a manifest when it is not automatic', async () => {
    project.write('.acor/config.yaml', 'discovery: {auto_discover: false}\n');
    project.write('tools/with/cli.py', '');
    project.write('tools/with/tool.yaml', '');
    project.write('tools/without/cli.py', '');
    assert.deepEqual(names(await list()), ['with']);
  });

  it('starts nothing, whatever the tools are', async () => {
    const trace = project.at('trace');
    const code = `import { writeFileSync } from 'node:fs'; writeFileSync('${trace}', '');\n`;
    project.write('tools/a/cli.py', `open('${trace}', 'w')\n`);
    project.write('tools/b/cli.mjs', code);
    project.write('tools/c/cli.ts', code);
    const script = project.program('tools/d', `#!/bin/sh\ntouch '${trace}'\n`);
    project.write('tools/a/tool.yaml', 'health: {describe: ["--describe"], selftest: ["--selftest"]}\n');
    assert.equal((await list()).length, 4);
    assert.ok(!existsSync(trace));
    // The control: started, such a tool does leave its trace.
    spawnSync(script);
    assert.ok(existsSync(trace));
  });

  it('of a folder that is no project leaves nothing behind', async () => {
    assert.deepEqual(await list(), []);
    assert.ok(!existsSync(project.at('.runs')));
  });
});

describe('a broken tool', () => {
  it('is listed with what is wrong, and hides no other', async () => {
    project.write('tools/good/cli.py', '');
    project.write('tools/bad/cli.py', '');
    const manifest = project.write('tools/bad/tool.yaml', 'naem: bad\ntimeout_s: "10"\n');
    const tools = await list();
    assert.deepEqual(names(tools), ['bad', 'good']);
    assert.deepEqual(
      tools[0]!.problems.map(({ file, line, column, rule }) => [file, line, column, rule]),
      [
        [manifest, 1, 1, 'unknown-key'],
        [manifest, 2, 12, 'type'],
      ],
    );
    assert.deepEqual(tools[1]!.problems, []);
  });

  it('hides no other, even where a defect of ACOR fails it', async () => {
    project.write('tools/good/cli.py', '');
    project.program('tools/odd', '#!/usr/bin/odd\n');
    const defect = { ...LANGUAGES[0]!, name: 'odd', extensions: [], detect: () => fail('a defect') };
    const config = await loadConfig({ cwd: project.root, env: { HOME: project.at('no-home') } });
    const plugins = {
      key: 'odd',
      next: [],
      languages: () => Promise.resolve([defect]),
      adjust: (found: readonly ToolEntry[]) => Promise.resolve({ tools: [...found], hidden: new Map() }),
    };
    const [good, odd] = await Registry.open(config, plugins).list();
    assert.deepEqual([good?.name, good?.problems], ['good', []]);
    assert.deepEqual(
      odd?.problems.map(({ rule, message }) => [rule, message]),
      [['unreadable', `${project.at('tools/odd')} cannot be read (a defect)`]],
    );
    assert.match(odd!.problems[0]!.fix, /defect of acor/);
  });

  it('is listed with everything that is wrong, also with its entry, its language and its schemas', async () => {
    project.write('tools/bad/cli.py', '');
    project.write(
      'tools/bad/tool.yaml',
      'entry: none.py\ntimeout_s: "10"\nlanguage: pyhton\ninput_schema: {type: 5}\noutput_schema: {$ref: "#"}\n',
    );
    const [tool] = await list();
    assert.deepEqual(
      tool!.problems.map(({ line, rule }) => `${line} ${rule}`),
      ['2 type', '3 language', '4 input-schema', '5 output-schema', '1 entry-missing'],
    );
  });

  it('is refused by name with every mistake', async () => {
    project.write('tools/bad/cli.py', '');
    project.write('tools/bad/tool.yaml', 'naem: bad\nrole: leef\n');
    const error = await failureOf(find('bad'));
    assert.equal(error.code, 'E_MANIFEST_INVALID');
    assert.match(error.message, /tool\.yaml:1:1: unknown key 'naem'; did you mean 'name'\? \(and 1 more\)$/);
    assert.equal((error.details!['problems'] as unknown[]).length, 2);
  });

  const cases: [string, () => void, string, RegExp][] = [
    ['is no YAML', () => project.write('tools/x/tool.yaml', 'name: [\n'), 'yaml', /tool\.yaml/],
    [
      'is a megabyte of text',
      () => project.write('tools/x/tool.yaml', 'x'.repeat(1024 * 1024)),
      'size',
      /262144/,
    ],
    [
      'has a value that has its own toString',
      () => project.write('tools/x/tool.yaml', 'effects: {toString: x}\n'),
      'allowed-values',
      /'effects' must be one of/,
    ],
    [
      'has a value with a tag for bytes',
      () => project.write('tools/x/tool.yaml', 'env: !!binary aGk=\n'),
      'yaml',
      /tag.*binary/,
    ],
    ['is a YAML bomb', () => project.write('tools/x/tool.yaml', BOMB), 'aliases', /alias/],
    [
      'has a key twice',
      () => project.write('tools/x/tool.yaml', 'name: x\nname: x\n'),
      'duplicate-key',
      /'name'/,
    ],
    ['is a folder', () => project.folder('tools/x/tool.yaml'), 'unreadable', /not a file/],
    [
      'is a symlink to nowhere',
      () => project.link('tools/x/tool.yaml', 'none'),
      'unreadable',
      /missing file/,
    ],
    [
      'is a symlink out of the tools folder',
      () => project.link('tools/x/tool.yaml', project.write('elsewhere.yaml', 'name: x\n')),
      'link-outside',
      /elsewhere/,
    ],
    [
      'is called tool.yml',
      () => project.write('tools/x/tool.yml', 'name: x\n'),
      'manifest-name',
      /tool\.yaml/,
    ],
    [
      'names an unknown language',
      () => project.write('tools/x/tool.yaml', 'language: pyton\n'),
      'language',
      /pyton/,
    ],
    [
      'names an entry outside the folder',
      () => project.write('tools/x/tool.yaml', 'entry: ../../elsewhere.py\n'),
      'entry-outside',
      /elsewhere/,
    ],
    [
      'names an entry outside the folder that is not there',
      () => project.write('tools/x/tool.yaml', 'entry: ../none.py\n'),
      'entry-outside',
      /the entry '\.\.\/none\.py' is \S*\/tools\/none\.py, outside the tool's folder/,
    ],
    [
      'names an entry that is not there',
      () => project.write('tools/x/tool.yaml', 'entry: none.py\n'),
      'entry-missing',
      /none\.py/,
    ],
    [
      'names an entry that is a folder',
      () => {
        project.folder('tools/x/sub');
        project.write('tools/x/tool.yaml', 'entry: sub\n');
      },
      'entry-missing',
      /sub/,
    ],
    [
      'gives a name that cannot be one',
      () => project.write('tools/x/tool.yaml', 'name: X Y\n'),
      'format',
      /lower-case/,
    ],
  ];
  for (const [what, prepare, rule, message] of cases) {
    it(`has a manifest that ${what}`, async () => {
      project.write('tools/x/cli.py', '');
      prepare();
      const [tool, ...others] = await list();
      assert.equal(others.length, 0);
      assert.equal(tool?.name, 'x');
      assert.deepEqual(
        tool?.problems.map((each) => each.rule),
        [rule],
      );
      const { message: said, fix, file } = tool!.problems[0]!;
      assert.match(`${file} ${said}`, message);
      assert.ok(fix.length > 0);
    });
  }

  it('has an entry that is a symlink out of its folder', async () => {
    project.write('tools/_shared/cli.py', '');
    project.folder('tools/x');
    project.link('tools/x/cli.py', '../_shared/cli.py');
    assert.deepEqual(
      (await list())[0]?.problems.map(({ rule }) => rule),
      ['entry-outside'],
    );
  });

  it('is a symlink out of the tools folder, which is not followed', async () => {
    project.write('elsewhere/cli.py', '');
    project.link('tools/linked', project.at('elsewhere'));
    project.link('tools/dangling', 'none');
    const tools = await list();
    assert.deepEqual(
      tools.map(({ name, entry, problems }) => [name, entry, problems[0]?.rule]),
      [
        ['dangling', null, 'dangling-link'],
        ['linked', null, 'link-outside'],
      ],
    );
    assert.match(tools[1]!.problems[0]!.message, new RegExp(project.at('elsewhere')));
  });

  it('is not a symlink that stays in the tools folder', async () => {
    project.write('tools/_versions/v2/cli.py', '');
    project.link('tools/current', '_versions/v2');
    const [tool] = await list();
    assert.deepEqual(
      [tool?.name, tool?.problems, tool?.entry],
      ['current', [], project.at('tools/_versions/v2/cli.py')],
    );
  });

  it('has a name that cannot be one', async () => {
    project.write('tools/My Tool/cli.py', '');
    project.program('tools/a.b.sh', '');
    const tools = await list();
    assert.deepEqual(
      tools.map(({ name, problems }) => [name, problems[0]?.rule]),
      [
        ['My Tool', 'tool-name'],
        ['a.b', 'tool-name'],
      ],
    );
  });

  it('has two entries, and no manifest that chooses', async () => {
    project.write('tools/x/cli.py', '');
    project.write('tools/x/cli.sh', '');
    const [tool] = await list();
    assert.deepEqual(
      [tool?.problems[0]?.rule, tool?.problems[0]?.fix],
      ['two-entries', 'Choose one in the manifest: entry: cli.py'],
    );
    project.write('tools/x/tool.yaml', 'entry: cli.sh\n');
    assert.deepEqual((await find('x')).language, 'bash');
  });

  it('has a manifest in two registries, and both are named', async () => {
    project.write('tools/x/cli.py', '');
    project.write('.acor/registry/x/tool.yaml', '');
    project.write('tools/registry/x/tool.yaml', '');
    const [tool, ...others] = await list();
    assert.equal(others.length, 0);
    assert.equal(tool?.problems[0]?.rule, 'two-manifests');
    for (const path of ['.acor/registry/x/tool.yaml', 'tools/registry/x/tool.yaml'])
      assert.ok(tool?.problems[0]?.message.includes(project.at(path)));
  });

  it('has a manifest and no program', async () => {
    project.write('tools/x/tool.yaml', 'name: x\n');
    assert.deepEqual(
      (await list())[0]?.problems.map(({ rule }) => rule),
      ['no-entry'],
    );
  });

  it('is one of two that have one name, and each names both', async () => {
    const one = project.write('tools/same/cli.py', '');
    const two = project.write('.acor/tools/same/cli.sh', '');
    project.write('tools/other/cli.py', '');
    const tools = await list();
    assert.deepEqual(names(tools), ['other', 'same', 'same']);
    for (const tool of tools.slice(1)) {
      assert.deepEqual(
        tool.problems.map(({ rule }) => rule),
        ['duplicate-name'],
      );
      assert.ok(tool.problems[0]!.message.includes(one) && tool.problems[0]!.message.includes(two));
    }
    assert.equal((await failureOf(find('same'))).code, 'E_MANIFEST_INVALID');
    // The other one of a pair works again as soon as the first is gone.
    rmSync(two);
    assert.equal((await find('same')).entry, one);
  });

  it('is named by the symlink that leads to it', async () => {
    const entry = project.write('tools/same/cli.py', '');
    project.write('tools/same/tool.yaml', 'name: same\n');
    const link = project.link('tools/alias', 'same');
    for (const { problems } of await list())
      assert.equal(problems[0]?.message, `2 tools have the name 'same': ${link} and ${entry}`);
  });

  it('is one of two whose manifests give one name', async () => {
    project.write('tools/a/cli.py', '');
    project.write('tools/a/tool.yaml', 'name: b\n');
    project.write('tools/b/cli.py', '');
    assert.deepEqual(
      (await list()).map(({ name, problems }) => [name, problems[0]?.rule]),
      [
        ['b', 'duplicate-name'],
        ['b', 'duplicate-name'],
      ],
    );
  });
});

describe('a tool that is not there', () => {
  it('is refused with the nearest names', async () => {
    project.write('tools/data_migrator/cli.py', '');
    const error = await failureOf(find('data_migrater'));
    assert.equal(error.code, 'E_TOOL_NOT_FOUND');
    assert.equal(error.hint, "Did you mean 'data_migrator'?");
    assert.deepEqual(error.details?.['nearest'], ['data_migrator']);
    assert.deepEqual(error.next, [describeTool('data_migrator'), LIST_TOOLS]);
  });

  it('is refused with where tools are looked for, when there are none', async () => {
    const error = await failureOf(find('../../etc/passwd'));
    assert.match(error.hint!, new RegExp(project.at('tools')));
    assert.deepEqual(error.next, [INIT, LIST_TOOLS]);
  });
});

describe('the error codes of a project', () => {
  it('are its own, filled in by their class, the nearer file winning', async () => {
    project.write(
      'tools/registry/error_codes.yaml',
      'codes:\n  E_MINE: {class: retryable, retryable: true}\n  E_OTHER: {class: user_error, retryable: false, exit: 2, action: Ask., hint: Look.}\n',
    );
    project.write(
      '.acor/error_codes.yaml',
      'codes: {E_OTHER: {class: unknown, retryable: false, action: Wait.}}\n',
    );
    const codes = await (await open()).errorCodes();
    assert.deepEqual(codes['E_MINE'], {
      class: 'retryable',
      retryable: true,
      exit: 1,
      action: 'Retry with backoff, up to 3 times.',
      hint: 'Wait, then run it again.',
    });
    assert.deepEqual(
      [codes['E_OTHER']?.class, codes['E_OTHER']?.action, codes['E_OTHER']?.exit],
      ['unknown', 'Wait.', 1],
    );
  });

  it('are seen at once when the file changes', async () => {
    const registry = await open();
    assert.deepEqual(await registry.errorCodes(), {});
    project.write('.acor/error_codes.yaml', 'codes: {E_MINE: {class: unknown, retryable: false}}\n');
    assert.deepEqual(Object.keys(await registry.errorCodes()), ['E_MINE']);
  });

  it('may say more about a built-in code, and not contradict it', async () => {
    project.write(
      '.acor/error_codes.yaml',
      'codes: {E_TIMEOUT: {class: infra_error, retryable: false, hint: Call us.}}\n',
    );
    assert.equal((await (await open()).errorCodes())['E_TIMEOUT']?.hint, 'Call us.');
    const file = project.write(
      '.acor/error_codes.yaml',
      'codes:\n  E_TIMEOUT: {class: retryable, retryable: true}\n  E_BAD: {class: bad}\n  nonsense: {class: unknown, retryable: false}\n',
    );
    const error = await failureOf((await open()).errorCodes());
    assert.equal(error.code, 'E_CONFIG_INVALID');
    assert.ok(error.message.startsWith(file));
    project.write('.acor/error_codes.yaml', 'codes:\n  E_TIMEOUT: {class: retryable, retryable: true}\n');
    assert.match(
      (await failureOf((await open()).errorCodes())).message,
      /:2:3: E_TIMEOUT is built in as \{class: infra_error/,
    );
  });
});

const BOMB = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...'bcdefghi'.split('').map((name, i) => `${name}: &${name} [${`*${'abcdefgh'[i]},`.repeat(9)}]`),
].join('\n');

function fail(why: string): never {
  throw new TypeError(why);
}

async function failureOf(work: Promise<unknown>): Promise<AcorError> {
  const error = await work.then(
    () => assert.fail('it was accepted'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof AcorError, String(error));
  return error;
}
