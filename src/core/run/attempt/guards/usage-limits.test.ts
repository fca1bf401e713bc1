import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../../../test/support/project.ts';
import type { TreeMeter, TreeUsage } from '../../../process/tree-meter.ts';
import type { EndingRace } from '../ending.ts';
import { watchUsage } from './usage-limits.ts';

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

  it('stays when the processes give memory back', async () => {
    const usages = [100, 900, 300].map((rssBytes, at) => ({ rssBytes, cpuS: at, processes: 1 }));
    const watch = watchUsage(race, meterOf(...usages), []);
    await until(() => watch.cpuS === 2);
    watch.stop();
    assert.equal(watch.peakBytes, 900);
  });
});

/** A meter that shows these values, the last one for good. */
function meterOf(...usages: readonly TreeUsage[]): TreeMeter {
  let at = 0;
  return { measure: () => usages[Math.min(at++, usages.length - 1)] } as unknown as TreeMeter;
}
