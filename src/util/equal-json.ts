/** Whether two JSON values are the same; the order of keys does not count. `node:util` has this, and takes 1 ms to load. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (!isHolder(left) || !isHolder(right) || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && equalJson(left[key], right[key]))
  );
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
