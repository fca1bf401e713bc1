import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { SECRET_NAME, SECRET_NAME_RULE } from '../../protocol/names.ts';
import { storeSecret } from '../../protocol/next-steps.ts';
import { syncFolder, writeFully } from '../../util/atomic-write.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/files.ts';
import { dataFolderFix, homeFolder } from '../../util/home-folder.ts';
import { newSpanId } from '../../util/ids.ts';
import { newSha256 } from '../../util/sha256.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { MAX_SECRET_BYTES, problemOfSecret, type SecretProblem } from './secret.ts';

/** The public facts about a stored secret. `size` in bytes, `mode` in the notation of `chmod`. */
export interface StoredSecret {
  name: string;
  size: number;
  mode: string;
  changed_at: string;
}

/** The secrets of one project: files in the user's own folders, outside the project, which no other user can read. */
export class SecretStore {
  readonly #root: string;
  readonly #folder: string;

  /** `projectRoot` is the project's folder. A copy of the project in another folder has separate secrets. */
  constructor(projectRoot: string, env: Readonly<Record<string, string | undefined>>) {
    const xdg = env['XDG_DATA_HOME'];
    // The XDG specification requires relative values to be ignored.
    const base = xdg && isAbsolute(xdg) ? xdg : join(homeFolder(env), '.local', 'share');
    this.#root = join(base, 'acor', 'secrets');
    const project = newSha256().update(realpathSync(projectRoot)).digest('hex').slice(0, 32);
    this.#folder = join(this.#root, project);
  }

  /** Throws E_USAGE for an invalid name or value. */
  check(name: string, bytes: Buffer): void {
    this.#pathOf(name);
    const problem = problemOfSecret(bytes);
    if (problem !== undefined) throw refusedValue(name, problem);
  }

  /** Stores a value atomically and replaces the previous one. */
  set(name: string, bytes: Buffer): void {
    this.check(name, bytes);
    const path = this.#pathOf(name);
    // No valid secret name begins with this.
    const temporary = join(this.#folder, `.${newSpanId()}`);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#checkFolders();
      writeNew(temporary, bytes);
      renameSync(temporary, path);
      syncFolder(this.#folder);
    } catch (error) {
      removeIfPossible(temporary);
      if (error instanceof AcorError) throw error;
      throw new AcorError('E_STORAGE', `cannot keep the secret in ${this.#folder}: ${errorMessage(error)}`, {
        hint: dataFolderFix(this.#folder),
        cause: error,
      });
    }
  }

  /** The value; undefined when there is none. Throws E_PERMISSION when another user could have read or changed it. */
  read(name: string): Buffer | undefined {
    const path = this.#pathOf(name);
    let fd: number | undefined;
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      this.#checkFolders();
      const stats = fstatSync(fd);
      if (!stats.isFile() || stats.size > MAX_SECRET_BYTES) throw notASecret(path);
      checkOwnOnly(path, stats, '600');
      return readFileSync(fd);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw errorCode(error) === 'ELOOP' ? notASecret(path) : asStorageError(error, 'read the secret', path);
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /** All secrets, sorted by name. */
  list(): StoredSecret[] {
    let names: string[];
    try {
      names = readdirSync(this.#folder);
    } catch (error) {
      if (isMissing(error)) return [];
      throw asStorageError(error, 'list the secrets', this.#folder);
    }
    return names
      .filter((name) => SECRET_NAME.test(name))
      .sort()
      .flatMap((name) => {
        const stats = statOf(join(this.#folder, name));
        return stats === undefined ? [] : [describe(name, stats)];
      });
  }

  /**
   * The problems that would reject a run which reads these secrets: each file or folder that another user can access,
   * with the fix.
   */
  problems(): AcorError[] {
    const files = this.list().map(({ name }) => [join(this.#folder, name), '600'] as const);
    return [[this.#root, '700'] as const, [this.#folder, '700'] as const, ...files].flatMap(
      ([path, mode]) => {
        const stats = statOf(path);
        if (stats === undefined) return [];
        try {
          if (mode === '600' && !stats.isFile()) throw notASecret(path);
          checkOwnOnly(path, stats, mode);
          return [];
        } catch (error) {
          if (error instanceof AcorError) return [error];
          throw error;
        }
      },
    );
  }

  has(name: string): boolean {
    return statOf(this.#pathOf(name)) !== undefined;
  }

  /** Removes a secret; false when there is none. */
  delete(name: string): boolean {
    const path = this.#pathOf(name);
    if (!this.has(name)) return false;
    try {
      rmSync(path);
      syncFolder(this.#folder);
      return true;
    } catch (error) {
      throw asStorageError(error, 'delete the secret', path);
    }
  }

  #pathOf(name: string): string {
    if (SECRET_NAME.test(name)) return join(this.#folder, name);
    throw new AcorError('E_USAGE', `'${name}' is not a valid secret name: it ${SECRET_NAME_RULE}`, {
      hint: 'Use a name such as API_TOKEN.',
    });
  }

  /** A user who can write a folder can replace a file in it without being able to read it. */
  #checkFolders(): void {
    for (const folder of [this.#root, this.#folder]) checkOwnOnly(folder, lstatSync(folder), '700');
  }
}

function writeNew(path: string, bytes: Buffer): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFully(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function describe(name: string, stats: Stats): StoredSecret {
  return { name, size: stats.size, mode: modeOf(stats), changed_at: stats.mtime.toISOString() };
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Also below a file: the home of a service account may be /dev/null. */
function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR';
}

function refusedValue(name: string, { what, fix }: SecretProblem): AcorError {
  return new AcorError('E_USAGE', `the value of '${name}' cannot be stored as a secret: ${what}`, {
    hint: fix,
    next: [storeSecret(name)],
  });
}

function notASecret(path: string): AcorError {
  return new AcorError('E_STORAGE', `${path} is not a secret that ACOR stored`, {
    hint: 'Remove it, and store the secret again.',
    next: [{ command: shellCommand(['rm', '-r', path]), why: 'Remove it.' }],
  });
}

function asStorageError(error: unknown, what: string, path: string): AcorError {
  if (error instanceof AcorError) return error;
  return new AcorError('E_STORAGE', `cannot ${what}: ${errorMessage(error)}`, {
    hint: `Check the folder and its permissions: ${path}`,
    cause: error,
  });
}

/** Throws E_PERMISSION when another user can access a file or folder; `wanted` is the required mode. */
function checkOwnOnly(path: string, stats: Stats, wanted: string): void {
  if (process.getuid !== undefined && stats.uid !== process.getuid()) {
    throw new AcorError('E_PERMISSION', `${path} belongs to another user (${stats.uid})`, {
      hint: 'It must belong to the user who runs ACOR: remove it, and store the secret again.',
      next: [{ command: shellCommand(['rm', '-r', path]), why: 'Remove it.' }],
    });
  }
  if ((stats.mode & 0o077) === 0) return;
  const command = shellCommand(['chmod', wanted, path]);
  throw new AcorError('E_PERMISSION', `other users can access ${path} (mode ${modeOf(stats)})`, {
    hint: `Remove their access, and change the secret if they may have read it: ${command}`,
    next: [{ command, why: 'Remove the access of other users.' }],
  });
}

/** The mode in the notation of `chmod`. */
function modeOf({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(3, '0');
}
