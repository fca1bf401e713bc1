import { PassThrough, type Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { isCancel, password, text } from '@clack/prompts';
import { safeLine } from '../../compose/terminal-text.ts';

/** Shows lines and asks for one line of text; empty when the person cancels. */
export async function promptForText(
  lines: readonly string[],
  message: string,
  draws: boolean,
): Promise<string> {
  // Each is one line: a manifest's text must not look like ACOR's own.
  process.stdout.write(`${lines.map(safeLine).join('\n')}\n`);
  const typed = await prompting({ draws, echoes: true }, (streams) =>
    text({ message: safeLine(message), ...streams }),
  );
  return isCancel(typed) ? '' : typed.trim();
}

/** Asks for one line without showing anything, not even its length; undefined when the person cancels. */
export async function promptForSecret(message: string, draws: boolean): Promise<string | undefined> {
  const typed = await prompting({ draws }, (streams) =>
    password({ message: safeLine(message), mask: '', ...streams }),
  );
  return isCancel(typed) ? undefined : typed;
}

/** The streams for a clack prompt, so that it works on every terminal and can always be cancelled. */
export interface PromptStreams {
  input: Readable;
  output: Writable;
  /** Aborts when the person types Ctrl-D or the terminal closes. */
  signal: AbortSignal;
}

const SIZE = { columns: 80, rows: 24 };

/**
 * Runs a prompt at this terminal. On a terminal that cannot redraw lines (`draws`), input is only shown with `echoes`.
 */
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
  // On an empty line, readline treats Ctrl-D as the end of its input, and the prompt would wait for ever.
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
 * Converts input to keys: terminals that send whole lines end them with LF, but the Enter key sends CR. An end of input
 * typed before the prompt began arrives as NUL once the terminal is in raw mode.
 */
function keysOf(text: string): string {
  return text.replaceAll('\r\n', '\r').replaceAll('\n', '\r').replaceAll('\0', '\u0004');
}

/** The echo on a terminal that cannot redraw: the letters, and for a backspace its erasure. */
function echoOf(keys: string): string {
  return stripVTControlCharacters(keys)
    .replaceAll(/[\u007f\b]/g, '\b \b')
    .replaceAll(/[\u0000-\u0007\u000b-\u001f]/g, '');
}

/** A pseudo-terminal without a size reports 0 by 0, and a prompt would wrap after each letter. */
function sized(): Writable {
  const { stdout } = process;
  return stdout.columns > 0 ? stdout : Object.assign(Object.create(stdout) as Writable, SIZE);
}

/** For a terminal that cannot redraw: the first rendering of the prompt in plain lines, and no redrawing. */
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

/**
 * With TERM=dumb, readline does not edit lines: a backspace would become part of the input. It checks TERM when a
 * prompt begins.
 */
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
