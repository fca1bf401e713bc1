import type { OperationDescription } from '../compose/operation.ts';
import type { CalledOperation } from '../core/ports/principal.ts';

/** The operation as a policy sees it when it is called with this input. */
export function calledWith(
  { name, effect, readsWithout }: OperationDescription,
  input: Readonly<Record<string, unknown>>,
): CalledOperation {
  const onlyReads = readsWithout !== undefined && !readsWithout.some((key) => input[key]);
  return { name, effect: onlyReads ? 'reads' : effect };
}
