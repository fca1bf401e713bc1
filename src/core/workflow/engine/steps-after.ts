import { AcorError } from '../../../protocol/acor-error.ts';
import { nearestWords } from '../../../util/nearest.ts';
import type { Workflow } from '../model.ts';

/** A step and all that need it, directly or not; the last steps always belong to them. Throws E_USAGE for one that is not there. */
export function stepsAfter({ steps, finally: last, file }: Workflow, from: string): string[] {
  if (!steps.some(({ name }) => name === from)) {
    const names = steps.map(({ name }) => name);
    const [nearest] = nearestWords(from, names, 1);
    throw new AcorError('E_USAGE', `${file} has no step '${from}'`, {
      hint:
        nearest === undefined ? `Its steps: ${names.slice(0, 20).join(', ')}` : `Did you mean '${nearest}'?`,
    });
  }
  const dependents = new Map<string, string[]>();
  for (const { name, needs } of steps)
    for (const need of needs) dependents.set(need, [...(dependents.get(need) ?? []), name]);
  const found = new Set([from]);
  // A set goes on to what is added to it meanwhile.
  for (const name of found) for (const next of dependents.get(name) ?? []) found.add(next);
  return [...found, ...last.map(({ name }) => name)];
}
