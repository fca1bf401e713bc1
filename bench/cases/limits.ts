import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { TreeMeter } from '../../src/core/process/tree-meter.ts';
import type { Bench, Row } from '../support/bench.ts';
import { interleavedMedians, timeMs } from '../support/measure.ts';

const PASSES = 200;
const TARGET_NS = 300_000;
/** A shell and five more: what an ordinary tool has. */
const TREE = 'sleep 600 & sleep 600 & sleep 600 & (sleep 600 & wait) & echo ready; wait';

/** What one look at the processes of a tool costs, of which there are twenty a second while it works. */
export const limits: Bench = {
  name: 'limits',
  summary: 'one look at what a tool uses',
  async run() {
    const tool = spawn('bash', ['-c', TREE], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      await new Promise((resolve) => tool.stdout.once('data', resolve));
      const meter = new TreeMeter({ rootPid: tool.pid!, sandboxProcessDepth: 0, strays: () => [] });
      const perPassNs = (work: () => void) => async () =>
        ((await timeMs(() => {
          for (let pass = 0; pass < PASSES; pass++) work();
        })) *
          1e6) /
        PASSES;
      const figures = await interleavedMedians(
        {
          look: perPassNs(() => meter.measure()),
          exact: perPassNs(() => meter.exactBytes()),
          read: perPassNs(() => readFileSync(`/proc/${tool.pid}/stat`, 'utf8')),
        },
        { rounds: 15, warmUps: 3 },
      );
      const baseline = { what: 'one file of /proc read', value: figures.read };
      const row = (what: string, acor: number, target: Row['target']): Row => ({
        what,
        unit: 'ns',
        acor,
        baseline,
        target,
      });
      const met = figures.look <= TARGET_NS;
      return [
        row('a look at a tree of six processes', figures.look, { text: 'at most 0.3 ms', met }),
        row('their exact memory, near a limit', figures.exact, null),
      ];
    } finally {
      process.kill(-tool.pid!, 'SIGKILL');
    }
  },
};
