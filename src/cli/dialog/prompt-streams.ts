import { PassThrough, type Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

/** What a prompt of clack is given, so that it works at every terminal and can always be left. */
export interface PromptStreams {
  input: Readable;
  output: Writable;
  /** Aborts when the person types Ctrl-D or the terminal closes. */
  signal: AbortSignal;
}

const SIZE = { columns: 80, rows: 24 };

/** Runs a prompt at this terminal; where it cannot redraw lines (`draws`), what is typed is shown only with `echoes`. */
export async function prompting<T>(
  { draws, echoes = false }: { draws: boolean; echoes?: boolean },
  begin: (streams: PromptStreams) => Promise<T>,
): Promise<T> {
  const { stdin } = process;
  const leave = new AbortController();
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => stdin.setRawMode(isRaw),
  });
  const onData = (chunk: Buffer | string) => {
    const keys = keysOf(String(chunk));
    if (!draws && echoes) process.stdout.write(echoOf(keys));
    input.write(keys);
  };
  const onEnd = () => leave.abort();
  // At an empty line readline takes Ctrl-D for the end of its input, and the prompt would wait for ever.
  input.on('keypress', (_: unknown, key?: { name?: string; ctrl?: boolean }) => {
    if (key?.ctrl && key.name === 'd') leave.abort();
  });
  stdin.on('data', onData);
  stdin.once('end', onEnd);
  stdin.resume();
  try {
    const output = draws ? sized() : firstFrame();
    return await withLineEditing(() => begin({ input, output, signal: leave.signal }));
  } finally {
    stdin.off('data', onData);
    stdin.off('end', onEnd);
    stdin.pause();
  }
}

/**
 * What was typed as keys: terminals that send whole lines end them with LF, where the Enter key sends CR. An end of input that was
 * typed before the prompt began is a NUL once the terminal no longer keeps lines.
 */
function keysOf(text: string): string {
  return text.replaceAll('\r\n', '\r').replaceAll('\n', '\r').replaceAll('\0', '\u0004');
}

/** What a terminal that cannot draw shows of keys: the letters, and a backspace as what it erases. */
function echoOf(keys: string): string {
  return stripVTControlCharacters(keys)
    .replaceAll(/[\u007f\b]/g, '\b \b')
    .replaceAll(/[\u0000-\u0007\u000b-\u001f]/g, '');
}

/** A pseudo-terminal that was given no size says 0 by 0, and a prompt would break each line after one letter. */
function sized(): Writable {
  const { stdout } = process;
  return stdout.columns > 0 ? stdout : Object.assign(Object.create(stdout) as Writable, SIZE);
}

/** For a terminal that cannot draw: the prompt as it is shown first, in plain lines, and none of its redrawing. */
function firstFrame(): Writable {
  let isShown = false;
  const output = new Writable({
    write(chunk, _encoding, done) {
      const text = stripVTControlCharacters(String(chunk));
      if (!isShown && text.trim() !== '') {
        isShown = true;
        process.stdout.write(text);
      } else if (String(chunk) === '\n') process.stdout.write('\n');
      done();
    },
  });
  return Object.assign(output, SIZE);
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
