const LIMIT_MS = 240_000;

/** Waits until something is so, looking every millisecond; what takes longer than anything here may is an error that names it. */
export async function waitFor(what: string, isSo: () => boolean, found = () => ''): Promise<void> {
  const until = performance.now() + LIMIT_MS;
  while (!isSo()) {
    if (performance.now() > until) throw new Error(`waited in vain: ${what}${found()}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
