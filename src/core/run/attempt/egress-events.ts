import { unreachable } from '../../../util/unreachable.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { EgressNote } from '../../sandbox/egress/connection-log.ts';

/** Keeps what a tool's connections came to in the log of its run. */
export function recordEgress({ log }: RunWriter, note: EgressNote): void {
  const { kind, ...fields } = note;
  switch (kind) {
    case 'allowed':
    case 'total':
      log.append({ type: 'runner_log', level: 'info', ...fields });
      break;
    case 'failed':
      log.append({ type: 'runner_warning', ...fields });
      break;
    case 'denied':
      log.append({ type: 'runner_warning', code: 'E_POLICY_DENIED', ...fields });
      break;
    default:
      unreachable(kind);
  }
}
