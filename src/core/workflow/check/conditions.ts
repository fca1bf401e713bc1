import type { Problem } from '../../config/problem.ts';
import {
  type Expression,
  evaluate,
  expressionsIn,
  type Scope,
  type Template,
} from '../expression/expression.ts';
import type { Step, Workflow } from '../model.ts';
import { allSteps, type CheckedFile, expressionsOf, problemAt } from './checked-file.ts';
import { inOrderOfNeeds } from './order.ts';

/** The fields that a skipped step still has. */
const TOLD_OF_SKIPPED = ['state', 'ok', 'code', 'run_id'];

/**
 * Finds conditions and lists with a constant value, and references to steps that are therefore always skipped. The
 * order must be valid.
 */
export function checkConditions(file: CheckedFile): Problem[] {
  const { workflow } = file;
  const skipped = alwaysSkipped(workflow);
  return [
    ...allSteps(workflow).flatMap((step) => [...conditionOf(file, step), ...listOf(file, step)]),
    ...readingsOfSkipped(workflow, skipped),
    ...outputsOfConditional(workflow, skipped),
  ];
}

function conditionOf(file: CheckedFile, { name, path, when }: Step): Problem[] {
  if (when === undefined) return [];
  const place = { path: [...path, 'when'] };
  if (when.kind === 'text' || (when.kind === 'constant' && typeof when.value !== 'boolean')) {
    return [
      problemAt(file, place, {
        rule: 'when-boolean',
        message: `\`when\` of '${name}' is a text; it must be an expression that is true or false`,
        fix: 'Write exactly one expression: when: "${…}".',
      }),
    ];
  }
  const known = constantOf(when);
  if (known === undefined) return [];
  if (typeof known.value !== 'boolean') {
    return [
      problemAt(file, place, {
        rule: 'when-boolean',
        message: `\`when\` of '${name}' is always ${JSON.stringify(known.value)}; it must be true or false`,
        fix: 'Compare the value with something.',
      }),
    ];
  }
  return [
    problemAt(file, place, {
      rule: 'when-constant',
      message: `\`when\` of '${name}' is always ${known.value}${known.value ? '' : ': the step never runs'}`,
      fix: known.value ? 'Leave `when` out.' : 'Leave the step out, or let `when` depend on something.',
    }),
  ];
}

function listOf(file: CheckedFile, { name, path, foreach }: Step): Problem[] {
  const known = foreach && constantOf(foreach.over);
  const place = { path: [...path, 'foreach'] };
  if (foreach?.over.kind === 'text' || (known !== undefined && !Array.isArray(known.value))) {
    return [
      problemAt(file, place, {
        rule: 'foreach-list',
        message: `the \`foreach\` of '${name}' is not a list`,
        fix: 'Write a list, or one expression whose value is a list: foreach: "${steps.a.data.rows}".',
      }),
    ];
  }
  if (foreach === undefined) return [];
  const { over, maxItems } = foreach;
  const items: unknown = over.kind === 'list' ? over.items : known?.value;
  if (!Array.isArray(items) || items.length <= maxItems) return [];
  return [
    problemAt(file, place, {
      rule: 'foreach-list',
      message: `the \`foreach\` of '${name}' has ${items.length} items; max_items allows ${maxItems}`,
      fix: 'Raise max_items, or shorten the list.',
    }),
  ];
}

/** A template without references reads nothing. */
const NOTHING = {} as Scope;

/** The value of a template without references. An error in it is reported when the step runs. */
function constantOf(template: Template): { value: unknown } | undefined {
  if (expressionsIn(template).some(({ references }) => references.length > 0)) return undefined;
  try {
    return { value: evaluate(template, NOTHING) };
  } catch {
    return undefined;
  }
}

/** The steps, each after those whose skip skips it: none of the `finally` steps is skipped with another one. */
function inSkippingOrder({ steps, finally: last }: Pick<Workflow, 'steps' | 'finally'>): Step[] {
  return [...inOrderOfNeeds(steps), ...last.map((step) => ({ ...step, needs: [] }))];
}

