import assert from 'node:assert/strict';
import { readdirSync, renameSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { processesIn, removeSocket } from '../src/core/host/host-folder.ts';
import { type ProjectFolder, projectFolder } from './support/project-folder.ts';

describe('the socket of a process of the host', () => {
  let folder: ProjectFolder;
  afterEach(() => folder.remove());

  for (const [listed, now] of [
    ['busy', 'idle'],
    ['idle', 'busy'],
    ['idle', 'idle'],
  ] as const)
    it(`is removed, listed as ${listed} and ${now} by now`, () => {
      folder = projectFolder({ [`1-2.${listed}`]: '', '1-3.idle': '' });
      const each = processesIn(folder.root).find(({ name }) => name.startsWith('1-2.'))!;
      renameSync(folder.at(each.name), folder.at(`1-2.${now}`));
      assert.equal(removeSocket(folder.root, each), now);
      assert.deepEqual(readdirSync(folder.root), ['1-3.idle']);
      assert.equal(removeSocket(folder.root, each), undefined);
    });
});
