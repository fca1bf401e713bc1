import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../../test/support/project-folder.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { loadConfig } from '../../config/load.ts';
import { findSubWorkflow, findWorkflow, workflowFiles, workflowNameOf } from './find-workflow.ts';

describe('a workflow', () => {
  let folder: ProjectFolder;
  let config: LoadedConfig;
  beforeEach(async () => {
    folder = projectFolder({
      '.acor/config.yaml': 'version: 1\n',
      '.acor/workflows/hidden.json': '{}',
      'workflows/nightly.yaml': '',
      'workflows/weekly.yml': '',
      'workflows/notes.txt': '',
      'workflows/.draft.yaml': '',
      'workflows/folder.yaml/x': '',
      'elsewhere/own.yaml': '',
    });
    config = await loadConfig({ cwd: folder.root, env: {} });
  });
  afterEach(() => folder.remove());

  const find = (wanted: string, roots = [folder.root]) =>
    findWorkflow(wanted, { config, cwd: folder.root, roots });

  it('is a YAML or JSON file in one of the folders', () => {
    assert.deepEqual(
      workflowFiles(config).map((file) => file.slice(folder.root.length + 1)),
      ['.acor/workflows/hidden.json', 'workflows/nightly.yaml', 'workflows/weekly.yml'],
    );
    assert.equal(workflowNameOf(folder.at('workflows/weekly.yml')), 'weekly');
  });

  it('is found by its name, or by its path from where the caller is', () => {
    assert.equal(find('nightly'), folder.at('workflows/nightly.yaml'));
    assert.equal(find('elsewhere/own.yaml'), folder.at('elsewhere/own.yaml'));
    assert.throws(() => find('own'), {
      code: 'E_INPUT_NOT_FOUND',
      hint: /^Workflows are \.yaml, \.yml or \.json files/,
    });
    assert.throws(() => find('nightyl'), { code: 'E_INPUT_NOT_FOUND', hint: "Did you mean 'nightly'?" });
    assert.throws(() => find('nightly.yaml'), { code: 'E_INPUT_NOT_FOUND' });
  });

  it('is refused where two have its name, or where it is outside of the folders', () => {
    folder.write('.acor/workflows/nightly.json', '{}');
    assert.throws(() => find('nightly'), {
      code: 'E_USAGE',
      message: /^more than one workflow has the name 'nightly': /,
    });
    assert.throws(() => find('weekly', [folder.at('elsewhere')]), { code: 'E_PERMISSION' });
    assert.equal(find('weekly', ['/nowhere', folder.root]), folder.at('workflows/weekly.yml'));
  });

  it('in another one is found beside it, then in the folders, else where it would be', () => {
    const folders = [folder.at('elsewhere'), folder.at('workflows')];
    assert.deepEqual(findSubWorkflow('own', folders), [folder.at('elsewhere/own.yaml')]);
    assert.deepEqual(findSubWorkflow('weekly', folders), [folder.at('workflows/weekly.yml')]);
    assert.deepEqual(findSubWorkflow('./weekly.yml', folders), [folder.at('elsewhere/weekly.yml')]);
    assert.deepEqual(findSubWorkflow('none', folders), [folder.at('elsewhere/none.yaml')]);
  });
});
