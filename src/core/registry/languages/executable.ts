import { closeSync, openSync, readSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { findProgram, isProgram } from '../find-program.ts';
import type { Language, RuntimeContext } from './language.ts';

/** The kernel reads at most this much of a `#!` line. */
const FIRST_LINE_BYTES = 256;

/** Anything that the kernel can execute: a script with a `#!` line, or a binary. */
export const executable: Language = {
  name: 'executable',
  extensions: [],
  detect: (file) => file.executable,
  runtime(context) {
    const { entry, tool } = context;
    if (!isProgram(entry)) {
      throw new AcorError('E_SPAWN_FAILED', `the entry of tool '${tool}' is not executable: ${entry}`, {
        hint: `Set its mode bit: chmod +x '${entry}'`,
        next: [{ command: `chmod +x '${entry}'`, why: 'Make the entry executable.' }],
      });
    }
    checkInterpreter(context);
    return entry;
  },
  command: (runtime) => ({ argv: [runtime], runtime, env: {} }),
};

/** The first line of a file, if it is a `#!` line. */
export function readShebang(path: string): string[] | null {
  const buffer = Buffer.alloc(FIRST_LINE_BYTES);
  const fd = openSync(path, 'r');
  try {
    const line = buffer.toString('utf8', 0, readSync(fd, buffer, 0, FIRST_LINE_BYTES, 0)).split('\n', 1)[0]!;
    return line.startsWith('#!') ? line.slice(2).trim().split(/\s+/) : null;
  } finally {
    closeSync(fd);
  }
}

/** The name of the interpreter in a `#!` line; `env` and its options are skipped. */
export function interpreterOf(shebang: readonly string[]): string | null {
  const [first, ...rest] = shebang;
  if (first === undefined || first === '') return null;
  if (basename(first) !== 'env') return basename(first);
  const name = rest.find((word) => !word.startsWith('-') && !word.includes('='));
  return name === undefined ? null : basename(name);
}

/** Without this check, a missing interpreter looks like a missing script. */
function checkInterpreter({ entry, env, tool }: RuntimeContext): void {
  const shebang = readShebang(entry);
  const [first] = shebang ?? [];
  if (!first) return;
  const name = interpreterOf(shebang!);
  const found =
    basename(first) === 'env' && name !== null
      ? findProgram(name, env)
      : isAbsolute(first) && isProgram(first);
  if (found) return;
  throw new AcorError(
    'E_RUNTIME_MISSING',
    `tool '${tool}' names '${shebang!.join(' ')}' in its first line, which does not exist`,
    {
      hint: `Install ${name ?? first}, or fix the first line of ${entry}`,
      details: { runtime: name ?? first },
    },
  );
}
