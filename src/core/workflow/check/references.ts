import type { Problem } from '../../config/problem.ts';
import { type Expression, expressionsIn, type Reference } from '../expression/expression.ts';
import type { Step, Workflow } from '../model.ts';
import { allSteps, type CheckedFile, expressionsOf, nearestOf } from './checked-file.ts';
import { ancestorsOf } from './order.ts';

/** Names of CEL types, which expressions may compare with. */
const TYPES = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'type', 'null_type'];
const OF_WORKFLOW = ['run_id', 'ok'];
const OF_EVERY_STEP = ['state', 'ok', 'code', 'run_id'];

/** The position of an expression, which decides what it may read. */
interface Position {
  /** Null for the workflow's outputs, which may read every step. */
  step: Step | null;
  isLast: boolean;
  hasItem: boolean;
}

/**
 * Checks that each name an expression reads exists and that its step has ended by then. The order of the steps must be
 * valid.
 */
export function checkReferences(file: CheckedFile): Problem[] {
  const { workflow } = file;
  const read = readings(workflow);
  const wanted = new Set(
    read.flatMap(({ expression }) =>
      expression.references.flatMap(([root, name]) => (root === 'steps' && name !== undefined ? name : [])),
    ),
  );
  const known = namesOf(workflow);
  const ofMain = new Set(workflow.steps.map(({ name }) => name));
  const isBefore = ancestorsOf(workflow.steps, wanted);
  const isBeforeLast = ancestorsOf(workflow.finally, wanted);
  return read.flatMap(({ expression, position }) =>
    expression.references.flatMap((reference) => {
      const wrong = mistakeOf(reference, position, known, (name) => {
        const { step, isLast } = position;
        if (step === null) return true;
        if (!isLast) return isBefore(step.name, name);
        return ofMain.has(name) || isBeforeLast(step.name, name);
      });
      if (wrong === undefined) return [];
      const { rule, why, fix } = wrong;
      const message = `in \${${expression.source}}: ${why}`;
      return { file: workflow.file, ...expression.at, rule, message, fix };
    }),
  );
}

function readings(workflow: Workflow): { expression: Expression; position: Position }[] {
  const ofSteps = allSteps(workflow).flatMap((step, index) => {
    const isLast = index >= workflow.steps.length;
    const { once, eachItem } = expressionsOf(step);
    return [
      ...once.map((expression) => ({ expression, position: { step, isLast, hasItem: false } })),
      ...eachItem.map((expression) => ({ expression, position: { step, isLast, hasItem: true } })),
    ];
  });
  const outputs = Object.values(workflow.outputs).flatMap(expressionsIn);
  return [
    ...ofSteps,
    ...outputs.map((expression) => ({ expression, position: { step: null, isLast: true, hasItem: false } })),
  ];
}

interface Known {
  steps: ReadonlyMap<string, Step>;
  inputs: ReadonlySet<string>;
  nearestStep: (word: string) => string | undefined;
  nearestInput: (word: string) => string | undefined;
}

function namesOf(workflow: Workflow): Known {
  const steps = new Map(allSteps(workflow).map((step) => [step.name, step]));
  const inputs = new Set(workflow.inputs.map(({ name }) => name));
  return {
    steps,
    inputs,
    nearestStep: nearestOf(new Set(steps.keys())),
    nearestInput: nearestOf(inputs),
  };
}

interface Mistake {
  rule: string;
  why: string;
  fix: string;
}

function mistakeOf(
  [root, name, field]: Reference,
  position: Position,
  known: Known,
  isOver: (step: string) => boolean,
): Mistake | undefined {
  switch (root) {
    case 'inputs':
      if (name === undefined || known.inputs.has(name)) return undefined;
      return unknown('inputs', name, [...known.inputs], known.nearestInput(name), 'unknown-input');
    case 'steps':
      if (name === undefined) {
        return {
          rule: 'unknown-step',
          why: 'the step is only known at run time',
          fix: "Name the step: steps.fetch.data, or steps['the name'].data.",
        };
      }
      return stepMistake(name, field, position, known, isOver);
    case 'workflow':
      if (name === undefined || OF_WORKFLOW.includes(name)) return undefined;
      return {
        rule: 'unknown-name',
        why: `there is no workflow.${name}`,
        fix: `Write one of: ${OF_WORKFLOW.map((each) => `workflow.${each}`).join(', ')}.`,
      };
    case 'item':
    case 'index':
      if (position.hasItem) return undefined;
      return {
        rule: 'unknown-name',
        why: `'${root}' exists only inside a foreach`,
        fix:
          position.step?.foreach === undefined
            ? 'Give the step a foreach, or read something else.'
            : '`when` and `foreach` are asked once, before the items: choose among those with foreach: "${….filter(row, …)}".',
      };
    default:
      if (root === undefined || TYPES.includes(root)) return undefined;
      return {
        rule: 'unknown-name',
        why: `there is no '${root}'`,
        fix: 'Names begin with inputs, steps, workflow, and within a foreach with item or index. Put texts in quotes; write $${ for a literal ${.',
      };
  }
}

function stepMistake(
  name: string,
  field: string | undefined,
  { step }: Position,
  known: Known,
  isOver: (step: string) => boolean,
): Mistake | undefined {
  const read = known.steps.get(name);
  if (read === undefined)
    return unknown('steps', name, [...known.steps.keys()], known.nearestStep(name), 'unknown-step');
  if (step?.name === name) {
    return {
      rule: 'not-before',
      why: `'${name}' reads itself`,
      fix: 'Read the result of an earlier step.',
    };
  }
  if (!isOver(name)) {
    return {
      rule: 'not-before',
      why: `'${name}' may still be running when '${step?.name}' starts`,
      fix: `Add '${name}' to the \`needs\` of '${step?.name}'.`,
    };
  }
  const fields = [
    ...OF_EVERY_STEP,
    ...(read.kind === 'decision' ? ['answer'] : ['data', 'artifacts']),
    ...(read.kind === 'parallel' || read.foreach !== undefined ? ['count', 'failed'] : []),
  ];
  if (field === undefined || fields.includes(field)) return undefined;
  return {
    rule: 'unknown-field',
    why: `'${name}' has no '${field}'`,
    fix: `Read one of: ${fields.join(', ')}.`,
  };
}

function unknown(
  holder: 'inputs' | 'steps',
  name: string,
  names: readonly string[],
  nearest: string | undefined,
  rule: string,
): Mistake {
  // In CEL, `steps.my-step` is a subtraction.
  const dashed = names.find((each) => each.startsWith(`${name}-`));
  const meant = dashed ?? nearest;
  const one = holder === 'inputs' ? 'input' : 'step';
  const written =
    meant !== undefined && /^[A-Za-z_]\w*$/.test(meant)
      ? `${holder}.${meant}`
      : `${holder}[${JSON.stringify(meant)}]`;
  const fix =
    meant !== undefined
      ? `Write ${written}.`
      : names.length > 0
        ? `There are: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ' …' : ''}.`
        : `The workflow has no ${one}s.`;
  return { rule, why: `there is no ${one} called '${name}'`, fix };
}
