/**
 * The lines of a stream without their endings. Only a line feed ends a line: node:readline also splits at U+2028 and others, which JSON
 * may contain.
 */
export async function* readLines(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (
      rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))
    ).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Runs a generator to its end, ignores its values, and resolves to its return value. */
export async function drain<T>(generator: AsyncGenerator<unknown, T>): Promise<T> {
  for (;;) {
    const step = await generator.next();
    if (step.done) return step.value;
  }
}
