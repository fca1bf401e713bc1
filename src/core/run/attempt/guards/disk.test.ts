import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { linkSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../../../test/support/project.ts';
import { EndingRace } from '../ending.ts';
import { measureFolders } from '../resources/measure-folders.ts';
import { describeOverLimit } from '../resources/over-limit.ts';
import { guardDisk } from './disk.ts';

const MB = 1_000_000;
const whole = { maxEntries: 1000, isStopped: () => false };

describe('what a tool keeps on the disk', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-disk-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('is measured as the disk has it: no holes, no link, no name twice', async () => {
    writeFileSync(join(folder, 'a'), Buffer.alloc(MB, 1));
    linkSync(join(folder, 'a'), join(folder, 'b'));
    symlinkSync('/usr', join(folder, 'c'));
    writeFileSync(join(folder, 'd'), '');
    truncateSync(join(folder, 'd'), 1000 * MB);
    const { bytes, entries } = await measureFolders([folder], whole);
    assert.equal(entries, 4);
    const stored = execFileSync('du', ['-s', '--block-size=1', 'a', 'c', 'd'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const sizes = stored.trim().split('\n').map(Number.parseFloat);
    assert.equal(
      bytes,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    assert.ok(bytes >= MB && bytes < 1.2 * MB, String(bytes));
  });

  it('is walked to so many entries and no further', async () => {
    const { entries } = await measureFolders([folder], { ...whole, maxEntries: 2 });
    assert.equal(entries, 2);
  });
});

const mounted = mkdtempSync(join(tmpdir(), 'acor-small-'));
const canMount =
  process.getuid?.() === 0 &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'none', mounted]).status === 0;
after(() => {
  if (canMount) spawnSync('umount', [mounted]);
  rmSync(mounted, { recursive: true, force: true });
});

describe('a disk that is nearly full', { skip: !canMount }, () => {
  async function endingFor(writtenMb: number, others: number): Promise<string> {
    const [own, foreign] = ['own', 'foreign'].map((name) => join(mounted, name)) as [string, string];
    for (const each of [own, foreign]) {
      rmSync(each, { recursive: true, force: true });
      spawnSync('mkdir', [each]);
    }
    const race = new EndingRace();
    let looks = 0;
    const memoryFolders = () => {
      looks++;
      return [];
    };
    const guard = guardDisk(race, { folders: [own], limitMb: 1000, memoryFolders, everyMs: 10 });
    writeFileSync(join(foreign, 'f'), Buffer.alloc(others * MB));
    writeFileSync(join(own, 'f'), Buffer.alloc(writtenMb * MB));
    await until(() => race.winner !== undefined || looks > 4);
    guard.stop();
    return race.winner?.kind === 'over-limit' ? describeOverLimit(race.winner).code : 'none';
  }

  it('ends the tool that fills it, before there is nothing left', async () => {
    assert.equal(await endingFor(30, 0), 'E_DISK_FULL');
  });

  it('does not end it while enough space is free, nor when another program has filled it', async () => {
    assert.equal(await endingFor(10, 0), 'none');
    assert.equal(await endingFor(0, 30), 'none');
  });
});
