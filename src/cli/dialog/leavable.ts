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
    return await withLineEditing(() => prompt(leave.signal));
  } finally {
    process.stdin.off('keypress', onKey);
    process.stdin.off('end', onEnd);
  }
}

/** Where TERM is `dumb`, readline does not edit lines: a backspace would become a part of what is typed. It looks when a prompt begins. */
function withLineEditing<T>(begin: () => T): T {
  const { TERM } = process.env;
  if (TERM !== 'dumb') return begin();
  process.env['TERM'] = 'ansi';
  try {
    return begin();
  } finally {
    process.env['TERM'] = TERM;
  }
}
