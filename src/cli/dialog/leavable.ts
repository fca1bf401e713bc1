/**
 * Runs a prompt whose signal aborts when the person types Ctrl-D or the terminal closes. Without it a prompt would wait for ever: at
 * an empty line readline takes Ctrl-D for the end of its input.
 */
export async function leavable<T>(prompt: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const leave = new AbortController();
  const onKey = (_: unknown, key?: { name?: string; ctrl?: boolean }) => {
    if (key?.ctrl && key.name === 'd') leave.abort();
  };
  const onEnd = () => leave.abort();
  process.stdin.on('keypress', onKey);
  process.stdin.once('end', onEnd);
  try {
    return await prompt(leave.signal);
  } finally {
    process.stdin.off('keypress', onKey);
    process.stdin.off('end', onEnd);
  }
}
