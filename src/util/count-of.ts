/** A count with its noun: `1 run`, `2 runs`, `0 entries` of `countOf(0, 'entry', 'entries')`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
