import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isAlive, readProcess } from '../../util/process-table.ts';

const FIXTURE = join(import.meta.dirname, '../../../test/fixtures/process-tree.ts');
const NAMESPACE = ['unshare', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child'] as const;
const needsLinux = { skip: process.platform !== 'linux' && 'needs /proc' };
const canUnshare = spawnSync(NAMESPACE[0], [...NAMESPACE.slice(1), 'true'], { stdio: 'ignore' }).status === 0;
const needsNamespace = { skip: !canUnshare && 'needs the right to make a PID namespace' };

/** Runs a scenario of the fixture in a process of its own: it adopts orphans, and the process of the tests must not. */
async function play(scenario: string, within: readonly string[] = []): Promise<Record<string, unknown>> {
  const [program = '', ...args] = [...within, process.execPath, FIXTURE, scenario];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const part of child.stdout) text += part;
  return JSON.parse(text);
}

// Only Bun adopts orphans.
describe('the tree of one run beside another one in the same process', needsLinux, () => {
  it('has its own orphans and not those of the other run, and kills only its own', async () => {
    const { first, second, members, orphans, isSecondAlive } = await play('two-runs');
    assert.deepEqual([members, orphans], [[first], [first]]);
    assert.equal(isSecondAlive, true);
    assert.notEqual(first, second);
  });

  it('leaves an orphan that cleared its environment to the last run that was at work with it, whatever began later', async () => {
    const { orphan, whileBothWork, ofLast, ofLater, isOrphanAlive } = await play('cleared-beside-another');
    assert.ok(!(whileBothWork as number[][]).flat().includes(orphan as number));
    assert.ok((ofLast as number[]).includes(orphan as number));
    assert.ok(!(ofLater as number[]).includes(orphan as number));
    assert.equal(isOrphanAlive, false);
  });
});

describe('the tree of the only run of a process', needsLinux, () => {
  it('has an orphan that cleared its environment, and kills it', async () => {
    const { orphan, members, isOrphanAlive } = await play('cleared-alone');
    assert.deepEqual([members, isOrphanAlive], [[orphan], false]);
    const left = readProcess(orphan as number);
    assert.ok(left === undefined || !isAlive(left));
  });

  it('has an orphan that took the id of another run, and kills it', async () => {
    const { orphan, members, isOrphanAlive } = await play('renamed-alone');
    assert.deepEqual([members, isOrphanAlive], [[orphan], false]);
  });
});

describe('the tree of a run after another one was released', needsLinux, () => {
  it('has an orphan that cleared its environment', async () => {
    const { orphan, members } = await play('cleared-after-another');
    assert.deepEqual(members, [orphan]);
  });
});

describe('the tree of a tool that has ended', needsNamespace, () => {
  it('does not take a later process with the pid of the tool for the tool', async () => {
    const { members, isLaterAlive } = await play('reused-pid', NAMESPACE);
    assert.deepEqual([members, isLaterAlive], [[], true]);
  });
});
