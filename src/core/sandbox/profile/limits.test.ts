import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import { largestFileMb, processLimits, tasksFor } from './limits.ts';

/** The numbers of the kernel (`RLIMIT_…`). */
const [CPU, FSIZE, DATA, CORE, NPROC, NOFILE, MEMLOCK, MSGQUEUE] = [0, 1, 2, 4, 6, 7, 8, 12];

describe('the limits of each process', () => {
  const of = (...given: Parameters<typeof processLimits>) =>
    Object.fromEntries(processLimits(...given).map(([number, value]) => [number, value]));
  const always = { [CORE]: 1, [MSGQUEUE]: 0, [MEMLOCK]: 65_536 };

  it('are only those that need no setting when nothing is set', () => {
    assert.deepEqual(of({}, { countsByRun: true }), always);
  });

  it('are those of the resources, with room for the watch over the whole tree', () => {
    const limits = { open_files: 100, cpu_seconds: 1.5, file_mb: 1.5, memory_mb: 3000, processes: 10 };
    const all = { ...always, [NOFILE]: 100, [CPU]: 4, [FSIZE]: 1_500_000, [DATA]: 6_000_000_000 };
    assert.deepEqual(of(limits, { countsByRun: false }), all);
    assert.deepEqual(of(limits, { countsByRun: true }), { ...all, [NPROC]: tasksFor(10) });
  });

  it('leave a runtime the address space that it reserves', () => {
    assert.equal(of({ memory_mb: 10 }, { countsByRun: false })[DATA], 2 * 1024 ** 3);
  });

  it('let no file be larger than all files together', () => {
    assert.deepEqual(
      [largestFileMb({ disk_mb: 7 }), largestFileMb({ file_mb: 3, disk_mb: 7 }), largestFileMb({})],
      [7, 3, undefined],
    );
  });

  it('count threads, of which a process has several', () => {
    assert.equal(tasksFor(10) - tasksFor(9), 4);
    assert.equal(tasksFor(0), 32 * availableParallelism());
  });
});
