/**
 * Denials that a tool reports in its own output: `said` is the line, `rest` what may be the rest of a path that is written without quotes.
 * The text is untrusted and must be checked before it is shown.
 */
export type SaidDenial = { said: string } & (
  | { kind: 'path'; path: string; rest?: string; isWrite: boolean }
  | { kind: 'command'; command: string }
  | ({ kind: 'network' } & DeniedHost)
  /** The kernel denied a system call by name. */
  | { kind: 'call'; call: string }
);

/** Null when no line names it. */
interface DeniedHost {
  host: string | null;
  port: number | null;
}

/** Limits the search, because a tool can print any amount. */
const MAX_LINES = 200;
const MAX_LINE_CHARS = 2000;
const MAX_PATH_CHARS = 1024;
const MAX_DENIALS = 20;

const REFUSED =
  /No such file or directory|Directory nonexistent|Permission denied|Operation not permitted|Read-only file system|\b(?:ENOENT|EACCES|EPERM|EROFS)\b/i;
const READ_ONLY = /Read-only file system|\bEROFS\b/i;
const NOT_PERMITTED = /Operation not permitted|\bEPERM\b/i;
const NO_NETWORK =
  /\/dev\/tcp\/\S+ (?:Operation not permitted|Permission denied)|Network is unreachable|\bENETUNREACH\b|could not resolve|unable to resolve|name resolution|Name or service not known|\bEAI_AGAIN\b|\bENOTFOUND\b|nodename nor servname|no such host/i;

/** Paths in programs' messages: in quotes, before the error text, or alone, with the words that follow. */
const PATHS = [
  // In a pair of single quotes, the programs of GNU write a single quote as a shell does.
  /"(?<path>\/[^"]+)"/g,
  /'(?<path>\/(?:'\\''|[^'])+)'/g,
  /[`‘“](?<path>\/[^'`’”]+)['`’”]/g,
  /(?:^|: )(?<path>\/[^:]+): (?=No such file|Permission denied|Operation not|Read-only)/g,
  /(?:^|[\s=(])(?<path>\/[^\s:;,'"`()]+)(?=(?<rest>(?: [^\s:;,'"`()]+){0,16}))/g,
];

/** Words that are no part of a path. */
const WORDS = /(?<![\w/-])\w+(?![\w-])/g;

const COMMANDS = [
  /(?:^|: )([\w.+-]+): (?:command )?not found/,
  // dash: `/usr/bin/sh: 1: git: Permission denied`
  /: \d+: ([\w.+-]+): Permission denied$/,
  /\[Errno (?:2|13)\][^']*'([\w.+-]+)'$/,
  /\bspawn(?:Sync)? ([\w.+/-]+) (?:ENOENT|EACCES|EPERM)/,
  /^make(?:\[\d+\])?: ([\w.+-]+): (?:Permission denied|No such file)/,
  /\b[Ff]ailed to exec(?:ute)? ([\w.+/-]+):/,
];

/** GNU tar starts its filters through /bin/sh, and names only the filter. */
const THROUGH_SHELL = /(?:^|: )([\w.+-]+): Cannot exec: Permission denied/;

const HOSTS = [
  /host='([\w.-]+)', port=(\d+)/,
  /\/dev\/tcp\/([\w.-]+)\/(\d+)/,
  /\bconnect \w+ \[?([\da-f.:]+?)\]?:(\d+)\b/,
  /resolve host(?: address|name)?:? ['"‘“]?([\w.-]+\w)/i,
  /getaddrinfo \w+ ([\w.-]+)(?::(\d+))?/,
  /lookup ([\w.-]+\w)/,
  /\bhttps?:\/\/([\w.-]+)(?::(\d+))?/,
  /(?:^|: )([\w-]+(?:\.[\w-]+)+): (?:Temporary failure|Name or service)/,
];

/**
 * Finds denials in a tool's last output, the latest first: missing files, programs, hosts. `calls` are system calls
 * that a sandbox may have denied. Pure function: the caller must verify the result.
 */
export function saidDenials(words: string, calls: readonly string[]): SaidDenial[] {
  const lines = words
    .split('\n')
    .slice(-MAX_LINES)
    .map((line) => line.trim())
    .filter((line) => line !== '' && line.length <= MAX_LINE_CHARS && !hasControl(line))
    .toReversed();
  const all = new AllLines(lines, calls);
  const found = lines.flatMap((line) => deniedIn(line, all));
  const seen = new Set<string>();
  return found
    .filter(({ said, ...what }) => {
      const key = JSON.stringify(what);
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, MAX_DENIALS);
}

function deniedIn(line: string, all: AllLines): SaidDenial[] {
  const said = line.slice(0, 200);
  if (NO_NETWORK.test(line)) return [{ said, kind: 'network', ...(hostIn(line) ?? all.host) }];
  const filter = THROUGH_SHELL.exec(line)?.[1];
  if (filter !== undefined)
    return [filter, 'sh'].map((command) => ({ said, kind: 'command' as const, command }));
  const command = COMMANDS.map((pattern) => pattern.exec(line)?.[1]).find((each) => each !== undefined);
  if (command !== undefined) return [{ said, kind: 'command', command }];
  if (!REFUSED.test(line)) return [];
  const isWrite = READ_ONLY.test(line);
  const denied = pathsIn(line)
    .filter(({ path }) => path.length <= MAX_PATH_CHARS)
    .map((found) => ({ said, kind: 'path' as const, ...found, isWrite }));
  if (denied.length > 0 || !NOT_PERMITTED.test(line)) return denied;
  return all.call === undefined ? [] : [{ said, kind: 'call', call: all.call }];
}

function pathsIn(line: string): { path: string; rest?: string }[] {
  return PATHS.flatMap((pattern) => [...line.matchAll(pattern)]).map(({ groups }) => {
    const { path, rest } = groups as { path: string; rest?: string };
    return { path: path.replaceAll("'\\''", "'"), ...(rest && { rest }) };
  });
}

/** What a line may leave to another one: a traceback names the host or the call on a different line than the error. Found once. */
class AllLines {
  readonly #lines: readonly string[];
  readonly #calls: readonly string[];
  #host: DeniedHost | undefined;
  #namedCalls: readonly string[] | undefined;

  constructor(lines: readonly string[], calls: readonly string[]) {
    this.#lines = lines;
    this.#calls = calls;
  }

  get host(): DeniedHost {
    this.#host ??= firstHostIn(this.#lines) ?? { host: null, port: null };
    return this.#host;
  }

  get call(): string | undefined {
    this.#namedCalls ??= namedCalls(this.#lines, this.#calls);
    return this.#namedCalls[0];
  }
}

/** The calls that a line names as a word of its own. */
function namedCalls(lines: readonly string[], calls: readonly string[]): string[] {
  const words = new Set(lines.flatMap((line) => line.match(WORDS) ?? []));
  return calls.filter((call) => words.has(call));
}

function firstHostIn(lines: readonly string[]): DeniedHost | undefined {
  for (const line of lines) {
    const found = hostIn(line);
    if (found !== undefined) return found;
  }
  return undefined;
}

function hostIn(line: string): DeniedHost | undefined {
  for (const pattern of HOSTS) {
    const [match, host, port] = pattern.exec(line) ?? [];
    if (match === undefined || host === undefined) continue;
    const usual = match.startsWith('http:') ? 80 : null;
    return { host, port: port === undefined ? usual : Number(port) };
  }
  return undefined;
}

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text.replaceAll('\t', ' '));
}
