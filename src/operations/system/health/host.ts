import type { HealthCheck } from '../../../compose/health-shape.ts';
import type { LoadedConfig } from '../../../core/config/load.ts';
import { hostFolder, hostsFolder, isLive, isPrivate, processesIn } from '../../../core/host/host-folder.ts';

/** Whether calls of programs find a waiting process. Nothing where the configuration wants no host. */
export function checkHost(
  { config: { host } }: LoadedConfig,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): HealthCheck[] {
  if (host === 'off') return [];
  const folder = hostFolder(cwd, env);
  if (folder === undefined) {
    const detail =
      'calls from here run by themselves: the caller is in a sandbox or has limited processor time, or this is not the compiled program on Linux';
    return [{ name: 'host', status: 'ok', detail }];
  }
  const processes = processesIn(folder);
  if (processes.length > 0 && !isPrivate(folder)) {
    const detail = `other users may write to ${folder}, so that no call looks for a host there`;
    return [{ name: 'host', status: 'degraded', detail, fix: `rm -r ${hostsFolder(env)}` }];
  }
  const live = processes.filter(isLive).length;
  const detail = live === 0 ? 'the next call of a program starts a process that waits' : `${live} processes`;
  return [{ name: 'host', status: 'ok', detail }];
}
