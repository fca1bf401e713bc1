import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { loadConfig } from '../config/load.ts';
import { findResource, publishedFiles, toolResources } from './resources.ts';

const RESOURCES = [
  { files: 'docs/**/*.md' },
  { uri: 'data://{path}', files: '{data,docs}/**', mime_type: 'text/csv' },
  { uri: 'notes://all', files: 'notes.txt' },
  { uri: 'report://{id}/of/{kind}', tool: 'report' },
];

describe('the resources of a project', () => {
  let folder: ProjectFolder;
  beforeEach(() => {
    folder = projectFolder({});
    folder.write('.acor/config.yaml', `resources: ${JSON.stringify(RESOURCES)}\n`);
    folder.write('docs/a b.md', '# A\n');
    folder.write('docs/.hidden/b.md', '');
    folder.write('data/x.csv', '1,2\n');
    folder.write('.env.md', '');
  });
  afterEach(() => folder.remove());

  const config = () => loadConfig({ cwd: folder.root, env: {} });
  const find = async (uri: string) => findResource(await config(), uri);

  it('are files by their addresses, and never hidden ones', async () => {
    assert.deepEqual(
      publishedFiles(await config()).map(({ uri, mimeType }) => [uri, mimeType]),
      [
        ['acor://files/docs/a%20b.md', 'text/markdown'],
        ['data://data/x.csv', 'text/csv'],
        ['data://docs/a%20b.md', 'text/csv'],
      ],
    );
  });

  it('are found by their address', async () => {
    const found = await find('acor://files/docs/a%20b.md');
    assert.deepEqual(found, { kind: 'file', content: { mimeType: 'text/markdown', text: '# A\n' } });
    folder.write('notes.txt', 'n');
    assert.deepEqual(await find('notes://all'), {
      kind: 'file',
      content: { mimeType: 'text/plain', text: 'n' },
    });
  });

  it('do not lead out of the project, to hidden files or to what no rule names', async () => {
    for (const path of [
      '../docs/x.md',
      'docs/../docs/a.md',
      '.env.md',
      'docs/.hidden/b.md',
      'docs/%2e%2e/x.md',
    ])
      assert.equal(await find(`data://${path}`), undefined, path);
    assert.equal(await find('acor://files/data/x.csv'), undefined);
    assert.equal(await find('data://%ff'), undefined);
  });

  it('follow no link', async () => {
    mkdirSync(folder.at('secret'));
    folder.write('secret/a.md', 'x');
    symlinkSync(folder.at('secret'), folder.at('docs/linked'));
    symlinkSync(folder.at('secret/a.md'), folder.at('docs/l.md'));
    const listed = publishedFiles(await config()).map(({ path }) => path);
    assert.ok(!listed.some((path) => path.includes('l')), String(listed));
    for (const path of ['docs/l.md', 'docs/linked/a.md'])
      await assert.rejects(find(`data://${path}`), { code: 'E_INPUT_NOT_FOUND' });
  });

  it('are what tools return, with the variables of the address as inputs', async () => {
    assert.deepEqual(toolResources(await config())[0]!.variables, ['id', 'kind']);
    const found = await find('report://7%2F8/of/sales');
    assert.ok(found?.kind === 'tool');
    assert.deepEqual(found.inputs, { id: '7/8', kind: 'sales' });
    assert.equal(await find('report://7/8/of/sales'), undefined);
  });

  it('need a source and an address that fit', async () => {
    const wrong = [
      {},
      { files: 'a', tool: 'b' },
      { tool: 'b' },
      { uri: 'acor://x', files: 'a' },
      { uri: 'x://{b}', files: 'a' },
      { uri: 'x://y', files: '*' },
      { uri: 'x://{a-b}', tool: 'c' },
    ];
    for (const rule of wrong) {
      folder.write('.acor/config.yaml', `resources: [${JSON.stringify(rule)}]\n`);
      await assert.rejects(config(), { code: 'E_CONFIG_INVALID' }, JSON.stringify(rule));
    }
  });
});
