import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoadedConfig } from '../config/load.ts';
import { recordedCall } from './recorded-call.ts';
import { Workspaces } from './workspace.ts';

const GONE = '/no/such/project';

/** The call of a run of the project in `before`, as the project in `/here` makes it with its store. */
function callNow(before: string | undefined, store: string, more: Record<string, string> = {}) {
  const record = { kind: 'tool', tool: 'load', cwd: `${before}/sub`, ...more } as const;
  const config = { root: '/here' } as LoadedConfig;
  const project = before === undefined ? {} : { project_root: before };
  return recordedCall({ config, workspaces: new Workspaces(store) }, { ...record, ...project }, []);
}

describe('the call of a recorded run', () => {
  it('is in the project that has the store', () => {
    for (const before of [GONE, '/usr']) assert.equal(callNow(before, '/here/.runs').cwd, '/here/sub');
    assert.equal(callNow('/here', '/here/.runs').cwd, '/here/sub');
  });

  it('stays in its own project where projects share a store, unless that project is gone', () => {
    assert.equal(callNow('/usr', '/var/runs').cwd, '/usr/sub');
    assert.equal(callNow(GONE, '/var/runs').cwd, '/here/sub');
  });

  it('has the paths outside of its project, and those of earlier builds, as they were recorded', () => {
    assert.equal(callNow(GONE, '/here/.runs', { cwd: `${GONE}-2/sub` }).cwd, `${GONE}-2/sub`);
    assert.equal(callNow(undefined, '/here/.runs', { cwd: GONE }).cwd, GONE);
  });

  it('names the file or the program where it is now, and a tool as it is called', () => {
    const toolNow = (tool: string) => callNow(GONE, '/here/.runs', { tool }).tool;
    assert.deepEqual([`${GONE}/a.sh`, `exec:${GONE}/a.sh`, 'exec:jq', 'load'].map(toolNow), [
      '/here/a.sh',
      'exec:/here/a.sh',
      'exec:jq',
      'load',
    ]);
  });
});
