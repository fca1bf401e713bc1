import type { LoadedConfig } from '../../core/config/load.ts';
import { TRUST } from '../../protocol/next-steps.ts';
import type { WriteCommand } from '../command-forms.ts';

/** Says that settings of the project's file have no effect. The keys are the schema's, except for names of hosts. No value is shown: it may be a secret. */
export function untrusted({ file, trust }: LoadedConfig, commandOf: WriteCommand): string {
  const keys = trust.widenings
    .map(({ key, expanded }) => (expanded === undefined ? key : `${key} (it expands a variable of yours)`))
    .join(', ');
  return `${file} widens security, and you have not trusted it. These settings have no effect: ${keys}. To read and trust them: ${commandOf(TRUST)}`;
}
