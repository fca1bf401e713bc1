import { mkdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { isFile } from '../../util/files.ts';
import { newSha256 } from '../../util/sha256.ts';
import { userFolder } from '../config/find.ts';
import type { DigestedFile } from '../guard/tool-digest.ts';

/** A person reviews a plugin before approving it, so its size is limited. */
const MAX_FILES = 100;
const MAX_BYTES = 2 << 20;

/** A quoted text that begins like a relative path: the module may load every such file. */
const RELATIVE_PATH = /(["'`])(\.{1,2}\/[^"'`\n]*)\1/g;
/** Suffixes that an import may omit. */
const ENDINGS = ['', '.ts', '.mts', '.js', '.mjs', '.json', '/index.ts', '/index.js'];

const MODULE = /\.[mc]?[jt]s$/;

/** The bytes of a plugin: its main file, and the files that it references by relative paths. */
export interface PluginFiles {
  digest: string;
  files: DigestedFile[];
  /** By absolute path; the main file is the first. */
  bytes: ReadonlyMap<string, Buffer>;
}

/** Reads a plugin's files without running them. Throws a message when that fails. */
export function readPluginFiles(file: string, root: string): PluginFiles {
  const bytes = new Map<string, Buffer>();
  let total = 0;
  const take = (path: string): void => {
    if (bytes.has(path)) return;
    const content = readFileSync(path);
    bytes.set(path, content);
    total += content.length;
    if (bytes.size > MAX_FILES || total > MAX_BYTES) {
      throw new Error(
        `it has more than ${MAX_FILES} files or ${MAX_BYTES >> 20} MiB, which is too much to review; bundle it, or make it smaller`,
      );
    }
    const foreign = MODULE.test(path) ? foreignImport(content.toString('utf8')) : undefined;
    if (foreign !== undefined) {
      throw new Error(
        `${nameOf(path, root)} imports '${foreign}'; a plugin may only import its own files by relative paths, and built-in modules; bundle the package, and write 'import type' for types`,
      );
    }
    for (const named of pathsNamedIn(content)) {
      for (const candidate of candidatesFor(resolve(dirname(path), named)))
        if (isFile(candidate)) take(candidate);
    }
  };
  take(file);
  const files = [...bytes]
    .map(([path, content]) => ({ name: nameOf(path, root), sha256: sha256(content) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const parts = files.flatMap(({ name, sha256: sum }) => [name, sum]);
  return { digest: sha256(JSON.stringify(['acor-plugin-1', nameOf(file, root), ...parts])), files, bytes };
}

function pathsNamedIn(content: Buffer): string[] {
  return [...content.toString('utf8').matchAll(RELATIVE_PATH)].map(([, , path]) => path!);
}

/** TypeScript sources import files by the name of the compiled JavaScript. */
function candidatesFor(path: string): string[] {
  return [...ENDINGS.map((ending) => path + ending), path.replace(/\.(m?)js$/, '.$1ts')];
}

function nameOf(path: string, root: string): string {
  const name = relative(root, path);
  return name.startsWith('..') ? path : name;
}

function sha256(content: Buffer | string): string {
  return newSha256().update(content).digest('hex');
}

/** The deepest folder that contains all of the paths. */
function commonFolder(paths: readonly string[]): string {
  let folder = dirname(paths[0]!);
  while (!paths.every((path) => path.startsWith(join(folder, '/')))) folder = dirname(folder);
  return folder;
}

/** Literal imports and requires. Type imports are erased. */
const IMPORTS = [
  /^[ \t]*(?:import|export)\b(?![ \t]+type\b)[^'"`;]*?\bfrom\s*(["'])([^'"\n]+)\1/gm,
  /^[ \t]*import\s*(["'])([^'"\n]+)\1/gm,
  /\b(?:import|require)\(\s*(["'`])([^'"`\n]+)\1\s*[,)]/g,
];

/** The first package that a module loads by name and that is not built in. */
export function foreignImport(code: string): string | undefined {
  const plain = code.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
  for (const pattern of IMPORTS) {
    for (const [, , specifier] of plain.matchAll(pattern)) if (isForeign(specifier!)) return specifier;
  }
  return undefined;
}

function isForeign(specifier: string): boolean {
  return !/^\.{1,2}\//.test(specifier) && !/^bun(?::|$)/.test(specifier) && !isBuiltin(specifier);
}

/**
 * Writes the approved bytes to the user's cache folder and returns the path of the plugin's main file there. Plugins
 * run from this copy: the project may change between the check of an approval and the start, and files without approval
 * must not be loadable.
 */
export function copyOf(
  { digest, bytes }: PluginFiles,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const paths = [...bytes.keys()];
  const from = commonFolder(paths);
  const folder = join(userFolder('XDG_CACHE_HOME', '.cache', env), 'plugins', digest);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Without this file, Node treats `.js` as CommonJS and searches parent folders for a package.json.
  put(join(folder, 'package.json'), Buffer.from('{"type":"module"}\n'));
  for (const [path, content] of bytes) put(join(folder, 'files', relative(from, path)), content);
  return join(folder, 'files', relative(from, paths[0]!));
}

function put(path: string, content: Buffer): void {
  if (holds(path, content)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomic(path, content, { mode: 0o600 });
}

function holds(path: string, content: Buffer): boolean {
  try {
    return readFileSync(path).equals(content);
  } catch {
    return false;
  }
}
