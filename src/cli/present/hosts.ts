import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { hostShow, hostStop } from '../../operations/system/host.ts';
import { tableOf } from './views.ts';

type Shown = DataOf<typeof hostShow>;
type Stopped = DataOf<typeof hostStop>;

export const hostsPresenter = {
  data({ host, is_possible, processes }: Shown, screen) {
    return `${useOf(host, is_possible)}\n\n${tableOfProcesses(processes, screen, 'No processes wait.')}`;
  },
} satisfies Presenter;

export const stoppedHostsPresenter = {
  data({ processes, dry_run }: Stopped, screen) {
    const table = tableOfProcesses(processes, screen, 'No processes wait: nothing ends.');
    if (processes.length === 0) return table;
    return `${dry_run ? 'These would end:' : 'These end, busy ones after their call:'}\n\n${table}`;
  },
} satisfies Presenter;

function useOf(host: Shown['host'], isPossible: boolean): string {
  if (host === 'off') return 'Calls of programs from here use no host: `host` is off in the configuration.';
  return isPossible
    ? 'Calls of programs from here use a host: `host` is auto in the configuration.'
    : 'Calls of programs from here cannot use a host, although `host` is auto in the configuration: this process is in a sandbox, has limited processor time, or is not the compiled program on Linux.';
}

function tableOfProcesses(
  processes: readonly { pid: number; state: string; project: string; is_ours?: boolean }[],
  screen: Screen,
  ifNone: string,
): string {
  const rows = processes.map(({ pid, state, project, is_ours }) => ({
    pid,
    state,
    project,
    note: is_ours === false ? 'not for calls from here' : '',
  }));
  return tableOf(rows, screen, ['pid', 'project'], ifNone);
}