/** Steps that no run can reach: their `when` is false, or they need such a step and have no condition that reads it. */
function alwaysSkipped({ steps, finally: last }: Workflow): Set<string> {
  const skipped = new Set<string>();
  for (const { name, needs, when } of inSkippingOrder({ steps, finally: last })) {
    const asksAbout = new Set(
      (when === undefined ? [] : expressionsIn(when)).flatMap(({ references }) =>
        references.flatMap(([root, step = '']) => (root === 'steps' ? step : [])),
      ),
    );
    const follows = needs.some(
      (needed) => skipped.has(needed) && (when === undefined || asksAbout.has(needed)),
    );
    if (follows || (when !== undefined && constantOf(when)?.value === false)) skipped.add(name);
  }
  return skipped;
}

function readingsOfSkipped(workflow: Workflow, skipped: ReadonlySet<string>): Problem[] {
  const read: Expression[] = [
    ...allSteps(workflow).flatMap((step) => {
      const { once, eachItem } = expressionsOf(step);
      return skipped.has(step.name) ? [] : [...once, ...eachItem];
    }),
    ...Object.values(workflow.outputs).flatMap(expressionsIn),
  ];
  return read.flatMap((expression) => {
    const { references, source, at } = expression;
    const asked = references.filter(([, , field]) => field !== undefined && TOLD_OF_SKIPPED.includes(field));
    const missing = references.find(
      ([root, step = '', field]) =>
        root === 'steps' &&
        skipped.has(step) &&
        field !== undefined &&
        !TOLD_OF_SKIPPED.includes(field) &&
        // An expression that reads the step's state is assumed to handle the skip.
        !asked.some((other) => other[1] === step),
    );
    if (missing === undefined) return [];
    return {
      file: workflow.file,
      ...at,
      rule: 'skipped-step',
      message: `in \${${source}}: '${missing[1]}' is always skipped and has no '${missing[2]}'`,
      fix: `Fix the \`when\` of '${missing[1]}', or test the step first: steps.${missing[1]}.ok ? … : ….`,
    };
  });
}

/** Steps that a run may skip: they have a condition, or need such a step and have no condition that allows for that. */
export function maybeSkipped({ steps, finally: last }: Workflow): Set<string> {
  const skipped = new Set<string>();
  for (const { name, needs, when } of inSkippingOrder({ steps, finally: last }))
    if (when !== undefined || needs.some((needed) => skipped.has(needed))) skipped.add(name);
  return skipped;
}

/** Outputs that have no value when a step was skipped: the workflow would fail at its very end. */
function outputsOfConditional(workflow: Workflow, always: ReadonlySet<string>): Problem[] {
  const skipped = maybeSkipped(workflow);
  return Object.values(workflow.outputs)
    .flatMap(expressionsIn)
    .flatMap(({ references, source, at }) => {
      // `has(…)` and the state of the step are how an expression handles the skip.
      const handles = (step: string) =>
        source.includes('has(') ||
        references.some(
          ([, other, field]) => other === step && field !== undefined && TOLD_OF_SKIPPED.includes(field),
        );
      const missing = references.find(
        ([root, step = '', field]) =>
          root === 'steps' &&
          skipped.has(step) &&
          !always.has(step) &&
          field !== undefined &&
          !TOLD_OF_SKIPPED.includes(field) &&
          !handles(step),
      );
      if (missing === undefined) return [];
      const [, step, field] = missing;
      const read = source.includes(`steps.${step}.${field}`) ? `steps.${step}` : `steps['${step}']`;
      // Only the count of a step may be there although the step is not ok.
      const test = field === 'count' ? `has(${read}.count)` : `${read}.ok`;
      return [
        {
          file: workflow.file,
          ...at,
          rule: 'maybe-skipped',
          message: `in \${${source}}: '${step}' may be skipped, and has no '${field}' then: the workflow would fail at its end`,
          fix: `Test it first: ${test} ? … : ….`,
        },
      ];
    });
}
