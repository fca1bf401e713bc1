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
  const hint = `To raise the limit, add to tool.yaml: resources: { ${limit}: ${more} }; or for all tools to .acor/config.yaml: security: { resource_limits: { ${limit}: ${more} } }. A ceiling there under budget: { resources } must allow it as well.`;
  return { code, message, hint };
}

/** Rounds large values to integers, and smaller ones to two decimals. */
function amount(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}
