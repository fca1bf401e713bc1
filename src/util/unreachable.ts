/** Ends a `switch` over a union: the compiler names the member that is not handled yet. */
export function unreachable(value: never): never {
  throw new Error(`Internal: unhandled case ${JSON.stringify(value)}`);
}
