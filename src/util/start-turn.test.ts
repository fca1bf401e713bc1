import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';

const MODULE = join(import.meta.dirname, 'start-turn.ts');

/** Says when it has started, ends its turn at the line `end`, and lives until it is killed. */
const STARTER = `
const [, , module, folder, busy] = process.argv;
const { takeStartTurn, endStartTurn } = await import(module);
await takeStartTurn(folder, { isBusy: () => busy === 'busy', turns: 1 });
console.log('started');
for await (const line of console) if (line === 'end') endStartTurn();
`;

const only = { skip: process.versions.bun === undefined || !existsSync('/usr/bin/flock') };

describe('the turn of a process that starts', only, () => {
  let folder: string;
  const started: ChildProcessWithoutNullStreams[] = [];
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-turn-'));
    writeFileSync(join(folder, 'starter.mjs'), STARTER);
  });
  afterEach(async () => {
    for (const child of started.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function start(machine: 'busy' | 'free') {
    const script = join(folder, 'starter.mjs');
    const child = spawn(process.execPath, [script, MODULE, join(folder, 'turns'), machine]);
    started.push(child);
    let hasStarted = false;
    const says = once(child.stdout, 'data').then(() => {
      hasStarted = true;
    });
    return { child, says, hasStarted: () => hasStarted };
  }

  /** Until its program for the lock waits. */
  async function isWaiting({ pid }: ChildProcessWithoutNullStreams): Promise<void> {
    while (childrenOf(pid!) === '') await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /** One that has its turn, and one that waits for it. */
  async function startTwo() {
    const first = start('busy');
    await first.says;
    const second = start('busy');
    await isWaiting(second.child);
    assert.equal(second.hasStarted(), false);
    return [first, second] as const;
  }

  it('comes when the process before it has ended its start', async () => {
    const [first, second] = await startTwo();
    first.child.stdin.write('end\n');
    await second.says;
  });

  it('comes when the process before it is killed', async () => {
    const [first, second] = await startTwo();
    first.child.kill('SIGKILL');
    await second.says;
  });

  it('is not needed on a machine with free processors', async () => {
    await start('busy').says;
    await start('free').says;
  });
});

function childrenOf(pid: number): string {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
}
