import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { MAX_YAML_BYTES, parseYaml, readYamlFile } from './yaml-file.ts';

const rulesOf = async (text: string) => (await parseYaml('x.yaml', text)).problems.map(({ rule }) => rule);

describe('a YAML file', () => {
  let folder: ProjectFolder | undefined;
  afterEach(() => folder?.remove());

  it('gives its values and where they stand', async () => {
    const yaml = await parseYaml('x.yaml', 'a:\n  b: [1, 2.0]\n');
    assert.deepEqual(yaml.value, { a: { b: [1, 2] } });
    assert.deepEqual(yaml.placeOf(['a', 'b', 1]), { line: 2, column: 10 });
    assert.deepEqual(yaml.placeOfKey(['a'], 'b'), { line: 2, column: 3 });
    assert.equal(yaml.sourceOf(['a', 'b', 1]), '2.0');
  });

  it('that is empty or only a comment holds nothing', async () => {
    assert.deepEqual((await parseYaml('x.yaml', '')).value, {});
    assert.deepEqual((await parseYaml('x.yaml', '# nothing\n')).value, {});
  });

  it('gives the place of what holds a value that is not there', async () => {
    const yaml = await parseYaml('x.yaml', 'a:\n  b: 1\n');
    assert.deepEqual(yaml.placeOf(['a', 'c', 'd']), { line: 2, column: 3 });
  });

  it('with a key twice is refused at the second one', async () => {
    const { problems } = await parseYaml('x.yaml', 'name: a\nversion: 1.0.0\nname: b\n');
    assert.equal(problems.length, 1);
    assert.match(problems[0]!.message, /'name'/);
    assert.deepEqual([problems[0]!.rule, problems[0]!.line, problems[0]!.column], ['duplicate-key', 3, 1]);
  });

  it('that unfolds to gigabytes is refused before it does', async () => {
    const levels = 'bcdefghij'
      .split('')
      .map((name, i) => `${name}: &${name} [${`*${'abcdefghi'[i]},`.repeat(9)}]`);
    assert.deepEqual(await rulesOf(['a: &a [x,x,x,x,x,x,x,x,x]', ...levels].join('\n')), ['aliases']);
  });

  it('may not use any alias where they are not allowed', async () => {
    const { problems } = await parseYaml('x.yaml', 'a: &a [1]\nb: *a\n', { aliases: false });
    assert.deepEqual(
      problems.map(({ rule, line, column }) => [rule, line, column]),
      [['aliases', 2, 4]],
    );
    assert.deepEqual((await parseYaml('x.yaml', 'a: &a [1]\n', { aliases: false })).problems, []);
  });

  it('may not use an alias inside of what it stands for', async () => {
    for (const text of [
      'x: &a [*a]\n',
      'x: &a { y: [1, { z: *a }] }\n',
      '&a\nx:\n  y: *a\n',
      'x: &a [1]\ny: &b [*a, *b]\n',
    ]) {
      const { problems, value } = await parseYaml('x.yaml', text);
      assert.equal(value, undefined);
      assert.deepEqual(
        problems.map(({ rule, message }) => [
          rule,
          /^the alias \*[ab] is a part of what it stands for$/.test(message),
        ]),
        [['aliases', true]],
      );
    }
    const { value } = await parseYaml('x.yaml', 'x: &a [1]\ny: &b [*a]\nz: &a [*b]\n');
    assert.deepEqual(value, { x: [1], y: [[1]], z: [[[1]]] });
  });

  it('may use a few aliases', async () => {
    assert.deepEqual((await parseYaml('x.yaml', 'a: &a [1]\nb: *a\n')).value, { a: [1], b: [1] });
  });

  it('that is nested without end is refused', async () => {
    assert.deepEqual(await rulesOf('['.repeat(100_000)), ['too-deep']);
    assert.deepEqual(await rulesOf('{a: '.repeat(50_000)), ['too-deep']);
    assert.deepEqual(await rulesOf('- '.repeat(100_000)), ['too-deep']);
  });

  it('with tags, keys that are no text, or a second document is refused', async () => {
    assert.deepEqual(await rulesOf('a: !!python/object:os.system {}'), ['yaml']);
    assert.deepEqual(await rulesOf('? [a]\n: 1'), ['yaml']);
    assert.deepEqual(await rulesOf('a: 1\n---\nb: 1'), ['one-document']);
  });

  it('that is no UTF-8 text is refused', async () => {
    folder = projectFolder();
    assert.equal(
      (await readYamlFile(folder.write('a.yaml', new Uint8Array([0x61, 0xff])))).problems[0]?.rule,
      'encoding',
    );
    assert.equal((await readYamlFile(folder.write('b.yaml', 'a: "\0"'))).problems[0]?.rule, 'encoding');
    assert.deepEqual((await readYamlFile(folder.write('c.yaml', 'a: ü�'))).value, { a: 'ü�' });
  });

  it('that is too large is refused by its size, whatever it holds', async () => {
    folder = projectFolder();
    const { problems } = await readYamlFile(folder.write('a.yaml', 'x'.repeat(1024 * 1024)));
    assert.deepEqual(
      problems.map(({ rule }) => rule),
      ['size'],
    );
    const largest = `a: "${'x'.repeat(MAX_YAML_BYTES - 6)}"\n`;
    assert.deepEqual(
      (await readYamlFile(folder.write('b.yaml', largest.slice(0, MAX_YAML_BYTES)))).problems,
      [],
    );
  });

  it('that is a folder, or is not there, is a problem and no exception', async () => {
    folder = projectFolder();
    assert.equal((await readYamlFile(folder.root)).problems[0]?.rule, 'unreadable');
    assert.equal((await readYamlFile(folder.at('none.yaml'))).problems[0]?.rule, 'unreadable');
  });

  it('reports one mistake once', async () => {
    assert.equal((await rulesOf('a: [1, 2\nb: 3\n')).length <= 3, true);
    assert.equal((await rulesOf(`${'a: "\n'.repeat(500)}`)).length <= 20, true);
  });
});
