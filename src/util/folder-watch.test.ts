import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { until } from '../../test/support/project.ts';
import { type ProjectFolder, projectFolder } from '../../test/support/project-folder.ts';
import { FolderWatch } from './folder-watch.ts';

describe('a watch of folders', () => {
  let folder: ProjectFolder;
  let seen: string[];
  let watch: FolderWatch;
  beforeEach(() => {
    folder = projectFolder({ 'a/x': '', 'b/x': '' });
    seen = [];
    watch = new FolderWatch((path) => seen.push(path));
  });
  afterEach(() => {
    watch.close();
    folder.remove();
  });

  it('reports changed and new entries by their paths, of its folders alone', async () => {
    const first = watch.set([folder.at('a'), folder.at('none')]);
    assert.deepEqual(first, { hasNew: true, isComplete: true });
    folder.write('b/y', '1');
    folder.write('a/y', '1');
    await until(() => seen.includes(folder.at('a/y')));
    folder.write('a/x', '2');
    await until(() => seen.includes(folder.at('a/x')));
    assert.ok(!seen.includes(folder.at('b/y')));
  });

  it('has nothing new for the same folders, and watches another folder of the same name', async () => {
    watch.set([folder.at('a')]);
    assert.equal(watch.set([folder.at('a')]).hasNew, false);
    renameSync(folder.at('a'), folder.at('old'));
    renameSync(folder.at('b'), folder.at('a'));
    assert.equal(watch.set([folder.at('a')]).hasNew, true);
    folder.write('a/z', '1');
    await until(() => seen.includes(folder.at('a/z')));
  });
});
