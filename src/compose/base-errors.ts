import type { AppErrorInfo } from './cli-app.ts';

/** The codes that the kit itself uses. An application adds its own, and may replace these. */
export const BASE_ERRORS: Readonly<Record<string, AppErrorInfo>> = {
  E_USAGE: {
    class: 'user_error',
    retryable: false,
    exit: 1,
    action: 'Correct the call as the hint says.',
    hint: 'See the help of the command.',
  },
  E_UNKNOWN: {
    class: 'unknown',
    retryable: false,
    exit: 1,
    action: 'Report it with the command line.',
    hint: 'Set DEBUG=1 to see where it failed.',
  },
  E_NOT_READY: {
    class: 'infra_error',
    retryable: false,
    exit: 2,
    action: 'Do what the `fix` of each blocked check says.',
    hint: 'See the blocked checks in details.',
  },
};
