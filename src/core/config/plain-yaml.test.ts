import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { readPlainYaml } from './plain-yaml.ts';
import { parseYaml } from './yaml-file.ts';

/** Fails where the fast reader takes a text for something else than the package does, or takes one in which the package finds a mistake. */
async function agrees(text: string): Promise<boolean> {
  const plain = readPlainYaml(text);
  if (plain === undefined) return false;
  const { value, problems } = await parseYaml('a.yaml', text, { aliases: false });
  assert.deepEqual(problems, [], text);
  assert.deepStrictEqual(plain, value, text);
  assert.equal(JSON.stringify(plain), JSON.stringify(value), text);
  return true;
}

const MANIFEST = `# A tool.
name: count_lines
version: 1.2.3
description: "Counts: the lines" # of a file
inputs:
  - name: input
    type: path
    required: true

  - name: limit
    default: 100
    enum: [1, 10, 100]
permissions:
  write: [out/*.txt, 'a b']
  network: { egress_allow: [example.com, "b.example"], mode: off }
capabilities:
- text
timeout_s: 1.5
`;

/** Texts of which the package takes some for what the fast reader must not guess. */
const DOUBTFUL = [
  'a: |\n  text\n',
  'a: >-\n  text\n',
  'a: &x 1\nb: *x\n',
  'a: !!str 1\n',
  'a: ~\n',
  'a:\n',
  'a: null\n',
  'a: NULL\n',
  'a: True\n',
  'a: .5\n',
  'a: 1.\n',
  'a: 1e3\n',
  'a: 0x1F\n',
  'a: 0o17\n',
  'a: 017\n',
  'a: -1\n',
  'a: .inf\n',
  'a: .NaN\n',
  'a: 12345678901234567890\n',
  "a: 'it''s'\n",
  'a: "a\\n"\n',
  'a: one\n  two\n',
  'a: "one\n  two"\n',
  'a: [1,\n  2]\n',
  'a: {b: 1}\n',
  'a: {b:1}\n',
  'a: { b }\n',
  'a: [b: 1]\n',
  'a: [1, , 2]\n',
  'a: [1,]\n',
  'a: {b: 1,}\n',
  'a: []\nb: {}\n',
  'a: b: c\n',
  'a: b:\n',
  'a: b #c\n',
  'a: b#c\n',
  'a: #c\n  b: 1\n',
  'a: "b"c\n',
  'a: "b" #c\n',
  'a: "b"#c\n',
  'a:1\n',
  'a : 1\n',
  'a:  1\n',
  '"a": 1\n',
  '? a\n: 1\n',
  '- a\n',
  'a:\n- b\n- c\nd: 1\n',
  'a:\n  - b\n  c: 1\n',
  'a:\n  - b: 1\n    c: 2\n  - b: 3\n',
  'a:\n  - b: 1\n   c: 2\n',
  'a:\n  - b: 1\n     c: 2\n',
  'a:\n  -   b: 1\n      c: 2\n',
  'a:\n  - - b\n',
  'a:\n  -\n    b: 1\n',
  'a:\n  - b:\n    - c\n    d: 1\n',
  'a:\n  b: 1\n c: 2\n',
  'a: 1\n  b: 2\n',
  ' a: 1\n',
  '  a: 1\n  b: 2\n',
  'a: 1\na: 2\n',
  'a: { b: 1, b: 2 }\n',
  '--- \na: 1\n',
  '---\na: 1\n',
  'a: 1\n---\nb: 1\n',
  'a: 1\n...\n',
  '%YAML 1.2\n---\na: 1\n',
  'a: 1\r\nb: 2\r\n',
  'a:\t1\n',
  '\ta: 1\n',
  'a: b\tc\n',
  '\ufeffa: 1\n',
  'a: \u00a0b\n',
  'a: b\u2028c\n',
  'a: \u2003b\n',
  'a: ü ß\n',
  'a: 😀\n',
  'a: @b\n',
  'a: `b`\n',
  'a: %b\n',
  'a: *\n',
  'a: -b\n',
  'a: - b\n',
  'a: ?b\n',
  'a: :b\n',
  'a: ,b\n',
  'a: =\n',
  'a: <<\n',
  '<<: { a: 1 }\n',
  'true: 1\n',
  'null: 1\n',
  '1: 1\n',
  '__proto__: { a: 1 }\n',
  'constructor: 1\ntoString: 2\n',
  'a: { __proto__: 1 }\n',
  'a: 2026-11-28\n',
  'a: 12:30:45\n',
  'a: 1_000\n',
  'a: +1\n',
  'a: yes\nb: on\nc: n\n',
  'a: 0\nb: 00\nc: -0\n',
  'a: 1.10\nb: 0.1\nc: 01.5\n',
  `${'a'.repeat(1100)}: 1\n`,
  'a: 1 2\n',
  'a: b  c\n',
  'a: b   \n',
  'a: [a b, c-d, e:f]\n',
  'a: [ -1 ]\n',
  'a: [a#b, c #d]\n',
  'a: [1] 2\n',
  'a: [1] # 2\n',
  'a: [[1, [2]], { b: [3] }]\n',
  'a: ["b": 1]\n',
  'a: ["b" "c"]\n',
  '',
  '# only a comment\n',
  'a',
];

