const AGE_MS = 1000;

/** Reads at most once a second what hardly ever changes: a process that makes many runs a second asks the kernel once for all of them. */
export function onceASecond<T>(read: () => T): () => T {
  let last: { value: T; atMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (last === undefined || nowMs - last.atMs > AGE_MS) last = { value: read(), atMs: nowMs };
    return last.value;
  };
}
