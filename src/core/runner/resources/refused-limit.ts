import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import { largestFileMb } from '../../sandbox/profile/limits.ts';
import type { OverLimit } from './over-limit.ts';

/** How programs in many languages say what the kernel refused them. */
const WORDS = [
  { limit: 'open_files', words: /too many open files|\bEMFILE\b/i },
  {
    limit: 'processes',
    words:
      /\bfork(?:ing)?\b.*(?:resource temporarily unavailable|EAGAIN)|cannot fork|can't (?:fork|start new thread)|(?:BlockingIOError|OSError|pthread_create|spawn\b).*(?:resource temporarily unavailable|EAGAIN)/i,
  },
  { limit: 'file_mb', words: /file too large|\bEFBIG\b/i },
] as const;

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
  const { cpu_seconds } = limits;
  const fileMb = largestFileMb(limits);
  const isBy = (signal: keyof typeof SHELL_SAYS) => exit.signal === signal || exit.rc === SHELL_SAYS[signal];
  if (isBy('SIGXFSZ') && fileMb !== undefined)
    return { ...OVER, limit: 'file_mb', allowed: fileMb, how: 'was ended, as a file had become too large' };
  if (isBy('SIGXCPU') && cpu_seconds !== undefined)
    return {
      ...OVER,
      limit: 'cpu_seconds',
      allowed: cpu_seconds,
      how: 'was ended, as its processor time was up',
    };
  const said = WORDS.find(({ words }) => words.test(lastWords));
  const allowed = said?.limit === 'file_mb' ? fileMb : said && limits[said.limit];
  if (said === undefined || allowed === undefined) return undefined;
  const quoted = lastWords.split('\n').findLast((line) => said.words.test(line))!;
  return { ...OVER, limit: said.limit, allowed, how: `failed and said '${quoted.trim().slice(0, 200)}'` };
}

const OVER = { kind: 'over-limit', used: null } as const;
