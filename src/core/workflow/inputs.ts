import type { InputSpec } from '../../protocol/manifest-inputs.ts';
import type { Workflow } from './model.ts';

/** The inputs of a workflow as those of a tool, so that flags, checks and help are the same for both. */
export function inputSpecsOf({ inputs }: Pick<Workflow, 'inputs'>): InputSpec[] {
  return inputs.map((input) => ({ ...input, positional: false, multiple: false }));
}
