import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../../../test/support/project-folder.ts';
import { SeededRandom } from '../../../../../test/support/seeded-random.ts';
import { parseYaml, readYamlFile } from '../../../config/yaml-file.ts';
import { openSubject } from '../subject.ts';
import { applyFixes } from './apply-fixes.ts';
import { fixFiles } from './fix-files.ts';

const ROUNDS = 100;

/** Lines of manifests as people write them, right and wrong, in many ways of writing YAML. */
const LINES: readonly (readonly string[])[] = [
  ['name: t%', 'nam: t%', '"name": t%  # ä', 'name: &n t%', 'name: t%\u2028'],
  ['version: 1.0.0', 'version: 1.0', 'verison: "1.0.0" # v', ''],
  ['timeout_s: "30" # thirty', 'timeout: 30', 'timeout_s: !!str 30', 'timeout_s: |\n  30', "timeuot_s: '30'"],
  ['idempotent: "yes"', 'idempotent: no # never', 'idempotent: >-\n  true', 'idempotant: true'],
  [
    'description: 5',
    'description: |-\n  # no comment\n  text',
    'descripton: "a: b" # c',
    'description: {a: 1}',
  ],
  [
    'permissions: {level: standard}',
    'permissions:\n    level:   standard # l\n    network: {egress_allow: "*"}',
    'permissions: {levle: minimal}',
  ],
  [
    'inputs:\n- {name: a, requird: yes}\n# between\n- name: b\n  typ: int\n  min: "1"',
    'inputs: {name: a}',
    'inputs: [ {name: a} ] # i',
  ],
  [
    'resources: { memory_mb: "256", cpu_secnds: 5 }',
    'resources:\n  # cpu\n  cpu_seconds: "5"',
    'resources: [ 1',
  ],
  ['# the end', '---', '\ttab: 1', 'strict: ${X}', '? strict\n: "true"'],
];

