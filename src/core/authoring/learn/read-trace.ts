import { isAbsolute, join, normalize } from 'node:path';

/**
 * What the tool did with a path: `look` asks whether it is there or what it is, `list` reads the names in a folder, `change` makes, removes
 * or renames the entry itself.
 */
export type Use = 'look' | 'read' | 'list' | 'write' | 'change' | 'execute';

/** One observed use of a path, the first of its kind. */
export interface ObservedUse {
  path: string;
  use: Use;
  /** Whether the system did it. What it refused may exist for the tool only under another grant. */
  succeeded: boolean;
  /** The name of the error of a refused use. */
  error: string | null;
  /** The system call, as the evidence. */
  call: string;
}

/** A line of strace: the process, the call, its arguments and its result. Only the end of the line says where the arguments end. */
const LINE =
  /^(\d+) +([a-z0-9_]+)\((.*)\) += (-?\d+|\?)(?:<(?:[^<>\\]|\\.)*>)?(?: ([A-Z0-9]+) \([^()]*\))?(?: \([^()]*\))?$/s;
const UNFINISHED = /^(\d+) +(.*) <unfinished \.\.\.>$/s;
const RESUMED = /^(\d+) +<\.\.\. [a-z0-9_]+ resumed>(.*)$/s;
/** `AT_FDCWD</folder>` or `3</folder>`, then the text of the path; strace escapes quotes and angle brackets in both. */
const AT = /^(?:AT_FDCWD|\d+)(?:<((?:[^<>\\]|\\.)*)>)?, (?:"((?:[^"\\]|\\.)*)")?/s;
const TEXT = /^"((?:[^"\\]|\\.)*)"/s;
const SECOND_TEXT = /^"(?:[^"\\]|\\.)*", "((?:[^"\\]|\\.)*)"/s;
const CWD = /^AT_FDCWD<((?:[^<>\\]|\\.)*)>/s;
const DESCRIPTOR = /^\d+<((?:[^<>\\]|\\.)*)>/s;
const MAX_USES = 20_000;

/** The calls that change an entry, by the form of their arguments. */
const PLAIN_CHANGES = ['mkdir', 'rmdir', 'unlink', 'mknod'];
const CHANGES = ['mkdirat', 'unlinkat', 'mknodat'];
/** These change what is there, and need no right to its folder. */
const PLAIN_WRITES = [
  ...['creat', 'truncate', 'chmod', 'chown', 'lchown', 'utime', 'utimes'],
  ...['setxattr', 'lsetxattr', 'removexattr', 'lremovexattr'],
];
const WRITES = ['fchmodat', 'fchmodat2', 'fchownat', 'utimensat', 'futimesat'];

/**
 * Reads what strace wrote of a tool in its sandbox. Everything before the tool's own program began is the sandbox's and is left out. The
 * tool cannot write these lines; the names in them are its own, so they are never more than names.
 */
export class TraceReader {
  readonly uses = new Map<string, ObservedUse>();
  isCut = false;
  readonly #program: string;
  readonly #unfinished = new Map<string, string>();
  /** The processes of the sandbox; the others are the tool's. */
  readonly #launchers = new Set<string>();
  readonly #folders = new Map<string, string>();
  /** Of the process that was seen last: where a process starts whose parent is not known yet. */
  #folder = '/';
  #hasBegun = false;

  constructor(program: string) {
    this.#program = program;
  }

  add(line: string): void {
    const unfinished = UNFINISHED.exec(line);
    if (unfinished !== null) {
      this.#unfinished.set(unfinished[1]!, unfinished[2]!);
      return;
    }
    const resumed = RESUMED.exec(line);
    if (resumed !== null) {
      const [, pid, rest] = resumed;
      const begun = this.#unfinished.get(pid!);
      this.#unfinished.delete(pid!);
      if (begun !== undefined) this.#read(`${pid} ${begun}${rest}`);
      return;
    }
    this.#read(line);
  }

  #read(line: string): void {
    const [, pid, call, args, result, error] = LINE.exec(line) ?? [];
    if (pid === undefined || call === undefined || args === undefined || result === undefined) return;
    const succeeded = result !== '?' && !result.startsWith('-');
    const isTools = this.#isTools(pid, call, args, result);
    const folder = this.#folderOf(pid, call, args, succeeded);
    if (/^(clone3?|v?fork)$/.test(call)) {
      if (succeeded && !this.#folders.has(result)) this.#folders.set(result, folder);
      return;
    }
    if (!isTools) return;
    for (const { path, use } of usesOf(call, args, folder))
      this.#keep({ path, use, succeeded, error: error ?? null, call });
  }

  /** Where relative paths of a process start. */
  #folderOf(pid: string, call: string, args: string, succeeded: boolean): string {
    const before = this.#folders.get(pid) ?? this.#folder;
    this.#folder = (succeeded ? enteredBy(call, args, before) : undefined) ?? textIn(CWD, args) ?? before;
    this.#folders.set(pid, this.#folder);
    // A call starts where its process was.
    return call === 'chdir' ? before : this.#folder;
  }

  #isTools(pid: string, call: string, args: string, result: string): boolean {
    if (this.#hasBegun) return !this.#launchers.has(pid);
    const path = call === 'execve' && result === '0' ? textIn(TEXT, args) : undefined;
    if (path !== this.#program) {
      this.#launchers.add(pid);
      return false;
    }
    this.#launchers.delete(pid);
    this.#hasBegun = true;
    return true;
  }

  #keep(use: ObservedUse): void {
    const key = `${use.use} ${use.succeeded} ${use.path}`;
    if (this.uses.has(key)) return;
    if (this.uses.size >= MAX_USES) this.isCut = true;
    else this.uses.set(key, use);
  }
}

function enteredBy(call: string, args: string, before: string): string | undefined {
  if (call === 'chdir') return pathIn(before, textIn(TEXT, args));
  return call === 'fchdir' ? textIn(DESCRIPTOR, args) : undefined;
}

function usesOf(call: string, args: string, folder: string): { path: string; use: Use }[] {
  const first = pathIn(folder, textIn(TEXT, args));
  const second = pathIn(folder, textIn(SECOND_TEXT, args));
  const as = (use: Use, ...paths: (string | undefined)[]) =>
    paths.flatMap((path) => (path === undefined ? [] : [{ path, use }]));
  if (call === 'getcwd' || call === 'fchdir') return [];
  if (call === 'execve') return as('execute', first);
  if (PLAIN_CHANGES.includes(call)) return as('change', first);
  if (PLAIN_WRITES.includes(call)) return as('write', first);
  if (call === 'rename') return as('change', first, second);
  if (call === 'link') return [...as('read', first), ...as('change', second)];
  if (call === 'symlink') return as('change', second);
  if (call === 'open') return as(useOfFlags(args.replace(TEXT, '')), first);
  if (call === 'symlinkat') return as('change', placeIn(args.replace(TEXT, '').slice(2), folder)[0]);
  const [path, rest] = placeIn(args, folder);
  if (call === 'renameat' || call === 'renameat2') return as('change', path, placeIn(rest, folder)[0]);
  if (call === 'linkat') return [...as('read', path), ...as('change', placeIn(rest, folder)[0])];
  if (call === 'openat' || call === 'openat2') return as(useOfFlags(rest), path);
  if (call === 'execveat') return as('execute', path);
  if (CHANGES.includes(call)) return as('change', path);
  if (WRITES.includes(call)) return as('write', path);
  return as('look', first ?? path);
}

function useOfFlags(flags: string): Use {
  if (/\bO_PATH\b/.test(flags)) return 'look';
  if (/\b(?:__)?O_TMPFILE\b/.test(flags)) return 'change';
  // Whether the entry is new or was there, the tool wants it to be there.
  if (/\bO_CREAT\b|\bO_WRONLY\b|\bO_RDWR\b|\bO_TRUNC\b/.test(flags))
    return /\bO_EXCL\b/.test(flags) ? 'change' : 'write';
  return /\bO_DIRECTORY\b/.test(flags) ? 'list' : 'read';
}

/** The path of a folder and a text, and the arguments after them. */
function placeIn(args: string, cwd: string): [path: string | undefined, rest: string] {
  const found = AT.exec(args);
  if (found === null) return [undefined, ''];
  const [all, folder, text] = found;
  const start = folder === undefined ? cwd : unescaped(folder);
  const path = text === undefined ? undefined : pathIn(start, unescaped(text));
  return [path, args.slice(all.length).replace(/^, /, '')];
}

function textIn(pattern: RegExp, args: string): string | undefined {
  const text = pattern.exec(args)?.[1];
  return text === undefined ? undefined : unescaped(text);
}

function pathIn(folder: string, text: string | undefined): string | undefined {
  if (text === undefined || !(isAbsolute(text) || isAbsolute(folder))) return undefined;
  return normalize(isAbsolute(text) ? text : join(folder, text)).replace(/(.)\/$/, '$1');
}

const LETTERS: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', v: '\v', f: '\f', a: '\x07', b: '\b' },
};

/** What strace has escaped, in C's way. */
function unescaped(text: string): string {
  const bytes = text.replace(/\\(?:([0-7]{1,3})|x([0-9a-f]{2})|(.))/gs, (_, octal, hex, letter) => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    return hex === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16));
  });
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
