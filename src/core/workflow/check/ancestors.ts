import type { Step } from '../model.ts';

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
      for (let at = 0; other !== undefined && at < row.length; at++) row[at]! |= other[at]!;
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
