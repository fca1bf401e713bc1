import { TooCostly } from '../../protocol/too-costly.ts';
import { type ArgumentProblem, usageProblem } from './argument-problem.ts';
import { patternMistake } from './input-values.ts';
import { type ReadInput, shownGiven, slowValuesOf } from './read-inputs.ts';

/** The problems of values whose pattern may take long, which reading them leaves out. */
export async function slowPatternProblems(read: readonly ReadInput[]): Promise<ArgumentProblem[]> {
  const slow = slowValuesOf(read);
  if (slow.length === 0) return [];
  const [{ BoundedPattern }, { CheckClock, MAX_INPUTS_MS }] = await Promise.all([
    import('../../protocol/bounded-pattern.ts'),
    import('./check-clock.ts'),
  ]);
  const clock = new CheckClock();
  return slow.flatMap(({ spec, pattern, text }) => {
    const check = () => new BoundedPattern(pattern).test(text, clock.tick);
    const problem = problemOf(() => clock.run(check, MAX_INPUTS_MS));
    if (problem === undefined) return [];
    const message = `'${spec.name}' ${problem.mistake ?? patternMistake(pattern).mistake}${shownGiven(spec, { text })}`;
    return usageProblem(spec.name, 'pattern', message, problem.fix);
  });
}

function problemOf(check: () => boolean): { mistake?: string; fix: string } | undefined {
  try {
    return check() ? undefined : { fix: 'Use a valid value.' };
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
    return {
      mistake: `cannot be checked by its pattern: ${error.message}`,
      fix: 'Use a shorter value, or write a simpler pattern in the manifest.',
    };
  }
}
