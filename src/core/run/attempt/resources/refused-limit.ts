import type { ResourceLimits } from '../../../../protocol/resource-limits.ts';
import type { OverLimit } from './over-limit.ts';

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
