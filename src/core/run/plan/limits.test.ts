import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LEVEL_LIMITS, resolveResources } from './limits.ts';

const nothing = { level: 'minimal' as const, manifest: {}, config: {}, ceilings: {} };

describe('the limits of a run', () => {
  it('are those of the level when neither the manifest nor the configuration sets any', () => {
    assert.deepEqual(resolveResources(nothing).resources, LEVEL_LIMITS.minimal);
    assert.deepEqual(resolveResources({ ...nothing, level: 'standard' }).resources, LEVEL_LIMITS.standard);
  });

  it('are the manifest’s before the configuration’s before the level’s', () => {
    const { resources, lowered } = resolveResources({
      ...nothing,
      manifest: { memory_mb: 2000 },
      config: { memory_mb: 300, cpu_seconds: 5 },
    });
    assert.deepEqual(resources, { ...LEVEL_LIMITS.minimal, memory_mb: 2000, cpu_seconds: 5 });
    assert.deepEqual(lowered, []);
  });

  it('are never above their ceilings, and the lowered limits of the manifest are listed', () => {
    const { resources, lowered } = resolveResources({
      level: 'standard',
      manifest: { memory_mb: 2000, cpu_seconds: 5 },
      config: { processes: 900 },
      ceilings: { memory_mb: 1000, cpu_seconds: 60, processes: 100, disk_mb: 50 },
    });
    assert.deepEqual(resources, {
      ...LEVEL_LIMITS.standard,
      memory_mb: 1000,
      cpu_seconds: 5,
      processes: 100,
      disk_mb: 50,
    });
    assert.deepEqual(lowered, [{ what: 'resources.memory_mb', asked: 2000, allowed: 1000 }]);
  });

  it('are not hidden by a key without a value', () => {
    const { resources } = resolveResources({ ...nothing, manifest: { memory_mb: undefined } });
    assert.equal(resources.memory_mb, 512);
  });
});
