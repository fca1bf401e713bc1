import { existsSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { IS_COMPILED } from '../../util/is-compiled.ts';
import { cacheFolders, extractFiles } from './extract-files.ts';

/** Files of ACOR that other processes read: real files, also when the compiled program contains them. */
export interface SdkPaths {
  /** The folder that contains the others. */
  root: string;
  sdkPython: string;
  sdkBash: string;
  /** The folder that contains `acor/tool`, for TypeScript and JavaScript. */
  sdkNode: string;
  /** The files that start interpreters before their runs. */
  sdkWarm: string;
  /** The Bun that comes with ACOR, if any. */
  ownBun: OwnBun | null;
}

export interface OwnBun {
  program: string;
  /** Whether the program is ACOR's own compiled program, which must be asked to be Bun. */
  isAcor: boolean;
}

/** The root of the checkout that `scripts/build.sh` compiled. A released program has none. */
declare const ACOR_CHECKOUT: string | undefined;

const MARK = join('sdk', 'python', 'acor', '__init__.py');

/** The folder that `scripts/build.sh` puts into the compiled program. */
const EMBEDDED = join(import.meta.dirname, 'package');

let found: string | null | undefined;
let sdk: SdkPaths | undefined;

/**
 * The folder of the package or the checkout that this code belongs to. Null for a compiled program outside of its
 * checkout: it uses only the files inside it, because the folders around it may belong to another user.
 */
export function packageFolder(): string | null {
  if (found === undefined)
    found = IS_COMPILED ? checkoutOf(process.execPath) : packageAbove(import.meta.dirname);
  return found;
}

/** A file or folder of ACOR, for this process to read. In the compiled program it may exist only for this process. */
export function ownFile(...path: string[]): string {
  return join(packageFolder() ?? EMBEDDED, ...path);
}

/** The folder of the installation, in which a user adds optional packages. */
export function installFolder(): string {
  return packageFolder() ?? dirname(process.execPath);
}

/**
 * A file of an optional package beside ACOR; a project could contain a package of the same name. The path is resolved here, because a
 * compiled program cannot resolve a package name.
 */
export function installedFile(folder: string, ...path: readonly [string, ...string[]]): string | undefined {
  for (let dir = folder; ; dir = dirname(dir)) {
    const file = join(dir, 'node_modules', ...path);
    if (existsSync(file)) return file;
    // Folders above the installation may belong to other users.
    if (!dir.split(sep).includes('node_modules')) return undefined;
  }
}

/** How ACOR was installed; `folder` is the checkout, the project or the prefix of npm, or the folder of the program. */
export interface Installation {
  how: 'checkout' | 'npm' | 'npm-global' | 'program';
  folder: string;
}

export function installation(): Installation {
  const own = installFolder();
  const parts = own.split(sep);
  const modules = parts.indexOf('node_modules');
  if (modules === -1) return { how: packageFolder() === null ? 'program' : 'checkout', folder: own };
  const folder = parts.slice(0, modules).join(sep);
  // npm installs global packages into `lib` of its prefix, and projects have a package.json.
  const isGlobal = basename(folder) === 'lib' && !existsSync(join(folder, 'package.json'));
  return isGlobal ? { how: 'npm-global', folder: dirname(folder) } : { how: 'npm', folder };
}

/** The SDKs. A compiled program that is alone writes them to the user's cache folder first. */
export function sdkPaths(): SdkPaths {
  if (sdk === undefined) {
    const root = packageFolder() ?? extractFiles(EMBEDDED, cacheFolders(process.env));
    sdk = {
      root,
      sdkPython: join(root, 'sdk', 'python'),
      sdkBash: join(root, 'sdk', 'bash'),
      sdkNode: join(root, 'sdk', 'node'),
      sdkWarm: join(root, 'sdk', 'warm'),
      ownBun: ownBun(),
    };
  }
  return sdk;
}

function checkoutOf(program: string): string | null {
  const isThere = typeof ACOR_CHECKOUT === 'string' && program === join(ACOR_CHECKOUT, 'dist', 'acor');
  return isThere ? ACOR_CHECKOUT : null;
}

function packageAbove(start: string): string {
  for (let dir = start; ; dir = dirname(dir)) {
    if (existsSync(join(dir, MARK))) return dir;
    if (dir === dirname(dir)) throw new Error(`Internal: no ${MARK} above ${start}`);
  }
}

function ownBun(): OwnBun | null {
  const folder = packageFolder();
  const bun =
    folder && join(folder, 'node_modules', '.bin', process.platform === 'win32' ? 'bun.exe' : 'bun');
  if (bun && existsSync(bun)) return { program: bun, isAcor: false };
  return IS_COMPILED ? { program: process.execPath, isAcor: true } : null;
}
