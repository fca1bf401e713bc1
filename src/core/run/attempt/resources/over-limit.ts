import type { BuiltinErrorCode } from '../../../../protocol/error-codes.ts';
import type { ResourceLimits } from '../../../../protocol/resource-limits.ts';
import { unreachable } from '../../../../util/unreachable.ts';

/** A tool that used more than it may, and how that is known. */
export type OverLimit = { kind: 'over-limit' } & (
  | { limit: 'cpu_seconds' | 'memory_mb' | 'processes' | 'disk_mb'; used: number; allowed: number }
  /** The kernel ended the tool. */
  | { limit: 'cpu_seconds' | 'memory_mb' | 'file_mb' | 'disk_mb'; used: null; allowed: number; how: string }
  /** The kernel refused it something, and the tool failed and said so. */
  | { limit: 'processes' | 'open_files' | 'file_mb' | 'disk_mb'; used: null; allowed: number; how: string }
  | { limit: 'entries'; where: string; used: number; allowed: number }
  | { limit: 'free_space'; used: number; allowed: number; freeMb: number }
);

/** The code, what was used and what is allowed, and the line of the manifest that allows more. */
export function describeOverLimit(over: OverLimit): {
  code: BuiltinErrorCode;
  message: string;
  hint: string;
} {
  switch (over.limit) {
    case 'entries':
      return {
        code: 'E_DISK_LIMIT',
        message: `the tool made ${over.used} files and folders in ${over.where}, and may have ${over.allowed}`,
        hint: 'Have the tool keep its data in fewer, larger files, or in an archive.',
      };
    case 'free_space':
      return {
        code: 'E_DISK_FULL',
        message: `only ${over.freeMb} MB of the disk are left, of which ${over.allowed} MB are kept free; the tool had written ${over.used} MB`,
        hint: 'Free space, for instance by removing old runs; or have the runs on a larger disk with project.runs_dir in .acor/config.yaml.',
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
      ? `the tool ${over.how}; it may use ${amount(allowed)} ${unit}`
      : `the tool used ${amount(used)} ${unit}, and may use ${amount(allowed)}`;
  const more = limit === 'processes' || limit === 'open_files' ? allowed * 2 : amount(allowed * 2);
  const hint = `If it needs more, write in its tool.yaml: resources: { ${limit}: ${more} }, or for all tools in .acor/config.yaml: security: { resource_limits: { ${limit}: ${more} } }; a ceiling there, under budget: { resources }, must allow it as well.`;
  return { code, message, hint };
}

/** Two digits after the point where that says something. */
function amount(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}
