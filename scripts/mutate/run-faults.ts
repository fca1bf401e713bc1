import { Compiler } from './compiler.ts';
import { ImportGraph } from './import-graph.ts';
import { nearestTests } from './nearest-tests.ts';
import type { TestRun } from './run-test-files.ts';
import { type Fault, shuffledFaults } from './sample.ts';
import { projectFiles, ScratchTree } from './scratch-tree.ts';
import { type Bench, tryFault, type Verdict } from './try-fault.ts';
import { VerdictFile } from './verdict-file.ts';

export interface Tried {
  number: number;
  fault: Fault;
  verdict: Verdict;
}

export interface FaultOptions {
  /** The folder of the project, which is only read. */
  project: string;
  /** The folder or file, relative to it, that gets the faults. */
  folder: string;
  seed: number;
  count: number;
  only?: readonly number[];
  /** Leaves out the tests that start the compiled program. */
  near?: boolean;
  jobs: number;
  /** Keeps the verdicts, and takes those that are there: only what survived is tried again. */
  resume?: string;
  signal?: AbortSignal;
  onFault?: (tried: Tried) => void;
}

/** Tries the faults of the sample in the order of the seed, until `count` of them count. */
export async function runFaults(options: FaultOptions): Promise<{ tried: Tried[]; unusable: string[] }> {
  const { project, count, only, signal } = options;
  const files = projectFiles(project);
  const graph = new ImportGraph(project, files);
  const measured = new Map<string, Promise<TestRun>>();
  const folder = options.folder.replace(/\/+$/, '');
  const sources = files.filter(
    (file) => (file === folder || file.startsWith(`${folder}/`)) && /(?<!\.test|\.d)\.ts$/.test(file),
  );
  if (sources.length === 0) throw new Error(`no TypeScript sources in ${options.folder}`);
  const known = options.resume === undefined ? undefined : new VerdictFile(options.resume);
  const tried: Tried[] = [];
  let next = 0;
  let faults: Promise<Fault[]> | undefined;
  await Promise.all(Array.from({ length: options.jobs }, job));
  tried.sort((a, b) => a.number - b.number);
  return {
    tried: firstThatCount(tried, only === undefined ? count : Infinity),
    unusable: await failing(measured),
  };

  async function job(): Promise<void> {
    await using stack = new AsyncDisposableStack();
    const faulty = stack.use(new ScratchTree(project, files));
    const whole = stack.use(new ScratchTree(project, files));
    const compiler = stack.use(new Compiler(faulty.root));
    const batchesOf = (file: string) =>
      nearestTests(file, files, graph).filter(({ startsProgram }) => !(options.near && startsProgram));
    const bench: Bench = { faulty, whole, compiler, graph, batchesOf, measured, ...(signal && { signal }) };
    faults ??= shuffledFaults(sources, compiler, options.seed);
    const all = await faults;
    while (next < all.length && !isEnough() && !isStopped()) {
      const number = ++next;
      if (only !== undefined && !only.includes(number)) continue;
      const fault = all[number - 1]!;
      const verdict = known?.of(fault) ?? (await tryFault(fault, bench));
      if (isStopped()) return;
      if (known?.of(fault) === undefined) known?.add(fault, verdict);
      tried.push({ number, fault, verdict });
      options.onFault?.({ number, fault, verdict });
    }
  }

  function isStopped(): boolean {
    return signal?.aborted ?? false;
  }

  function isEnough(): boolean {
    if (only !== undefined) return tried.length >= only.length;
    return tried.filter(doesCount).length >= count;
  }
}

/** Several jobs may try more faults than were asked for. */
function firstThatCount(tried: readonly Tried[], count: number): Tried[] {
  const last = tried.filter(doesCount)[count - 1];
  return last === undefined ? [...tried] : tried.filter(({ number }) => number <= last.number);
}

function doesCount({ verdict }: Tried): boolean {
  return verdict.word === 'caught' || verdict.word === 'survived';
}

/** The tests that fail without a fault, and so say nothing about one. */
async function failing(measured: ReadonlyMap<string, Promise<TestRun>>): Promise<string[]> {
  const runs = await Promise.all(
    [...measured].map(async ([test, run]) => [test, (await run).outcome] as const),
  );
  return runs.filter(([, outcome]) => outcome !== 'passed').map(([test]) => test);
}
