import { posix } from 'node:path';
import { AREAS } from './areas.ts';
import type { ImportGraph } from './import-graph.ts';

/** Further away than this, a test imports nearly everything. */
const MOST_STEPS = 2;
const MOST_IMPORTING = 6;

/** The module by which tests start the compiled program. */
const STARTS_PROGRAM = 'test/support/project.ts';
/** These import it for its projects, and run the sources in their own process. */
const IN_PROCESS = 'test/in-process/';

/** Test files that run in one process. */
export interface Batch {
  tests: readonly string[];
  /** The tests start the compiled program, so that it must be built first. */
  startsProgram: boolean;
}

/**
 * The tests that have to notice a fault in `file`, nearest first: its own; those beside it, those that import it and those that `AREAS`
 * names; then, one by one, those of them that start the program.
 */
export function nearestTests(file: string, files: readonly string[], graph: ImportGraph): Batch[] {
  const tests = files.filter((each) => each.endsWith('.test.ts'));
  const own = ['.test.ts', '.bun.test.ts'].map((ending) => file.replace(/\.ts$/, ending));
  const beside = tests.filter((test) => posix.dirname(test) === posix.dirname(file));
  const importing = graph.importersWithin(file, MOST_STEPS).filter((each) => tests.includes(each));
  const listed = AREAS.filter(({ folder }) => file.startsWith(folder)).flatMap((area) => area.tests);
  const near = new Set([
    ...tests.filter((test) => own.includes(test)),
    ...importing.slice(0, MOST_IMPORTING),
    ...beside.filter((test) => graph.doesReach(test, file)),
  ]);
  const startsProgram = (test: string) =>
    !test.startsWith(IN_PROCESS) && graph.doesReach(test, STARTS_PROGRAM);
  const all = [...new Set([...near, ...listed.filter((test) => tests.includes(test))])];
  const quick = all.filter((test) => !startsProgram(test));
  const slow = all.filter(startsProgram).map((test) => ({ tests: [test], startsProgram: true }));
  const parts = [quick.filter((test) => own.includes(test)), quick.filter((test) => !own.includes(test))];
  const batches = parts
    .filter((each) => each.length > 0)
    .map((each) => ({ tests: each, startsProgram: false }));
  return [...batches, ...slow];
}
