import { basename } from 'node:path';

const MAX_CHARS = 300;

/** What a program writes to stderr when it breaks off: the last line that fits one of these names the cause. */
const FORMS: readonly RegExp[] = [
  // Python, Node, Ruby, Java: `KeyError: 'x'`, `Error [ERR_MODULE_NOT_FOUND]: …`, `json.decoder.JSONDecodeError: …`.
  /^(?:Uncaught |Exception in thread \S+ )?(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)(?: \[\w+\])?(?::.*)?$/,
  /^(?:Uncaught )?Error(?: \[\w+\])?: .+/,
  // Shells: `/path/cli.sh: line 3: foo: command not found`, `cli.sh: 3: foo: not found`.
  /^[^\s:][^:]*: line \d+: .+/,
  /^[^\s:][^:]*: \d+: .*(?:not found|[Ss]yntax error|Permission denied|not set|cannot )/,
  // Go.
  /^(?:panic|fatal error): .+/,
  // Perl.
  /.+ at \S+ line \d+\.$/,
];

/** The line of stderr that names why a program failed; undefined if no line does. */
export function exceptionLine(stderr: string): string | undefined {
  const lines = stderr.split('\n').map((line) => line.trimEnd());
  const at = lines.findLastIndex(
    (line) => isPanic(line) || FORMS.some((form) => form.test(line.slice(0, MAX_CHARS))),
  );
  const found = lines[at];
  if (found === undefined) return undefined;
  // The message of a Rust panic is on the next line.
  const whole = isPanic(found) && lines[at + 1] ? `${found} ${lines[at + 1]}` : found;
  return withoutFolder(whole).slice(0, MAX_CHARS);
}

function isPanic(line: string): boolean {
  return line.startsWith("thread '") && line.includes('panicked at');
}

/** A shell writes the whole path of its script. */
function withoutFolder(line: string): string {
  const path = /^\/[^:]+(?=: (?:line )?\d+: )/.exec(line)?.[0];
  return path === undefined ? line : basename(path) + line.slice(path.length);
}
