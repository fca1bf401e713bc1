import { AcorError } from '../../../protocol/acor-error.ts';

/** The granted path changed between its check and the start. */
export function grantChanged(path: string, why: string): AcorError {
  return new AcorError('E_PERMISSION', `${path} was granted, and has changed since: ${why}`, {
    hint: 'Run the tool again; if it happens again, another process is changing that path at the same time.',
  });
}
