import type { Problem } from '../../config/problem.ts';
import type { Step } from '../model.ts';
import { type CheckedFile, nearestOf, problemAt } from './checked-file.ts';

/** Report at most this many cycles; more are mostly variants of the same ones. */
const MOST_CYCLES = 20;

/** Checks that each needed step exists, and that the steps form no cycle. */
export function checkOrder(file: CheckedFile): Problem[] {
  const { steps, finally: last } = file.workflow;
  const names = new Set(steps.map(({ name }) => name));
  return [
    ...unknownNeeds(file, steps, () => undefined),
    ...unknownNeeds(file, last, (name) =>
      names.has(name) ? `'${name}', which has ended before finally begins` : undefined,
    ),
    ...cycles(file, steps),
    ...cycles(file, last),
  ];
}

function unknownNeeds(
  file: CheckedFile,
  steps: readonly Step[],
  why: (name: string) => string | undefined,
): Problem[] {
  const names = new Set(steps.map(({ name }) => name));
  const nearestTo = nearestOf(names);
  return steps.flatMap(({ name, path, needs }) =>
    needs.flatMap((needed, index) => {
      if (names.has(needed)) return [];
      const known = why(needed);
      const nearest = known === undefined ? nearestTo(needed) : undefined;
      const fix = nearest !== undefined ? `Write '${nearest}'.` : `Leave '${needed}' out.`;
      return problemAt(
        file,
        { path: [...path, 'needs', index] },
        {
          rule: 'unknown-need',
          message: `'${name}' needs ${known ?? `'${needed}', which does not exist`}`,
          fix,
        },
      );
    }),
  );
}

/** One cycle for each strongly connected group of steps. With two steps of one name, a cycle through that name is ambiguous. */
function cycles(file: CheckedFile, steps: readonly Step[]): Problem[] {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const twice = new Set(steps.filter((step) => byName.get(step.name) !== step).map(({ name }) => name));
  const state = new Map<Step, 'open' | 'done'>();
  const problems: Problem[] = [];
  for (const root of steps) {
    // An explicit stack: ten thousand steps in a row would overflow the call stack.
    const trail: { step: Step; next: number }[] = [];
    const enter = (step: Step) => {
      state.set(step, 'open');
      trail.push({ step, next: 0 });
    };
    if (!state.has(root)) enter(root);
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      if (problems.length >= MOST_CYCLES) return problems;
      const needed = top.step.needs[top.next++];
      if (needed === undefined) {
        state.set(top.step, 'done');
        trail.pop();
        continue;
      }
      const step = byName.get(needed);
      if (step === undefined || state.get(step) === 'done') continue;
      if (!state.has(step)) {
        enter(step);
        continue;
      }
      const round = trail.slice(trail.findIndex((each) => each.step === step));
      if (!round.some((each) => twice.has(each.step.name))) problems.push(cycle(file, round));
    }
  }
  return problems;
}

function cycle(file: CheckedFile, trail: readonly { step: Step }[]): Problem {
  const [first, ...others] = trail.map(({ step }) => step);
  const names = [first!, ...others, first!].map(({ name }) => `'${name}'`);
  const shown = names.length > 12 ? [...names.slice(0, 10), '…', names.at(-1)!] : names;
  const last = others.at(-1) ?? first!;
  const index = last.needs.indexOf(first!.name);
  return problemAt(
    file,
    { path: [...last.path, 'needs', index] },
    {
      rule: 'cycle',
      message: `these steps form a cycle: ${shown.join(' needs ')}`,
      fix: `Remove one of them from the \`needs\` of another.`,
    },
  );
}

/**
 * Sorts steps so that each follows the steps that it needs. Unknown needs are ignored. The steps must not form a cycle.
 */
export function inOrderOfNeeds(steps: readonly Step[]): Step[] {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const ordered: Step[] = [];
  const entered = new Set<Step>();
  for (const root of steps) {
    const trail = entered.has(root) ? [] : [{ step: root, next: 0 }];
    entered.add(root);
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const name = top.step.needs[top.next++];
      const step = name === undefined ? undefined : byName.get(name);
      if (name === undefined) {
        ordered.push(top.step);
        trail.pop();
      } else if (step !== undefined && !entered.has(step)) {
        entered.add(step);
        trail.push({ step, next: 0 });
      }
    }
  }
  return ordered;
}

/**
 * Reports which steps have ended when another step begins. It keeps one bit per `wanted` step, so a chain of ten
 * thousand steps costs megabytes and milliseconds.
 */
export function ancestorsOf(
  steps: readonly Step[],
  wanted: ReadonlySet<string>,
): (step: string, before: string) => boolean {
  const bits = new Map([...wanted].map((name, index) => [name, index]));
  const rows = new Map<string, Uint32Array>();
  for (const { name, needs } of inOrderOfNeeds(steps)) {
    const row = new Uint32Array(Math.ceil(bits.size / 32));
    for (const needed of needs) {
      const other = rows.get(needed);
      other?.forEach((word, at) => {
        row[at]! |= word;
      });
      const bit = bits.get(needed);
      if (bit !== undefined) row[bit >> 5]! |= 1 << (bit & 31);
    }
    rows.set(name, row);
  }
  return (step, before) => {
    const bit = bits.get(before);
    const word = bit === undefined ? undefined : rows.get(step)?.[bit >> 5];
    return word !== undefined && bit !== undefined && (word & (1 << (bit & 31))) !== 0;
  };
}
