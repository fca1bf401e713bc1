import type { InputSpec } from '../../protocol/manifest.ts';
import type { ArgumentProblem } from './argument-problem.ts';
import { type ReadInput, readInputs } from './read-inputs.ts';

/** What is wrong with the defaults of inputs, by the inputs themselves: a call that leaves the input out would be refused. */
export function problemsOfDefaults(specs: readonly InputSpec[]): {
  read: ReadInput[];
  problems: ArgumentProblem[];
} {
  const { read, problems } = readInputs(specs, [], { cwd: '/' });
  return { read, problems: problems.filter(({ rule }) => rule !== 'required').map(ofDefault) };
}

/** A problem with the value of an input, as one with its default. */
export function ofDefault(problem: ArgumentProblem): ArgumentProblem {
  return {
    ...problem,
    message: `the default of ${problem.message}`,
    fix: 'Write a default that the input accepts, or change what it accepts.',
  };
}
