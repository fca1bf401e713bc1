import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { readEmbedded, readPrompts } from './prompts.ts';

describe('the prompts of a project', () => {
  let folder: ProjectFolder;
  beforeEach(() => {
    folder = projectFolder({});
  });
  afterEach(() => folder.remove());

  const read = () => readPrompts({ root: folder.root });
  const problems = async () => (await read()).problems.map(({ rule, line }) => [rule, line]);

  it('are none without their folder', async () => {
    assert.deepEqual(await read(), { prompts: [], problems: [] });
  });

  it('are texts with arguments, files and resources, in the order of the file', async () => {
    folder.write('docs/a.png', '');
    folder.write(
      '.acor/prompts/review.md',
      '---\r\ndescription: A review\narguments: [{ name: branch, required: true }]\n---\nLook at {{branch}}.\n\n![a](../../docs/a.png)\n![r](docs://{{branch}})\nIn ![a](b.png) a line.\n',
    );
    const { prompts } = await read();
    assert.equal(prompts[0]!.name, 'review');
    assert.deepEqual(prompts[0]!.parts, [
      { text: 'Look at {{branch}}.' },
      { path: folder.at('docs/a.png') },
      { uri: 'docs://{{branch}}' },
      { text: 'In ![a](b.png) a line.' },
    ]);
  });

  it('with an unknown key, argument or name are problems with their places, and the others stay', async () => {
    folder.write('.acor/prompts/good.md', 'Fine.\n');
    folder.write('.acor/prompts/bad.md', '---\ndescription: x\nargument: []\n---\n');
    folder.write('.acor/prompts/bad name.md', '');
    folder.write('.acor/prompts/lost.md', 'Where is {{it}}?\n');
    assert.deepEqual(
      (await read()).prompts.map(({ name }) => name),
      ['good'],
    );
    assert.deepEqual(await problems(), [
      ['prompt-name', 0],
      ['unknown-key', 3],
      ['prompt-argument', 0],
    ]);
  });

  it('embed no file outside of the project, also not by a link', async () => {
    symlinkSync('/etc/hostname', folder.at('link.txt'));
    folder.write('.acor/prompts/a.md', '![x](/etc/hostname)\n![x](../../link.txt)\n![x](../../none.txt)\n');
    assert.deepEqual(await problems(), [
      ['prompt-file', 0],
      ['prompt-file', 0],
      ['prompt-file', 0],
    ]);
    const embed = (path: string) => readEmbedded({ root: folder.root }, path, 100);
    assert.throws(() => embed(folder.at('link.txt')), { code: 'E_INPUT_NOT_FOUND' });
    folder.write('long.txt', 'x'.repeat(101));
    assert.throws(() => embed(folder.at('long.txt')), { code: 'E_USAGE' });
  });
});