describe('fixing files', () => {
  let folder: ProjectFolder;
  const written = new Map<string, string>();
  before(async () => {
    folder = projectFolder({ '.acor/config.yaml': 'version: 1\n' });
    const random = new SeededRandom(11);
    for (let round = 0; round < ROUNDS; round++) {
      const lines = LINES.map((choices) => random.pick(choices).replace('%', String(round)));
      const shuffled = random.chance(0.5) ? lines : [...lines].reverse();
      const end = random.chance(0.2) ? '\r\n' : '\n';
      const text = shuffled.join('\n').replaceAll('\n', end) + (random.chance(0.8) ? end : '');
      const file = folder.write(`tools/t${round}/tool.yaml`, (random.chance(0.1) ? '\ufeff' : '') + text);
      folder.write(`tools/t${round}/cli.sh`, '');
      written.set(file, readFileSync(file, 'utf8'));
    }
  });
  after(() => folder.remove());

  it('breaks no file, keeps every comment and the order of the keys, and is done after one time', async () => {
    const fixed = await fixFiles(await openSubject([], { cwd: folder.root, env: {} }), { dryRun: false });
    assert.ok(fixed.length > ROUNDS / 4, `many could be fixed in part: ${fixed.length}`);
    const changed = new Set(fixed.map(({ file }) => file));
    for (const [file, before] of written) {
      const text = readFileSync(file, 'utf8');
      assert.equal(text !== before, changed.has(file));
      if (text === before) continue;
      const about = `${before}\n=>\n${text}`;
      assert.deepEqual((await readYamlFile(file)).problems, [], about);
      const added = /^\s*(# yaml-language-server:|version: 0\.1\.0)/;
      const comments = (of: string) => of.match(/#.*/g)?.filter((line) => !added.test(line)) ?? [];
      assert.deepEqual(comments(text), comments(before), about);
      const lines = text.split('\n').filter((line) => !added.test(line.replace('\ufeff', '')));
      assert.equal(lines.length, before.split('\n').length, about);
      // A slip of a key, the end of a version or a pair of quotes is all that may differ within a line.
      for (const [index, line] of before.split('\n').entries()) {
        const letters = (of: string) =>
          of
            .replace(/\b1\.0\.0\b/g, '1.0')
            .replace(/["'[\]]|\b(yes|no|true|false|standard|minimal)\b/g, '')
            .replace(/\w+(?=:)/g, 'k');
        assert.equal(
          letters(lines[index]!.replace('\ufeff', '')),
          letters(line.replace('\ufeff', '')),
          about,
        );
      }
    }
    const again = await fixFiles(await openSubject([], { cwd: folder.root, env: {} }), { dryRun: false });
    assert.deepEqual(again, []);
  });

  it('renames a misspelt version and completes one that YAML takes for a number', async () => {
    for (const [file, before, after] of [
      ['tools/named/tool.yaml', 'versoin: 1.2.3\ntimeout_s: "60"\n', 'version: 1.2.3\ntimeout_s: 60\n'],
      ['tools/short/tool.yaml', 'version: 1.0\n', 'version: "1.0.0"\n'],
      [
        'tools/least/tool.yaml',
        'version: 1\nmin_acor_version: 0.0\n',
        'version: "1.0.0"\nmin_acor_version: "0.0.0"\n',
      ],
      ['.acor/config.yaml', 'verison: 1\n', 'version: 1\n'],
    ] as const) {
      const other = projectFolder({ '.acor/config.yaml': 'version: 1\n', [file]: before });
      try {
        const subject = await openSubject([], { cwd: other.root, env: {} });
        await fixFiles(subject, { dryRun: false });
        assert.equal(readFileSync(other.at(file), 'utf8').replace(/^# yaml-language-server.*\n/, ''), after);
      } finally {
        other.remove();
      }
    }
  });

  it('names the schema once, also in a file with a byte order mark', async () => {
    for (const file of ['tools/marked/tool.yaml', '.acor/config.yaml']) {
      const other = projectFolder({ '.acor/config.yaml': 'version: 1\n', [file]: '\ufeffversion: 1\n' });
      try {
        for (let time = 0; time < 2; time++)
          await fixFiles(await openSubject([], { cwd: other.root, env: {} }), { dryRun: false });
        assert.match(
          readFileSync(other.at(file), 'utf8'),
          /^\ufeff# yaml-language-server: \S+\nversion: .*\n$/,
        );
      } finally {
        other.remove();
      }
    }
  });

  it('renames no key that the file knows at another place, nor one that is as near to such a key', async () => {
    for (const [file, before, after] of [
      ['tools/top/tool.yaml', 'version: 1.0.0\ncommands: [git]\n', undefined],
      ['tools/near/tool.yaml', 'version: 1.0.0\ncomands: [git]\n', undefined],
      ['tools/large/tool.yaml', 'version: 1.0.0\nCommands: [git]\n', undefined],
      ['tools/below/tool.yaml', 'version: 1.0.0\npermissions: { command: [git] }\n', undefined],
      ['.acor/policy.yaml', 'version: 1\ntool: {}\n', undefined],
      ['tools/sure/tool.yaml', 'version: 1.0.0\ncommnad: [git]\n', 'version: 1.0.0\ncommand: [git]\n'],
    ] as const) {
      const other = projectFolder({ '.acor/config.yaml': 'version: 1\n', [file]: before });
      try {
        const subject = await openSubject([], { cwd: other.root, env: {} });
        await fixFiles(subject, { dryRun: false });
        const text = readFileSync(other.at(file), 'utf8').replace(/^# yaml-language-server.*\n/, '');
        assert.equal(text, after ?? before);
      } finally {
        other.remove();
      }
    }
  });

  it('puts changes at one place beside each other', async () => {
    const { text } = await applyFixes('name: a\nold: 1\n', [
      { kind: 'key', rule: 'r', path: [], key: 'old', to: 'new' },
      { kind: 'add', rule: 'r', line: 'version: 1', after: 'name' },
      { kind: 'first-line', rule: 'r', line: '# first' },
    ]);
    assert.equal(text, '# first\nname: a\nversion: 1\nnew: 1\n');
    assert.deepEqual((await parseYaml('x', text)).problems, []);
  });

  it('removes a key in a map of one line with one of its commas, and nothing else', async () => {
    const remove = (key: string) => ({ kind: 'remove', rule: 'r', path: ['health', key] }) as const;
    const text =
      'name: a\nhealth: { selftest: [--check, x], describe: [--describe] } # checked\nversion: 1\n';
    assert.equal(
      (await applyFixes(text, [remove('describe')])).text,
      'name: a\nhealth: { selftest: [--check, x] } # checked\nversion: 1\n',
    );
    assert.equal(
      (await applyFixes(text, [remove('selftest')])).text,
      'name: a\nhealth: { describe: [--describe] } # checked\nversion: 1\n',
    );
  });
});
