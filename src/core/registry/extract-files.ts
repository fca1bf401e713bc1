import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorMessage } from '../../util/error-code.ts';
import { isSameSignature, type Signature, Signatures, signatureOf } from '../../util/file-signature.ts';
import { newSpanId } from '../../util/ids.ts';
import { tempFolder } from '../../util/system.ts';
import { userFolder } from '../config/find.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What other processes read: the SDKs, the program and the tool folder of task executors, and the reader of old command lines. */
const EXTRACTED = ['sdk', join('dist', 'lib'), join('templates', 'task'), join('templates', 'codemod')];

const ATTEMPTS = 3;

/** Names the signatures of the files that were compared last, in their folder. */
const COMPARED = 'compared.json';

/**
 * Writes the files that tools read from the compiled program to the first of the folders that this user can use, and
 * returns their folder. Its name is the digest of the files. Files that already exist are compared with those in the
 * program, unless none has changed since they were compared last.
 */
export function extractFiles(embedded: string, folders: readonly (() => string)[]): string {
  const name = readFileSync(join(embedded, 'digest'), 'utf8').trim();
  const failures: string[] = [];
  for (const folder of folders) {
    try {
      const target = join(ownFolder(folder()), name);
      if (isUnchanged(target)) return target;
      const files = embeddedFiles(embedded);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (isComplete(target, files)) return target;
        replaceFolder(target, files);
      }
      failures.push(`${target} changes while it is written`);
    } catch (error) {
      failures.push(errorMessage(error));
    }
  }
  throw new AcorError('E_STORAGE', `the SDKs of ACOR cannot be written to a folder: ${failures.join('; ')}`, {
    hint: 'Set XDG_CACHE_HOME to a folder that you may write.',
  });
}

/**
 * The folders for extracted files, in order of preference; each is found when those before it cannot be used. The tools of root run as other users, who cannot reach a
 * folder below root's home.
 */
export function cacheFolders(env: Env): (() => string)[] {
  const uid = process.getuid?.();
  return [
    ...(uid === 0 ? [() => '/var/cache/acor-sdk'] : []),
    () => `${userFolder('XDG_CACHE_HOME', '.cache', env)}-sdk`,
    () => join(tempFolder(), uid === undefined ? 'acor-sdk' : `acor-sdk-${uid}`),
  ];
}

/** By relative path. */
function embeddedFiles(embedded: string): Map<string, Buffer> {
  const paths = EXTRACTED.flatMap((folder) =>
    readdirSync(join(embedded, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path),
    ),
  );
  return new Map(
    paths
      .filter((path) => statSync(join(embedded, path)).isFile())
      .map((path) => [path, readFileSync(join(embedded, path))]),
  );
}

/** Creates the folder, and refuses one in which another user could replace files. */
function ownFolder(folder: string): string {
  const isRoot = process.getuid?.() === 0;
  mkdirSync(folder, { recursive: true, mode: isRoot ? 0o755 : 0o700 });
  const stats = lstatSync(folder);
  const isOwn =
    process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o022) === 0);
  if (isOwn && stats.isDirectory()) return folder;
  throw new Error(`${folder} is not a folder that only this user may write`);
}

/** Whether each file has the signature with which it was compared last. A program of the same files may have extracted fewer folders. */
function isUnchanged(target: string): boolean {
  try {
    const compared = Object.entries(JSON.parse(readFileSync(join(target, COMPARED), 'utf8')));
    const hasFiles = (folder: string) =>
      compared.some(([path]) => path.startsWith(join(target, folder, sep)));
    return (
      EXTRACTED.every(hasFiles) &&
      compared.every(([path, known]) => isSameSignature(known, signatureOf(path)))
    );
  } catch {
    return false;
  }
}

function isComplete(target: string, files: ReadonlyMap<string, Buffer>): boolean {
  const taken = new Signatures();
  try {
    for (const [path, bytes] of files) {
      taken.take(join(target, path));
      if (!readFileSync(join(target, path)).equals(bytes)) return false;
    }
  } catch {
    return false;
  }
  const signatures = taken.all();
  if (signatures !== null) keepCompared(target, signatures);
  return true;
}

/** Without it, the next start compares again. */
function keepCompared(target: string, signatures: Readonly<Record<string, Signature>>): void {
  try {
    writeAtomic(join(target, COMPARED), JSON.stringify(signatures));
  } catch {}
}

/** Renames complete folders only, so that another process never reads half of one. */
function replaceFolder(target: string, files: ReadonlyMap<string, Buffer>): void {
  const suffix = newSpanId();
  const [made, old] = [`${target}.${suffix}`, `${target}.${suffix}.old`];
  // The tools of root run as other users, who must be able to read the files.
  const umask = process.umask(0o022);
  try {
    for (const [path, bytes] of files) {
      mkdirSync(dirname(join(made, path)), { recursive: true });
      writeFileSync(join(made, path), bytes);
    }
    try {
      renameSync(target, old);
    } catch {
      // There was none, or another process has just renamed it.
    }
    try {
      renameSync(made, target);
    } catch {
      // Another process was faster; the caller compares its files.
    }
  } finally {
    process.umask(umask);
    for (const path of [made, old]) rmSync(path, { recursive: true, force: true });
  }
}
