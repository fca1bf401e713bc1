/** Rounds of kills, one after the other. */
export interface RoundOptions<R> {
  rounds: number;
  /** Start no further round, and ignore the result of the current one. */
  signal?: AbortSignal;
  onRound?: (result: R) => void;
}

/**
 * Plays rounds in a project; after one that violated something, in a new project. `leave` ends what still runs in a project that is kept
 * for a look, `remove` removes the last one. Returns the results, and the folders of the projects that were kept.
 */
export async function playRounds<P extends { root: string }, R extends { problems: readonly string[] }>(
  options: RoundOptions<R>,
  project: {
    make(): P;
    play(project: P, number: number): Promise<R>;
    leave?(project: P): Promise<void>;
    remove(project: P): void | Promise<void>;
  },
): Promise<{ results: R[]; kept: string[] }> {
  const results: R[] = [];
  const kept: string[] = [];
  let place = project.make();
  for (let number = 1; number <= options.rounds && !options.signal?.aborted; number++) {
    const result = await project.play(place, number);
    if (options.signal?.aborted) break;
    results.push(result);
    options.onRound?.(result);
    if (result.problems.length === 0) continue;
    kept.push(place.root);
    await project.leave?.(place);
    place = project.make();
  }
  await project.remove(place);
  return { results, kept };
}
