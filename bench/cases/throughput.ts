import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { interleave, median } from '../support/measure.ts';
import { type Command, runPipeline, runProcess } from '../support/process.ts';
import { addProducers, BARE_RUN_ID, FAST, FLUSHING, GAPPY, MESSAGES_IN_FILE } from '../support/producers.ts';
import { BUN } from '../support/program.ts';
import { Project, programPath } from '../support/project.ts';

const ROUNDS = 5;
const FAST_EVENTS = 5_000_000;
const FLUSHING_EVENTS = 1_000_000;
/** The runner that handles a line at a time would take minutes for more. */
const SLOW_RUNNER_EVENTS = 300_000;
const TARGET_RATIO = 10;
const TARGET_PER_SECOND = 2_500_000;

/** A tool as this benchmark starts it: its name for ACOR, its words without ACOR, its argument for so many events. */
interface Producer {
  what: string;
  tool: string;
  argv: string[];
  events: number;
  argumentFor(events: number): string;
  /** Events a second. */
  target?: number;
}

interface Sample {
  perSecond: number;
  cpuNs: number;
}

/** Events checked, stored and mirrored in a second, beside programs that do less, or do it in the obvious way. */
export const throughput: Bench = {
  name: 'throughput',
  summary: 'events stored and mirrored',
  async run(context) {
    const project = new Project(context.workplace.makeFolder('throughput'));
    const { fast, gappy, flushing } = addProducers(project);
    const producers: Producer[] = [
      {
        what: 'a fast producer',
        tool: FAST,
        argv: ['/bin/bash', fast],
        events: FAST_EVENTS,
        argumentFor: (events) => String(events / MESSAGES_IN_FILE),
        target: TARGET_PER_SECOND,
      },
      {
        what: 'a fast producer without v, ts and run_id',
        tool: GAPPY,
        argv: ['/bin/bash', gappy],
        events: FAST_EVENTS,
        argumentFor: (events) => String(events / MESSAGES_IN_FILE),
        target: TARGET_PER_SECOND,
      },
      {
        what: 'a Python tool that flushes each line',
        tool: FLUSHING,
        argv: [context.workplace.python, flushing],
        events: FLUSHING_EVENTS,
        argumentFor: String,
      },
    ];
    const rows: Row[] = [];
    for (const producer of producers) rows.push(...(await measureProducer(producer, project, context)));
    return rows;
  },
};

async function measureProducer(producer: Producer, project: Project, context: BenchContext): Promise<Row[]> {
  const samples = await interleave(contestantsFor(producer, project, context), {
    rounds: ROUNDS,
    warmUps: 1,
  });
  const rate = (name: keyof typeof samples) => median(samples[name].map(({ perSecond }) => perSecond));
  const cpuNs = (name: keyof typeof samples) => median(samples[name].map((sample) => sample.cpuNs));
  const acor = rate('acor');
  const row = (baseline: string, value: number): Row => ({
    what: `events of ${producer.what}`,
    unit: 'events/s',
    acor,
    baseline: { what: baseline, value },
    target: null,
  });
  const slowRunner = rate('slowRunner');
  return [
    {
      ...row('a line-by-line Python runner', slowRunner),
      target: { text: `at least ${TARGET_RATIO}×`, met: acor >= TARGET_RATIO * slowRunner },
    },
    { ...row('tool | cat > file', rate('cat')), target: { text: 'goal: 1×', met: acor >= rate('cat') } },
    row('a Bun reader that parses and appends', rate('reader')),
    {
      ...row('the tool > /dev/null', rate('alone')),
      target:
        producer.target === undefined
          ? null
          : { text: `at least ${producer.target / 1e6} M/s`, met: acor >= producer.target },
    },
    {
      what: `processor time an event of ${producer.what}`,
      unit: 'ns',
      acor: cpuNs('acor'),
      baseline: { what: 'a Bun reader that parses and appends', value: cpuNs('reader') },
      target: null,
    },
  ];
}

function contestantsFor(producer: Producer, project: Project, { program, workplace }: BenchContext) {
  const { events } = producer;
  const env = { ...workplace.env, RUN_ID: BARE_RUN_ID };
  const command = (...argv: string[]): Command => ({ argv, cwd: project.dir, env });
  const tool = command(...producer.argv, producer.argumentFor(events));
  const cat = command('/bin/cat');
  const file = join(project.dir, 'events.jsonl');
  const takeFile = (expected: number) => {
    const { size } = statSync(file);
    rmSync(file);
    if (size < expected * 100) throw new Error(`Internal: ${size} bytes of ${expected} events`);
  };
  return {
    acor: async (): Promise<Sample> => {
      const run = command(program.acor, 'run', producer.tool, producer.argumentFor(events));
      const { wallMs, producerCpuMs } = await runPipeline(run, cat, '/dev/null');
      const end = project.takeRun();
      if (end.events < events) throw new Error(`Internal: ${end.events} of ${events} events`);
      return sampleOf(events, wallMs, producerCpuMs - (end.usage.cpu_s ?? 0) * 1000);
    },
    cat: async () => {
      const { wallMs, consumerCpuMs } = await runPipeline(tool, cat, file);
      takeFile(events);
      return sampleOf(events, wallMs, consumerCpuMs);
    },
    reader: async () => {
      const reader = command(BUN, programPath('plain-reader.ts'), file);
      const { wallMs, consumerCpuMs } = await runPipeline(tool, reader, '/dev/null');
      takeFile(events);
      return sampleOf(events, wallMs, consumerCpuMs);
    },
    slowRunner: async () => {
      const argument = producer.argumentFor(SLOW_RUNNER_EVENTS);
      const runner = command(
        workplace.python,
        programPath('line-by-line-runner.py'),
        file,
        ...producer.argv,
        argument,
      );
      const { wallMs, producerCpuMs } = await runPipeline(runner, cat, '/dev/null');
      takeFile(SLOW_RUNNER_EVENTS);
      return sampleOf(SLOW_RUNNER_EVENTS, wallMs, producerCpuMs);
    },
    alone: async () => {
      const { wallMs, cpuMs } = await runProcess(tool, '/dev/null');
      return sampleOf(events, wallMs, cpuMs);
    },
  };
}

function sampleOf(events: number, wallMs: number, cpuMs: number): Sample {
  return { perSecond: (events * 1000) / wallMs, cpuNs: (cpuMs * 1e6) / events };
}
