import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { it } from 'node:test';
import { projectFolder } from '../../../test/support/project-folder.ts';
import { landlock } from './backends/landlock.ts';
import { none } from './backends/none.ts';
import type { ChosenBackend } from './choose.ts';
import { reportFallback } from './report-fallback.ts';

const CHOSEN: ChosenBackend = {
  backend: none,
  probe: await none.probe(),
  skippedBackends: [{ backend: landlock, probe: { ...(await none.probe()), available: false } }],
  forget() {},
};

it('the mark of a reported sandbox is no pipe, and is not written through a link', () => {
  const project = projectFolder();
  try {
    const cache = project.at('.runs/cache');
    mkdirSync(project.at('outside'));
    mkdirSync(project.at('.runs'));
    symlinkSync(project.at('outside'), cache);
    assert.ok(reportFallback(CHOSEN, cache));
    assert.deepEqual(readdirSync(project.at('outside')), []);

    const other = project.at('other/cache');
    mkdirSync(other, { recursive: true });
    const mark = project.at('other/cache/sandbox-warned.json');
    spawnSync('mkfifo', [mark]);
    assert.ok(reportFallback(CHOSEN, other));
    assert.ok(lstatSync(mark).isFile());
    // The control: a mark that could be written keeps the second warning back.
    assert.equal(reportFallback(CHOSEN, other), undefined);
  } finally {
    project.remove();
  }
});
