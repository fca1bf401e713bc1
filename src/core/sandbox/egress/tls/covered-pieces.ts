import type { CoveringStream } from '../../sandbox.ts';

/** How long the last bytes wait for more: they could be a part of a secret. */
const MAX_HOLD_MS = 50;

/** The same bytes with the secrets overwritten. */
export async function* coveredPieces(
  pieces: AsyncGenerator<Buffer>,
  covering: CoveringStream,
): AsyncGenerator<Buffer> {
  for (;;) {
    const next = pieces.next();
    if (covering.holdsBytes && (await isLate(next))) yield covering.flush();
    const { done, value } = await next;
    if (done) break;
    yield covering.push(value);
  }
  yield covering.flush();
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
