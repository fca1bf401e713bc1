import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { AppError } from './app-error.ts';
import type { OperationContext, OperationResult } from './operation.ts';

/** One input of an old command, as its command line writes it. */
export interface OldArgument {
  key: string;
  /** How it is written: a flag with its dashes; null for a positional. */
  on?: string | null;
  /** The flag for `false`. */
  off?: string;
  /** After how many words of the command it is written; by default after all of them. */
  level?: number;
  /** A value equal to it is not written. */
  default?: string | number | boolean;
  /** An empty value is the flag without a value. */
  bare?: boolean;
  /** The number is how often the flag is written. */
  counts?: boolean;
}

/** A command of the old program. */
export interface OldCommandCall {
  words: readonly string[];
  arguments: readonly OldArgument[];
  /** What every call has besides its inputs. */
  always?: readonly string[];
  /** What the command writes: lines of text, or one JSON value. */
  output: 'lines' | 'json';
  /** The input that passes standard input on; without it, the old command gets none. */
  stdin?: string;
  /** `dry_run` shows the call without making it; without it, the old command has such a flag itself. */
  showsCall?: boolean;
}

/** What an old command answers. */
export const oldAnswer = z.object({
  lines: z.array(z.string()).optional().describe('What it wrote, line by line.'),
  value: z.unknown().optional().describe('The JSON value that it wrote.'),
  would_call: z.array(z.string()).optional().describe('With --dry-run: the call that would be made.'),
});

export type OldAnswer = z.output<typeof oldAnswer>;

/** A program whose commands a new command line calls. */
export interface OldProgram {
  /** Calls a command: data for an agent, the bytes of the old program for a person. */
  run(
    call: OldCommandCall,
    input: Readonly<Record<string, unknown>>,
    ctx: OperationContext<unknown>,
  ): Promise<OperationResult<OldAnswer>>;
}

/**
 * An old program in JavaScript or TypeScript, as the handlers of a command line on the kit call it. Exit codes without an
 * error code are `E_FAILED`.
 */
export function oldProgram(file: URL, errors: Readonly<Record<number, string>> = {}): OldProgram {
  const program = process.execPath;
  const first = [fileURLToPath(file)];
  return {
    async run(call, input, ctx) {
      const args = argumentsOf(call, input);
      if (call.showsCall === true && input['dry_run'] === true)
        return { kind: 'data', data: { ...emptyOf(call), would_call: [program, ...first, ...args] } };
      const isPassed = call.stdin !== undefined && input[call.stdin] === true;
      const given = isPassed ? await bytesFor(ctx) : '';
      const done = await captured(program, [...first, ...args], ctx, given);
      if (!ctx.structured) {
        process.stderr.write(done.stderr);
        return { kind: 'document', document: done.stdout, data: {}, programExit: done.exit };
      }
      if (done.exit !== 0) throw failed(done, errors);
      return { kind: 'data', data: dataOf(call, done.stdout) };
    },
  };
}

function argumentsOf(call: OldCommandCall, input: Readonly<Record<string, unknown>>): string[] {
  const { words, always = [] } = call;
  const at: string[][] = Array.from({ length: words.length + 1 }, () => []);
  const positionals: string[] = [];
  for (const each of call.arguments) {
    const value = input[each.key];
    if (value === undefined || value === null || value === each.default) continue;
    const values = Array.isArray(value) ? value : [value];
    if (each.on === undefined) positionals.push(...values.map(String));
    else at[each.level ?? words.length]!.push(...values.flatMap((one) => flagOf(each, one)));
  }
  const guard = positionals.some((text) => text.startsWith('-')) ? ['--'] : [];
  const flags = at.flatMap((some, index) => [...some, ...words.slice(index, index + 1)]);
  return [...flags, ...always, ...guard, ...positionals];
}

function flagOf({ on, off, bare, counts }: OldArgument, value: unknown): string[] {
  if (value === false) return off === undefined ? [] : [off];
  if (on === undefined || on === null) return [];
  if (value === true || (bare === true && value === '')) return [on];
  if (counts === true) return Array.from({ length: Number(value) }, () => on);
  return on.startsWith('--') ? [`${on}=${String(value)}`] : [on, String(value)];
}

interface Done {
  exit: number;
  stdout: string;
  stderr: string;
}

function bytesFor({ readStdinBytes, readStdin }: OperationContext<unknown>): Promise<Uint8Array | string> {
  return readStdinBytes === undefined ? readStdin() : readStdinBytes();
}

function captured(
  program: string,
  args: readonly string[],
  ctx: OperationContext<unknown>,
  input: Uint8Array | string,
): Promise<Done> {
  return new Promise((resolve, reject) => {
    const { cwd, env, signal } = ctx;
    const child = spawn(program, args, { cwd, env, signal, stdio: ['pipe', 'pipe', 'pipe'] });
    // A program may end before it has read everything.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({
        exit: code ?? 1,
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr: Buffer.concat(stderr).toString('utf8'),
      }),
    );
  });
}

function failed({ exit, stdout, stderr }: Done, errors: Readonly<Record<number, string>>): AppError {
  const text = stderr.trim() || stdout.trim();
  const message = text.split('\n').find((line) => line.trim() !== '') ?? `it exited with ${exit}`;
  return new AppError(errors[exit] ?? 'E_FAILED', message.slice(0, 500), {
    details: { exit, stderr: stderr.slice(0, 4000), stdout: stdout.slice(0, 4000) },
  });
}

function emptyOf({ output }: OldCommandCall): OldAnswer {
  return output === 'json' ? { value: null } : { lines: [] };
}

function dataOf({ output, words }: OldCommandCall, stdout: string): OldAnswer {
  if (output === 'lines') return { lines: stdout === '' ? [] : stdout.replace(/\n$/, '').split('\n') };
  try {
    return { value: JSON.parse(stdout) };
  } catch (cause) {
    throw new AppError('E_FAILED', `the output of '${words.join(' ')}' is not JSON`, {
      cause,
      details: { stdout: stdout.slice(0, 4000) },
    });
  }
}
