const AT_ONCE = 3;

/** Does asynchronous work for each element, a few at once. The results are in the order of the elements. */
export async function inTurn<T, R>(elements: readonly T[], work: (element: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(elements.length);
  let next = 0;
  async function worker(): Promise<void> {
    for (let at = next++; at < elements.length; at = next++) results[at] = await work(elements[at]!);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
