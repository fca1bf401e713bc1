import { basename, dirname, join } from 'node:path';
import { type ArgumentProblem, usageProblem } from './argument-problem.ts';
import { type Grant, type GrantRules, grantPath, type StagedOutput } from './path-grants.ts';
import type { ReadInput } from './read-inputs.ts';

/** Turns path inputs into grants and staged outputs. Returns the inputs with the paths that the tool gets. */
export function grantInputs(
  inputs: readonly ReadInput[],
  rules: GrantRules,
): { read: ReadInput[]; problems: ArgumentProblem[]; grants: Grant[]; staged: StagedOutput[] } {
  const problems: ArgumentProblem[] = [];
  const grants: Grant[] = [];
  const staged: StagedOutput[] = [];
  const read = inputs.map(({ spec, values }) => ({
    spec,
    values:
      spec.type !== 'path'
        ? values
        : values.map(({ text }) => {
            const granted = grantPath(spec, text, rules);
            if ('rule' in granted) {
              problems.push(granted);
              return { value: text, text };
            }
            if (granted.grant) grants.push(granted.grant);
            if (granted.staged === undefined) return { value: granted.target, text: granted.text };
            if (staged.some((other) => other.target === granted.target)) {
              problems.push(
                usageProblem(
                  spec.name,
                  'same-output',
                  `'${text}' for '${spec.name}' is used as an output twice`,
                  'Use a different path for each output.',
                ),
              );
            }
            const output = withOwnPlace(granted.staged, staged);
            staged.push(output);
            return { value: output.target, text: output.staged };
          }),
  }));
  return { read, problems, grants, staged };
}

/** Two outputs of one input may have the same name in different folders. */
function withOwnPlace(output: StagedOutput, others: readonly StagedOutput[]): StagedOutput {
  let place = output.staged;
  for (let n = 2; others.some((other) => other.staged === place); n++) {
    place = join(dirname(output.staged), String(n), basename(output.staged));
  }
  return { ...output, staged: place };
}
