import type { CoveringStream } from '../../sandbox.ts';

/** How long bytes wait that may be the beginning of a secret. */
const MAX_HOLD_MS = 50;

/** The same bytes with the secrets overwritten. */
export async function* coveredPieces(
  pieces: AsyncGenerator<Buffer>,
  covering: CoveringStream,
): AsyncGenerator<Buffer> {
  for (;;) {
    const next = pieces.next();
    if (covering.holdsBytes && (await isLate(next))) yield Buffer.from(covering.flush());
    const { done, value } = await next;
    if (done) break;
    // The stream reuses its buffer, and a socket keeps what it has not written yet.
    yield Buffer.from(covering.push(value));
  }
  yield Buffer.from(covering.end());
}

async function isLate(next: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), MAX_HOLD_MS);
  });
  try {
    return await Promise.race([late, next.then(() => false)]);
  } finally {
    clearTimeout(timer);
  }
}
