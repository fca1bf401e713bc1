import type { AppErrorInfo } from './cli-app.ts';

/** The codes that the kit itself uses. An application adds its own, and may replace these. */
export const BASE_ERRORS: Readonly<Record<string, AppErrorInfo>> = {
  E_USAGE: row('user_error', 1, 'Correct the call as the hint says.', 'See the help of the command.'),
  E_UNKNOWN: row('unknown', 1, 'Report it with the command line.', 'Set DEBUG=1 to see where it failed.'),
  E_NOT_READY: row(
    'infra_error',
    2,
    'Do what the `fix` of each blocked check says.',
    'See the blocked checks in details.',
  ),
  E_CONFIG_INVALID: row('user_error', 2, 'Fix the configuration at the named place.', 'Fix the file.'),
  E_RATE_LIMIT: row('retryable', 1, 'Wait as long as the hint says, then repeat the call.', 'Wait.'),
  E_RESULT_INVALID: row(
    'unknown',
    1,
    'Report it with the command line; do not retry.',
    'This is a defect of the program: its answer does not fit its own schema.',
  ),
  E_CONFLICT: row('user_error', 1, 'Compare, and decide again; do not retry.', 'See details.'),
  E_OUTCOME_UNKNOWN: row(
    'unknown',
    1,
    'Find out what was done before you call it again.',
    'Look at what the call changed.',
  ),
  E_CANCELLED: row(
    'user_error',
    1,
    'It was stopped on purpose: go on only when the user wants that.',
    'Call it again.',
  ),
  E_UNAUTHORIZED: row(
    'policy_error',
    1,
    'Ask the user who started the server for its token.',
    'Pass the token.',
  ),
  E_NOT_FOUND: row('user_error', 1, 'Choose a command of the catalog.', 'See the catalog.'),
};

function row(errorClass: string, exit: 1 | 2, action: string, hint: string): AppErrorInfo {
  return { class: errorClass, retryable: errorClass === 'retryable', exit, action, hint };
}
