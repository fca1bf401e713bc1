import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What was found for environments of `rememberingPrograms`. */
const remembered = new WeakMap<Env, Map<string, string | undefined>>();

/** The same environment, in which each program is looked up once. For one call: a program may be installed before the next. */
export function rememberingPrograms(env: Env): Env {
  const copy = { ...env };
  remembered.set(copy, new Map());
  return copy;
}

/**
 * Finds a program on the caller's PATH. Empty and relative entries would mean the working directory, and are ignored.
 */
export function findProgram(name: string, env: Env): string | undefined {
  const known = remembered.get(env);
  if (known === undefined) return programOnPath(name, env);
  if (!known.has(name)) known.set(name, programOnPath(name, env));
  return known.get(name);
}

function programOnPath(name: string, env: Env): string | undefined {
  const endings =
    process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    for (const ending of endings) {
      const path = join(folder, name + ending);
      if (isProgram(path)) return path;
    }
  }
  return undefined;
}

/** The program that runs tools of a language. Throws E_RUNTIME_MISSING with the package to install. */
export function requireRuntime(name: string, env: Env, missing: { message: string; hint: string }): string {
  const found = findProgram(name, env);
  if (found !== undefined) return found;
  throw new AcorError('E_RUNTIME_MISSING', missing.message, {
    hint: missing.hint,
    details: { runtime: name },
  });
}

/** Whether a path is an executable file. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
