import type { BuiltinErrorCode } from '../../../../protocol/error-codes.ts';
import type { ResourceLimits } from '../../../../protocol/resource-limits.ts';
import { unreachable } from '../../../../util/unreachable.ts';

/** An exceeded limit, and how the runner detected it. */
export type OverLimit = { kind: 'over-limit' } & (
  | { limit: 'cpu_seconds' | 'memory_mb' | 'processes' | 'disk_mb'; used: number; allowed: number }
  /** The kernel killed the tool. */
  | { limit: 'cpu_seconds' | 'memory_mb' | 'file_mb' | 'disk_mb'; used: null; allowed: number; how: string }
  /** The kernel refused a call, and the tool reported that and failed. */
  | { limit: 'processes' | 'open_files' | 'file_mb' | 'disk_mb'; used: null; allowed: number; how: string }
  | { limit: 'entries'; where: string; used: number; allowed: number }
  | { limit: 'free_space'; used: number; allowed: number; freeMb: number }
);

/** The error code, a message with the used and the allowed amount, and the manifest line that raises the limit. */
export function describeOverLimit(over: OverLimit): {
  code: BuiltinErrorCode;
  message: string;
  hint: string;
} {
  switch (over.limit) {
    case 'entries':
      return {
        code: 'E_DISK_LIMIT',
        message: `the tool created ${over.used} files and folders in ${over.where}; the limit is ${over.allowed}`,
        hint: 'Change the tool to write fewer, larger files, or an archive.',
      };
    case 'free_space':
      return {
        code: 'E_DISK_FULL',
        message: `only ${over.freeMb} MB of the disk are free, and ACOR keeps ${over.allowed} MB free; the tool wrote ${over.used} MB`,
        hint: 'Free disk space, for example by removing old runs; or set project.runs_dir in .acor/config.yaml to a folder on a larger disk.',
      };
    case 'cpu_seconds':
      return described(over, 'E_CPU_LIMIT', 's of processor time');
    case 'memory_mb':
      return described(over, 'E_MEMORY_LIMIT', 'MB of memory');
    case 'processes':
      return described(over, 'E_PROCESS_LIMIT', 'processes at once');
    case 'open_files':
      return described(over, 'E_OPEN_FILES_LIMIT', 'open files in each process');
    case 'file_mb':
      return described(over, 'E_FILE_SIZE_LIMIT', 'MB in one file');
    case 'disk_mb':
      return described(over, 'E_DISK_LIMIT', 'MB in the folders of its run');
    default:
      return unreachable(over);
  }
}

type Measured = Exclude<OverLimit, { limit: 'entries' | 'free_space' }> & { limit: keyof ResourceLimits };

function described(over: Measured, code: BuiltinErrorCode, unit: string) {
  const { limit, allowed, used } = over;
  const message =
    used === null
      ? `the tool ${over.how}; the limit is ${amount(allowed)} ${unit}`
      : `the tool used ${amount(used)} ${unit}; the limit is ${amount(allowed)}`;
  const more = limit === 'processes' || limit === 'open_files' ? allowed * 2 : amount(allowed * 2);
  const hint = `To raise the limit, add to the tool's manifest: resources: { ${limit}: ${more} }; or for all tools to .acor/config.yaml: security: { resource_limits: { ${limit}: ${more} } }. A ceiling there under budget: { resources } must allow it as well.`;
  return { code, message, hint };
}

/** Rounds large values to integers, and smaller ones to two decimals. */
function amount(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}

type Refused = 'open_files' | 'processes' | 'file_mb' | 'disk_mb' | 'cpu_seconds';

/** How programs in many languages report that the kernel refused a call. */
const WORDS = {
  open_files: /too many open files|\bEMFILE\b/i,
  processes:
    /\bfork(?:ing)?\b.*(?:resource temporarily unavailable|EAGAIN)|cannot fork|can't (?:fork|start new thread)|(?:BlockingIOError|OSError|pthread_create|spawn\b).*(?:resource temporarily unavailable|EAGAIN)/i,
  file_mb: /file too large|\bEFBIG\b/i,
} as const;

/** The exit codes with which a shell reports that a signal killed its last program. */
const SHELL_EXIT_CODES = { SIGXCPU: 128 + 24, SIGXFSZ: 128 + 25 };

/**
 * The limit that a failed tool exceeded, for limits that the kernel enforces: it kills a process by a signal, or refuses a call. A refused
 * call shows only in the tool's last lines of stderr. These select the code of a failure and nothing else, so a tool gains nothing by
 * writing false ones.
 */
export function refusedLimit(
  exit: { rc: number | null; signal: string | null },
  stderrTail: string,
  limits: ResourceLimits,
): OverLimit | undefined {
  // Without a limit for one file, the limit for all files together applies to it.
  const fileLimit = limits.file_mb === undefined ? 'disk_mb' : 'file_mb';
  const over = (limit: Refused, how: string): OverLimit | undefined => {
    const allowed = limits[limit];
    return allowed === undefined ? undefined : { kind: 'over-limit', limit, used: null, allowed, how };
  };
  const isBy = (signal: keyof typeof SHELL_EXIT_CODES) =>
    exit.signal === signal || exit.rc === SHELL_EXIT_CODES[signal];
  if (isBy('SIGXFSZ')) return over(fileLimit, 'was killed by SIGXFSZ: a file became too large');
  if (isBy('SIGXCPU')) return over('cpu_seconds', 'was killed by SIGXCPU: it used up its processor time');
  for (const line of stderrTail.split('\n').toReversed()) {
    const how = `failed with '${line.trim().slice(0, 200)}'`;
    if (WORDS.open_files.test(line)) return over('open_files', how);
    if (WORDS.processes.test(line)) return over('processes', how);
    if (WORDS.file_mb.test(line)) return over(fileLimit, how);
  }
  return undefined;
}
