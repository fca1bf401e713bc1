import { AcorError } from '../protocol/acor-error.ts';

/** A call that is aborted before it has started anything starts nothing: to cancel its run afterwards would be too late. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw new AcorError('E_CANCELLED', 'the call was aborted before it started anything', {
    hint: 'Call it again with a signal that is not aborted.',
    cause: signal.reason,
  });
}
