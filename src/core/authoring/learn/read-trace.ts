import { isAbsolute, join, normalize } from 'node:path';

/** What the tool did with a path: `list` reads the names in a folder, `change` makes, removes or renames the entry itself. */
export type Use = 'read' | 'list' | 'write' | 'change' | 'execute';

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

/** A line of strace: the process, the call, its arguments and its result. */
const LINE = /^(\d+) +([a-z0-9_]+)\((.*)\) += (-?\d+|\?)(?:<.*>)?(?: ([A-Z0-9]+) \(.*\))?/s;
const UNFINISHED = /^(\d+) +(.*) <unfinished \.\.\.>$/s;
const RESUMED = /^(\d+) +<\.\.\. [a-z0-9_]+ resumed>(.*)$/s;
/** `AT_FDCWD</folder>` or `3</folder>`, then the text of the path; strace escapes quotes and angle brackets in both. */
const AT = /^(?:AT_FDCWD|\d+)<((?:[^<>\\]|\\.)*)>, (?:"((?:[^"\\]|\\.)*)")?/s;
const TEXT = /^"((?:[^"\\]|\\.)*)"/s;
const MAX_USES = 20_000;

/** The calls that take a folder and a path, by what they do with it. */
const CHANGES = ['mkdirat', 'unlinkat', 'mknodat', 'fchmodat', 'fchmodat2', 'fchownat', 'utimensat'];
/** Calls that take only paths; where they are relative, the working folder comes from the other calls of the process. */
const PLAIN_CHANGES = [
  'mkdir',
  'rmdir',
  'unlink',
  'mknod',
  'chmod',
  'chown',
  'lchown',
  'utime',
  'utimes',
  'futimesat',
];
const CWD = /^AT_FDCWD<((?:[^<>\\]|\\.)*)>/s;

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
  /** Of the process that was seen last: what a new process starts in. */
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
    const found = LINE.exec(line);
    if (found === null) return;
    const [, pid, call, args, result, error] = found as unknown as [
      string,
      string,
      string,
      string,
      string,
      string?,
    ];
    if (!this.#isTools(pid, call, args, result)) return;
    const succeeded = result !== '?' && !result.startsWith('-');
    for (const { path, use } of usesOf(call, args, this.#folderOf(pid, call, args, succeeded)))
      this.#keep({ path, use, succeeded, error: error ?? null, call });
  }

  /** Where relative paths of a process start. */
  #folderOf(pid: string, call: string, args: string, succeeded: boolean): string {
    const before = this.#folders.get(pid) ?? this.#folder;
    const named = CWD.exec(args)?.[1];
    const moved = call === 'chdir' && succeeded ? pathIn(before, TEXT.exec(args)?.[1]) : undefined;
    this.#folder = moved ?? (named === undefined ? before : unescaped(named));
    this.#folders.set(pid, this.#folder);
    return this.#folder;
  }

  #isTools(pid: string, call: string, args: string, result: string): boolean {
    if (this.#hasBegun) return !this.#launchers.has(pid);
    const path = call === 'execve' && result === '0' ? TEXT.exec(args)?.[1] : undefined;
    if (path === undefined || unescaped(path) !== this.#program) {
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

function usesOf(call: string, args: string, folder: string): { path: string; use: Use }[] {
  const texts = () => [TEXT.exec(args)?.[1], /^"(?:[^"\\]|\\.)*", "((?:[^"\\]|\\.)*)"/s.exec(args)?.[1]];
  const [first, second] = texts().map((text) => pathIn(folder, text));
  const use = (path: string | undefined, as: Use) => (path === undefined ? [] : [{ path, use: as }]);
  if (PLAIN_CHANGES.includes(call)) return use(first, 'change');
  if (call === 'rename' || call === 'link') return [...use(first, 'change'), ...use(second, 'change')];
  if (call === 'symlink') return use(second, 'change');
  if (call === 'creat' || call === 'truncate') return use(first, 'write');
  if (call === 'open') return use(first, useOfFlags(args.replace(TEXT, '')));
  if (call === 'execve') {
    const path = pathIn(undefined, TEXT.exec(args)?.[1]);
    return path === undefined ? [] : [{ path, use: 'execute' }];
  }
  if (call === 'renameat' || call === 'renameat2' || call === 'linkat') {
    const [from, rest] = placeIn(args);
    const [to] = placeIn(rest);
    return [from, to].flatMap((path) => (path === undefined ? [] : [{ path, use: 'change' as const }]));
  }
  if (call === 'symlinkat') {
    const [path] = placeIn(args.replace(TEXT, '').replace(/^, /, ''));
    return path === undefined ? [] : [{ path, use: 'change' }];
  }
  const [path, rest] = placeIn(args);
  if (path === undefined) return [];
  if (call === 'openat' || call === 'openat2') return [{ path, use: useOfFlags(rest) }];
  return CHANGES.includes(call) ? [{ path, use: 'change' }] : [];
}

function useOfFlags(flags: string): Use {
  if (/\bO_CREAT\b|\bO_TMPFILE\b/.test(flags))
    return /\bO_EXCL\b|\bO_TMPFILE\b/.test(flags) ? 'change' : 'write';
  if (/\bO_WRONLY\b|\bO_RDWR\b|\bO_TRUNC\b/.test(flags)) return 'write';
  return /\bO_DIRECTORY\b/.test(flags) ? 'list' : 'read';
}

/** The path of a folder and a text, and the arguments after them. */
function placeIn(args: string): [path: string | undefined, rest: string] {
  const found = AT.exec(args);
  if (found === null) return [undefined, ''];
  const [all, folder, text] = found;
  return [pathIn(unescaped(folder!), text), args.slice(all.length).replace(/^, /, '')];
}

function pathIn(folder: string | undefined, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const path = unescaped(text);
  if (isAbsolute(path)) return normalize(path).replace(/(.)\/$/, '$1');
  return folder === undefined ? undefined : normalize(join(folder, path)).replace(/(.)\/$/, '$1');
}

/** What strace has escaped, in C's way. */
function unescaped(text: string): string {
  const letters: Record<string, string> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f', a: '\x07', b: '\b' };
  const bytes = text.replace(/\\(?:([0-7]{1,3})|x([0-9a-f]{2})|(.))/gs, (_, octal, hex, letter) =>
    octal !== undefined
      ? String.fromCharCode(Number.parseInt(octal, 8))
      : hex !== undefined
        ? String.fromCharCode(Number.parseInt(hex, 16))
        : (letters[letter] ?? letter),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
