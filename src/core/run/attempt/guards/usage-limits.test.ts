import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../../../test/support/project.ts';
import type { TreeMeter, TreeUsage } from '../../../process/tree-meter.ts';
import type { EndingRace } from '../ending.ts';
import { guardCpu, guardMemory, guardProcesses, watchUsage } from './usage-limits.ts';

const race = {
  end() {
    assert.fail('nothing is limited');
  },
} as unknown as EndingRace;

describe('the highest measured memory', () => {
  it('is unknown while no process of the tool was seen, not zero', async () => {
    const watch = watchUsage(race, meterOf({ rssBytes: 0, cpuS: 0, processes: 0 }), []);
    await until(() => watch.cpuS !== null);
    watch.stop();
    assert.equal(watch.peakBytes, null);
  });

  it('stays when the processes free memory', async () => {
    const usages = [100, 900, 300].map((rssBytes, at) => ({ rssBytes, cpuS: at, processes: 1 }));
    const watch = watchUsage(race, meterOf(...usages), []);
    await until(() => watch.cpuS === 2);
    watch.stop();
    assert.equal(watch.peakBytes, 900);
  });
});

describe('a limit on all processes', () => {
  const usage = (more: Partial<TreeUsage>): TreeUsage => ({ rssBytes: 0, cpuS: 0, processes: 0, ...more });
  const none = meterOf();

  it('of processor time is passed when more is used, and never near', () => {
    const { look, isNear } = guardCpu(3);
    assert.equal(look(usage({ cpuS: 3 }), none), undefined);
    assert.deepEqual(look(usage({ cpuS: 3.5 }), none), {
      kind: 'over-limit',
      limit: 'cpu_seconds',
      used: 3.5,
      allowed: 3,
    });
    assert.equal(isNear(usage({ cpuS: 3 })), false);
  });

  it('of their number is passed when there are more, and near from half on', () => {
    const { look, isNear } = guardProcesses(4);
    assert.equal(look(usage({ processes: 4 }), none), undefined);
    assert.deepEqual(look(usage({ processes: 5 }), none), {
      kind: 'over-limit',
      limit: 'processes',
      used: 5,
      allowed: 4,
    });
    assert.deepEqual([isNear(usage({ processes: 2 })), isNear(usage({ processes: 3 }))], [false, true]);
  });

  it('of memory is passed when the exact figure is, which is read again when more is resident', () => {
    const { look, isNear } = guardMemory(1);
    let exact = 900_000;
    let reads = 0;
    const meter = {
      exactBytes() {
        reads++;
        return exact;
      },
    } as unknown as TreeMeter;
    const at = (rssBytes: number) => look(usage({ rssBytes }), meter);
    assert.deepEqual([at(1_000_000), reads], [undefined, 0]);
    assert.deepEqual([at(2_000_000), reads], [undefined, 1]);
    assert.deepEqual([at(2_050_000), reads], [undefined, 1]);
    assert.deepEqual([at(2_100_000), reads], [undefined, 2]);
    // Below the limit it begins again.
    at(500_000);
    assert.deepEqual([at(1_500_000), reads], [undefined, 3]);
    exact = 1_000_000;
    assert.equal(at(3_000_000), undefined);
    exact = 1_500_000;
    assert.deepEqual(at(4_000_000), { kind: 'over-limit', limit: 'memory_mb', used: 1.5, allowed: 1 });
    assert.deepEqual(
      [isNear(usage({ rssBytes: 500_000 })), isNear(usage({ rssBytes: 500_001 }))],
      [false, true],
    );
  });

  it('ends the attempt once, and nothing is measured after it', async () => {
    const endings: unknown[] = [];
    const ended = { end: (ending: unknown) => endings.push(ending) } as unknown as EndingRace;
    let measured = 0;
    const meter = { measure: () => usage({ processes: 9 + measured++ }) } as unknown as TreeMeter;
    watchUsage(ended, meter, [guardProcesses(4), guardProcesses(3)]);
    await until(() => endings.length > 0);
    const others = watchUsage(race, meterOf(usage({})), []);
    await until(() => others.cpuS !== null);
    others.stop();
    assert.deepEqual([endings.length, measured], [1, 1]);
  });
});

/** A meter that shows these values, the last one for good. */
function meterOf(...usages: readonly TreeUsage[]): TreeMeter {
  let at = 0;
  return { measure: () => usages[Math.min(at++, usages.length - 1)] } as unknown as TreeMeter;
}