const PIECES = [
  ...[
    'a: ',
    'b: ',
    'name: ',
    'a:',
    '- ',
    '-',
    '  ',
    ' ',
    '    ',
    '\n',
    '\n',
    '\n  ',
    '\n- ',
    '\n  - ',
    '\n    ',
  ],
  ...[
    '# c',
    ' # c',
    ': ',
    ':',
    ',',
    ', ',
    '[',
    ']',
    '{ ',
    ' }',
    '"',
    "'",
    '\\',
    '|',
    '>',
    '&a',
    '*a',
    '!t',
    '?',
    '%',
    '@',
  ],
  ...[
    'x',
    'one two',
    '1',
    '0',
    '1.5',
    '-1',
    'true',
    'null',
    '~',
    '1.2.3',
    './a/b.sh',
    'e1',
    'ü',
    '\t',
    '...',
    '---',
    '=',
    '<<',
  ],
];

describe('the fast reader of manifests', () => {
  it('reads an ordinary manifest as the package does', async () => {
    assert.ok(await agrees(MANIFEST));
  });

  it('reads most manifests of this project, each as the package does', async () => {
    const folder = join(import.meta.dirname, '../../../test/fixtures/tools');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('tool.yaml'),
    );
    let taken = 0;
    for (const file of files) if (await agrees(readFileSync(join(folder, file), 'utf8'))) taken++;
    assert.ok(taken > files.length / 2, `${taken} of ${files.length}`);
  });

  it('leaves to the package whatever it could take for something else', async () => {
    for (const text of DOUBTFUL) await agrees(text);
  });

  it('agrees with the package on manifests with random changes', async () => {
    const random = new SeededRandom(19);
    let taken = 0;
    for (let round = 0; round < 3000; round++) {
      let text = MANIFEST;
      for (let change = random.below(4); change >= 0; change--) {
        const at = random.below(text.length + 1);
        const removed = random.chance(0.5) ? random.below(6) : 0;
        text = text.slice(0, at) + (random.chance(0.7) ? random.pick(PIECES) : '') + text.slice(at + removed);
      }
      if (await agrees(text)) taken++;
    }
    assert.ok(taken > 300, `${taken}`);
  });

  it('agrees with the package on texts of random pieces', async () => {
    const random = new SeededRandom(23);
    let taken = 0;
    for (let round = 0; round < 20_000; round++) {
      const text = `a: ${Array.from({ length: 1 + random.below(9) }, () => random.pick(PIECES)).join('')}\n`;
      if (await agrees(text)) taken++;
    }
    assert.ok(taken > 300, `${taken}`);
  });

  it('takes no longer for a long line of spaces or brackets', () => {
    for (const text of [
      `a: b${' '.repeat(200_000)}c\n`,
      `a: ${'['.repeat(200_000)}\n`,
      `a: [${'b, '.repeat(60_000)}c]\n`,
    ])
      readPlainYaml(text);
  });
});
