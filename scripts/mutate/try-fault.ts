import type { Compiler } from './compiler.ts';
import { EQUIVALENT } from './equivalent.ts';
import type { ImportGraph } from './import-graph.ts';
import type { Batch } from './nearest-tests.ts';
import { runTestFiles, type TestRun } from './run-test-files.ts';
import { type Fault, withFault } from './sample.ts';
import type { ScratchTree } from './scratch-tree.ts';

export type Verdict =
  | { word: 'caught'; note: string }
  | { word: 'survived'; tests: readonly string[] }
  | { word: 'does not compile'; note: string }
  | { word: 'equivalent'; note: string };

/** What a fault is tried in: a copy that gets it, and a copy that stays whole, in which tests are measured first. */
export interface Bench {
  faulty: ScratchTree;
  whole: ScratchTree;
  compiler: Compiler;
  graph: ImportGraph;
  batchesOf: (file: string) => readonly Batch[];
  /** The runs of test files without a fault. */
  measured: Map<string, Promise<TestRun>>;
  signal?: AbortSignal;
}

/** A test without a fault gets this long. With one, it counts as hung after `SLACK_MS` more than `TIMES_SLOWER` of its own time. */
const WHOLE_LIMIT_MS = 900_000;
const SLACK_MS = 60_000;
const TIMES_SLOWER = 5;

export async function tryFault(fault: Fault, bench: Bench): Promise<Verdict> {
  const { file, before, after } = fault;
  const listed = EQUIVALENT.find(
    (each) => each.file === file && each.before === before && each.after === after,
  );
  if (listed !== undefined) return { word: 'equivalent', note: listed.why };
  const text = bench.faulty.read(file);
  bench.faulty.write(file, withFault(text, fault.edit));
  try {
    const error = await bench.compiler.errorIn(file, bench.graph.importersOf(file));
    if (error !== undefined) return { word: 'does not compile', note: error };
    return await runTests(fault, bench);
  } finally {
    bench.faulty.write(file, text);
    await bench.compiler.errorIn(file, []);
  }
}

async function runTests({ file }: Fault, bench: Bench): Promise<Verdict> {
  const batches = bench.batchesOf(file);
  let isBuilt = false;
  for (const batch of batches) {
    const { tests, ms } = await usable(batch, bench);
    if (tests.length === 0) continue;
    if (batch.startsProgram && !isBuilt) {
      isBuilt = bench.faulty.build();
      if (!isBuilt) return { word: 'does not compile', note: 'scripts/build.sh fails' };
    }
    const limitMs = Math.round(SLACK_MS + TIMES_SLOWER * ms);
    const run = await runTestFiles(bench.faulty, tests, limitMs, bench);
    if (run.outcome === 'hung') return { word: 'caught', note: `${tests.join(' ')} did not end` };
    if (run.outcome === 'passed') continue;
    // A test of the whole program may fail for a reason of its own, so that its failure counts when it repeats.
    const again = batch.startsProgram
      ? await runTestFiles(bench.faulty, tests, limitMs, { ...bench, only: run.title })
      : run;
    if (again.outcome !== 'passed')
      return { word: 'caught', note: batch.startsProgram ? `${tests[0]}: ${run.title}` : run.title };
  }
  return { word: 'survived', tests: batches.flatMap(({ tests }) => tests) };
}

/** The tests of a batch that pass without a fault, and how long they take then. Each file is measured once. */
async function usable(batch: Batch, bench: Bench): Promise<{ tests: string[]; ms: number }> {
  const tests: string[] = [];
  let ms = 0;
  for (const test of batch.tests) {
    if (batch.startsProgram && !bench.whole.isBuilt) bench.whole.build();
    const known = bench.measured.get(test) ?? runTestFiles(bench.whole, [test], WHOLE_LIMIT_MS, bench);
    bench.measured.set(test, known);
    const run = await known;
    if (run.outcome !== 'passed') continue;
    tests.push(test);
    ms += run.ms;
  }
  return { tests, ms };
}
