import assert from 'node:assert/strict';
import { chownSync, mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { findProject } from './find.ts';

const skip = process.getuid?.() === 0 ? false : 'only root can make files of another user';
const OTHER = 4242;

let project: ProjectFolder;
beforeEach(() => {
  project = projectFolder();
  mkdirSync(project.at('.acor'), { recursive: true });
  mkdirSync(project.at('work/sub'), { recursive: true });
});
afterEach(() => project.remove());

describe('the project above a folder', { skip }, () => {
  const found = (path: string) => findProject(project.at(path)).root;

  it('is not that of another user', () => {
    assert.equal(found('work/sub'), project.root, 'the control: it is the own one');
    chownSync(project.at('.acor'), OTHER, OTHER);
    assert.equal(found('work/sub'), project.at('work/sub'));
  });

  it('may be that of another user where the user works in a folder of that user, or in the project itself', () => {
    chownSync(project.at('.acor'), OTHER, OTHER);
    assert.equal(found('.'), project.root);
    chownSync(project.at('work/sub'), OTHER, OTHER);
    assert.equal(found('work/sub'), project.root);
  });
});
