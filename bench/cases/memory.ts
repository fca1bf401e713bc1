import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Bench, Row } from '../support/bench.ts';
import { interleavedMedians } from '../support/measure.ts';
import { type Command, finish, start } from '../support/process.ts';
import { addProducers, FAST, MESSAGES_IN_FILE } from '../support/producers.ts';
import { Project } from '../support/project.ts';

const POLL_MS = 5;
/** For ten times the events: the heap's own slack, where one that kept its events would grow by hundreds of megabytes. */
const FLAT_RATIO = 1.25;

/** In smaller runs the runtime is still compiling and its heap still growing to its size. */
const SETTLED_EVENTS = 1_000_000;

/** The peak resident memory of `acor run`, from few events to many. It must not grow with them. */
export const memory: Bench = {
  name: 'memory',
  summary: 'memory of a supervisor',
  async run({ program, workplace, long }) {
    const project = new Project(workplace.makeFolder('memory'));
    addProducers(project);
    const peak = (events: number) => async () => {
      const argv = [program.acor, 'run', FAST, String(events / MESSAGES_IN_FILE)];
      const bytes = await peakBytes({ argv, cwd: project.dir, env: workplace.env });
      const end = project.takeRun();
      if (end.events < events) throw new Error(`Internal: ${end.events} of ${events} events`);
      return bytes;
    };
    const sizes = [10_000, 100_000, 1_000_000, ...(long ? [10_000_000] : [])];
    const figures = await interleavedMedians(
      Object.fromEntries(sizes.map((events) => [String(events), peak(events)])),
      { rounds: long ? 3 : 5, warmUps: 1 },
    );
    return sizes.slice(1).map((events, index): Row => {
      const fewer = sizes[index]!;
      const [before, after] = [figures[String(fewer)]!, figures[String(events)]!];
      return {
        what: `peak memory of a run of ${nameOf(events)} events`,
        unit: 'bytes',
        acor: after,
        baseline: { what: `${nameOf(fewer)} events`, value: before },
        target:
          events < SETTLED_EVENTS
            ? null
            : { text: `flat: at most ${FLAT_RATIO}×`, met: after <= before * FLAT_RATIO },
      };
    });
  },
};

/** The peak of the process itself; the figure that the kernel reports at its end would include its children. */
async function peakBytes(command: Command): Promise<number> {
  const fd = openSync('/dev/null', 'w');
  const child = start(command, { stdout: fd });
  closeSync(fd);
  let bytes = 0;
  const look = () => {
    bytes = Math.max(bytes, highWaterBytes(child.pid));
  };
  const timer = setInterval(look, POLL_MS);
  await finish(child, command);
  clearInterval(timer);
  return bytes;
}

function highWaterBytes(pid: number): number {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function nameOf(events: number): string {
  return events >= 1e6 ? `${events / 1e6} M` : `${events / 1e3} k`;
}
