import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AcorError } from '../../protocol/acor-error.ts';
import { configDefaults } from '../../protocol/config-defaults.ts';
import { prepareRun } from './prepare-run.ts';
import type { RunRequest } from './run-request.ts';
import type { RunnerServices } from './services.ts';
import { Workspaces } from './workspace.ts';

const REQUEST = { kind: 'tool', tool: 'quick', args: [], env: {}, cwd: '/' } as unknown as RunRequest;

/** Services of a project in which the search for a tool fails with an error of the system. */
function failing(code: string): RunnerServices {
  const error = Object.assign(new Error(`${code}: it fails, scandir '/etc'`), { code });
  return {
    config: { config: configDefaults(), root: '/project' },
    workspaces: new Workspaces('/project/.runs'),
    registry: { find: () => Promise.reject(error) },
  } as unknown as RunnerServices;
}

describe('a plan that meets an error of the system', () => {
  for (const code of ['EMFILE', 'ENFILE'])
    it(`is refused with the limit to raise when there is no free descriptor (${code})`, async () => {
      const refused = await prepareRun(failing(code), REQUEST).then(
        () => undefined,
        (error: unknown) => error,
      );
      assert.ok(refused instanceof AcorError);
      assert.equal(refused.code, 'E_STORAGE');
      assert.match(refused.message, /too many open files: cannot plan the run/);
      assert.match(refused.hint!, /ulimit -n/);
    });

  it('fails with any other error as it is: the step that meets it describes it', async () => {
    await assert.rejects(prepareRun(failing('EIO'), REQUEST), { code: 'EIO' });
  });
});
