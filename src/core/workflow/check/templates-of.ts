import { type Expression, expressionsIn, type Template } from '../expression/expression.ts';
import type { Step, StepArguments, StepWork } from '../model.ts';
import { worksOf } from './checked-file.ts';

/** The expressions of a step. Those evaluated for each item may read `item` and `index`. */
export function expressionsOf(step: Step): { once: Expression[]; eachItem: Expression[] } {
  const once = [step.when, step.foreach?.over].filter((each) => each !== undefined);
  const work = worksOf(step).flatMap(templatesOf).flatMap(expressionsIn);
  const always = once.flatMap(expressionsIn);
  return step.foreach === undefined
    ? { once: [...always, ...work], eachItem: [] }
    : { once: always, eachItem: work };
}

function templatesOf(work: StepWork): Template[] {
  switch (work.kind) {
    case 'tool':
      return argumentTemplates(work.args);
    case 'pipe':
      return work.stages.flatMap(({ args }) => argumentTemplates(args));
    case 'decision':
      return [work.instruction, work.context].filter((each) => each !== undefined);
    case 'workflow':
      return Object.values(work.inputs);
    case 'parallel':
      return [];
  }
}

function argumentTemplates(args: StepArguments): Template[] {
  return args.form === 'words' ? [...args.words] : Object.values(args.values);
}
