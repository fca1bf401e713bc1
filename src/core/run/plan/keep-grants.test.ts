import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Grant, StagedOutput } from '../../registry/arguments.ts';
import { treeOf } from '../../review/kept-paths.ts';
import { keepGrants, keepOutputs } from './keep-grants.ts';

const DIR = '/runs/r';
const write = (path: string, mode?: Grant['mode']): Grant => ({
  path,
  access: 'write',
  input: 'p',
  ...(mode && { mode }),
});
const read = (path: string): Grant => ({ path, access: 'read', input: 'p' });
const keep = (grants: Grant[], least: NonNullable<Grant['mode']>[] = []) =>
  keepGrants(grants, { least, level: 'standard', dir: DIR });

describe('the places that a run may write', () => {
  it('are changed in place when neither the manifest nor the caller asks for more', () => {
    const grants = [write('/p'), write('/p/sub'), read('/q')];
    assert.deepEqual(keep(grants), grants);
  });

  it('are kept as strictly as anything granted in them, which they then cover', () => {
    const layer = { ...write('/p', 'review'), from: `${DIR}/${treeOf('/p')}` };
    assert.deepEqual(keep([write('/p'), write('/p/sub', 'review'), read('/p/other')]), [
      layer,
      read('/p/other'),
    ]);
    // The mode of the outer place does not hold for what is beside it, even if the name begins alike.
    assert.deepEqual(keep([write('/p', 'review'), write('/p-2')]), [layer, write('/p-2')]);
  });

  it('follow the strictest of all wishes, and only a layer has a copy', () => {
    assert.deepEqual(keep([write('/p')], ['snapshot']), [write('/p', 'snapshot')]);
    assert.deepEqual(keep([write('/p', 'snapshot')], ['in_place', 'review']), [
      { ...write('/p', 'review'), from: `${DIR}/${treeOf('/p')}` },
    ]);
  });

  it('cannot be kept in a layer by a privileged tool, which may keep a snapshot', () => {
    const privileged = { level: 'privileged', dir: DIR } as const;
    assert.throws(() => keepGrants([write('/p', 'review')], { ...privileged, least: [] }), {
      code: 'E_SANDBOX_UNAVAILABLE',
    });
    assert.deepEqual(keepGrants([write('/p')], { ...privileged, least: ['snapshot'] }), [
      write('/p', 'snapshot'),
    ]);
  });
});

it('outputs stay in the workspace for a review, and with a snapshot the files that they replace are kept', () => {
  const output: StagedOutput = { input: 'out', target: '/p/out', staged: '/runs/r/out' };
  const kept: StagedOutput = { ...output, stays: true };
  const replacing: StagedOutput = { ...output, replaces: { ino: 1, size: 2, mtimeMs: 3 } };
  assert.deepEqual(keepOutputs([output, kept, replacing], ['in_place']), [output, kept, replacing]);
  assert.deepEqual(keepOutputs([output, kept, replacing], ['snapshot']), [
    output,
    kept,
    { ...replacing, keepsReplaced: true },
  ]);
  assert.deepEqual(keepOutputs([replacing, kept], ['snapshot', 'review']), [
    { ...replacing, stays: true, isReviewed: true },
    kept,
  ]);
});
