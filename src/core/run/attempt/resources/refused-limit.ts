import type { ResourceLimits } from '../../../../protocol/resource-limits.ts';
import type { OverLimit } from './over-limit.ts';

type Refused = 'open_files' | 'processes' | 'file_mb' | 'disk_mb' | 'cpu_seconds';

/** How programs in many languages say what the kernel refused them. */
const WORDS = {
  open_files: /too many open files|\bEMFILE\b/i,
  processes:
    /\bfork(?:ing)?\b.*(?:resource temporarily unavailable|EAGAIN)|cannot fork|can't (?:fork|start new thread)|(?:BlockingIOError|OSError|pthread_create|spawn\b).*(?:resource temporarily unavailable|EAGAIN)/i,
  file_mb: /file too large|\bEFBIG\b/i,
} as const;

/** The exit codes by which a shell says that its last program was ended by a signal. */
const SHELL_SAYS = { SIGXCPU: 128 + 24, SIGXFSZ: 128 + 25 };

/**
 * The limit by which a tool failed that the kernel holds by itself: it ends a process by a signal of its own, or refuses a call, and all there
 * is to see of that are the tool's last words. They only choose between names for a failure, so that no tool gains anything by lying.
 */
export function refusedLimit(
  exit: { rc: number | null; signal: string | null },
  lastWords: string,
  limits: ResourceLimits,
): OverLimit | undefined {
  // No file may be larger than all files together.
  const ofFiles = limits.file_mb === undefined ? 'disk_mb' : 'file_mb';
  const over = (limit: Refused, how: string): OverLimit | undefined => {
    const allowed = limits[limit];
    return allowed === undefined ? undefined : { kind: 'over-limit', limit, used: null, allowed, how };
  };
  const isBy = (signal: keyof typeof SHELL_SAYS) => exit.signal === signal || exit.rc === SHELL_SAYS[signal];
  if (isBy('SIGXFSZ')) return over(ofFiles, 'was ended, as a file had become too large');
  if (isBy('SIGXCPU')) return over('cpu_seconds', 'was ended, as its processor time was up');
  for (const line of lastWords.split('\n').toReversed()) {
    const how = `failed and said '${line.trim().slice(0, 200)}'`;
    if (WORDS.open_files.test(line)) return over('open_files', how);
    if (WORDS.processes.test(line)) return over('processes', how);
    if (WORDS.file_mb.test(line)) return over(ofFiles, how);
  }
  return undefined;
}
