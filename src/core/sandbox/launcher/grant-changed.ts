import { AcorError } from '../../../protocol/acor-error.ts';

/** The granted path changed between its check and the start. */
export function grantChanged(path: string, why: string): AcorError {
  return new AcorError('E_PERMISSION', `${path} changed after it was granted: ${why}`, {
    hint: 'Run the tool again; if it happens again, another process changes that path during the start.',
  });
}
