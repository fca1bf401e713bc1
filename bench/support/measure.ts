type Contestant<T> = () => T | Promise<T>;

let isOnce = false;

/** From now on each contestant is measured once, without a warm-up: that shows whether a benchmark works, and nothing about speed. */
export function measureOnce(): void {
  isOnce = true;
}

/**
 * Measures all contestants in turn (A B A B …), so that whatever else the machine does falls on all of them alike. The
 * first rounds warm up and are not counted.
 */
export async function interleave<const N extends string, T>(
  contestants: Readonly<Record<N, Contestant<T>>>,
  options: { rounds: number; warmUps: number },
): Promise<Record<N, T[]>> {
  const { rounds, warmUps } = isOnce ? { rounds: 1, warmUps: 0 } : options;
  const names = Object.keys(contestants) as N[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<N, T[]>;
  for (let round = -warmUps; round < rounds; round++) {
    for (const name of names) {
      const sample = await contestants[name]();
      if (round >= 0) samples[name].push(sample);
    }
  }
  return samples;
}

/** Like `interleave`, for contestants that give one number: the median of each. */
export async function interleavedMedians<const N extends string>(
  contestants: Readonly<Record<N, Contestant<number>>>,
  options: { rounds: number; warmUps: number },
): Promise<Record<N, number>> {
  const samples = await interleave(contestants, options);
  return Object.fromEntries(
    Object.entries<number[]>(samples).map(([name, values]) => [name, median(values)]),
  ) as Record<N, number>;
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) throw new Error('Internal: no samples');
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** How long `work` takes, in milliseconds. */
export async function timeMs(work: () => unknown): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}
