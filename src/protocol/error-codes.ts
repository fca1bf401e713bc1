import {
  CHECK_WORKFLOWS,
  CLEAN,
  LIST_RUNS,
  LIST_TOOLS,
  type NextStep,
  SEE_BUDGET,
  SEE_HEALTH,
  SEE_VERSIONS,
  VALIDATE,
  VERIFY,
} from './next-steps.ts';

/** The class of an error, which decides who must act (seed 000's taxonomy). */
export const ERROR_CLASSES = ['user_error', 'retryable', 'infra_error', 'policy_error', 'unknown'] as const;

export type ErrorClass = (typeof ERROR_CLASSES)[number];

/**
 * One row of the error table (contract §7). `exit` is ACOR's own exit code: 2 when something must be provided first.
 */
export interface ErrorInfo {
  class: ErrorClass;
  retryable: boolean;
  exit: 1 | 2;
  /** The default action of an agent. */
  action: string;
  /** How the user fixes it. */
  hint: string;
  /** Next steps that always apply. */
  next?: readonly NextStep[];
}

/** The built-in table. A project's `error_codes.yaml` extends it. */
export const ERROR_CODES = {
  E_INPUT_NOT_FOUND: row(
    'user_error',
    false,
    1,
    'Ask the user for the right input; do not retry.',
    'Check that the path exists and is spelled right.',
  ),
  E_SCHEMA_MISMATCH: row(
    'user_error',
    false,
    1,
    'Request a mapping or a schema update; do not retry.',
    'Compare the input with the schema that the tool describes.',
  ),
  E_RESULT_INVALID: row(
    'user_error',
    false,
    1,
    'Report to the author of the tool that its result does not fit its schema, or its record; do not retry.',
    'Fix the tool, or output_schema in its manifest.',
  ),
  E_TRANSIENT_NET: row(
    'retryable',
    true,
    1,
    'Retry with backoff, up to 3 times.',
    'Check the network, then run it again.',
  ),
  E_RATE_LIMIT: row(
    'retryable',
    true,
    1,
    'Back off and lower the concurrency.',
    'Wait, then run fewer at once.',
  ),
  E_DEADLINE: row(
    'infra_error',
    false,
    1,
    'Split the workload or lower the batch size.',
    'Give it a longer timeout (--timeout 3600, in seconds), or less work.',
  ),
  E_DISK_FULL: row(
    'infra_error',
    false,
    1,
    'Free space or move the workspace.',
    'Free space, for instance by removing old runs.',
    [CLEAN],
  ),
  E_PERMISSION: row(
    'policy_error',
    false,
    1,
    'Adjust the permissions; do not retry.',
    'Grant the path in the manifest or in security.grant_roots.',
  ),
  E_HEARTBEAT_MISSED: row(
    'infra_error',
    true,
    1,
    'Retry with a smaller batch.',
    'Make the tool emit heartbeats, or raise heartbeat_grace_s.',
  ),
  E_TIMEOUT: row(
    'infra_error',
    false,
    1,
    'Increase the timeout or split the work.',
    'Make the tool exit after it has closed its output.',
  ),
  E_UNKNOWN: row(
    'unknown',
    false,
    1,
    'Triage; attach the context and the logs.',
    'Read the logs of the run.',
  ),
  E_USAGE: row('user_error', false, 1, 'Correct the call as the hint says.', 'See the help of the command.'),
  E_CONTRACT_BROKEN: row(
    'user_error',
    false,
    1,
    'Fix the findings of the audit, the worst first; do not retry.',
    'See the findings in details.',
  ),
  E_CONFIG_INVALID: row(
    'user_error',
    false,
    2,
    'Fix the configuration at the named place.',
    'List the mistakes in the configuration.',
    [VALIDATE],
  ),
  E_MANIFEST_INVALID: row(
    'user_error',
    false,
    2,
    'Fix the manifest at the named place.',
    'See the list of mistakes in details.',
    [VALIDATE],
  ),
  E_WORKFLOW_INVALID: row(
    'user_error',
    false,
    2,
    'Fix the workflow file at the named place.',
    'See the list of mistakes.',
    [CHECK_WORKFLOWS],
  ),
  E_TOOL_NOT_FOUND: row(
    'user_error',
    false,
    1,
    'Choose a tool that exists.',
    'List the tools of the project.',
    [LIST_TOOLS],
  ),
  E_INCOMPATIBLE: row(
    'user_error',
    false,
    2,
    'Use a version of the tool or of ACOR that fits.',
    'Compare the versions.',
    [SEE_VERSIONS],
  ),
  E_ENV_MISSING: row(
    'user_error',
    false,
    2,
    'Ask the user to set the variable or to store the secret that the message names, then run it again.',
    'Export the variable, or store the secret, that the message names.',
  ),
  E_RUNTIME_MISSING: row(
    'infra_error',
    false,
    2,
    'Ask the user to install the runtime, then run it again.',
    'Check what this machine offers.',
    [SEE_HEALTH],
  ),
  E_SPAWN_FAILED: row(
    'infra_error',
    false,
    1,
    'Check that the program can be started.',
    'Check the entry, its mode bits and its first line.',
  ),
  E_POLICY_DENIED: row(
    'policy_error',
    false,
    2,
    'Ask for less, or have the policy changed; do not retry.',
    'See the violations in details.',
  ),
  E_APPROVAL_REQUIRED: row(
    'policy_error',
    false,
    2,
    'Ask a person to decide, in the way that the hint names; do not retry before.',
    'A person must approve a privileged tool first.',
  ),
  E_SANDBOX_UNAVAILABLE: row(
    'infra_error',
    false,
    2,
    'Ask the user to make the sandbox available, or to allow a weaker one.',
    'Check what this machine offers.',
    [SEE_HEALTH],
  ),
  E_BUDGET: row(
    'policy_error',
    false,
    2,
    'Ask the user whether more may be spent; do not retry.',
    'Raise the limit of the budget that the message names, then continue.',
    [SEE_BUDGET],
  ),
  E_ACTION_REQUIRED: row(
    'user_error',
    false,
    2,
    'Answer the question, as `next` says.',
    'Answer the question.',
  ),
  E_ACTION_TIMEOUT: row(
    'user_error',
    false,
    1,
    'Run it again and answer in time, or answer beforehand where the caller can.',
    'Answer before the time of the question has passed.',
  ),
  E_BAD_ANSWER: row(
    'user_error',
    false,
    1,
    'Give an answer that fits the options or the schema.',
    'See the options in details.',
  ),
  E_OUTPUT_LIMIT: row(
    'infra_error',
    false,
    1,
    'Make the tool write files instead, or raise the limit.',
    'Raise max_output_size in the manifest (without one: environment.max_output_size), or print less.',
  ),
  E_MEMORY_LIMIT: row(
    'infra_error',
    false,
    1,
    'Lower the batch size or raise the limit.',
    'Raise resources.memory_mb in the manifest.',
  ),
  E_CPU_LIMIT: row(
    'infra_error',
    false,
    1,
    'Split the work or raise the limit.',
    'Raise resources.cpu_seconds in the manifest.',
  ),
  E_PROCESS_LIMIT: row(
    'infra_error',
    false,
    1,
    'Lower the concurrency or raise the limit.',
    'Raise resources.processes in the manifest.',
  ),
  E_OPEN_FILES_LIMIT: row(
    'infra_error',
    false,
    1,
    'Lower the batch size or raise the limit.',
    'Raise resources.open_files in the manifest.',
  ),
  E_FILE_SIZE_LIMIT: row(
    'infra_error',
    false,
    1,
    'Split the output or raise the limit.',
    'Raise resources.file_mb in the manifest.',
  ),
  E_DISK_LIMIT: row(
    'infra_error',
    false,
    1,
    'Lower the batch size or raise the limit.',
    'Raise resources.disk_mb in the manifest.',
  ),
  E_PROTOCOL: row(
    'user_error',
    false,
    1,
    'Fix the tool; its output is invalid.',
    'See the message and the logs of the run.',
  ),
  E_NO_RESULT: row(
    'user_error',
    false,
    1,
    'Make the tool emit a result before it exits.',
    'Emit a result, or set strict: false in the manifest.',
  ),
  E_TOOL_FAILED: row(
    'unknown',
    false,
    1,
    'Read the diagnostics and decide.',
    'Its stderr says why; the logs of the run have all of it.',
  ),
  E_RUNNER_LOST: row(
    'retryable',
    true,
    1,
    'Resume it, with force only if repeating it does no harm; its supervisor died.',
    'Resume the run.',
  ),
  E_OUTCOME_UNKNOWN: row(
    'unknown',
    false,
    1,
    'Find out what was done before you run it again.',
    'Look at what the tool changed; then run it again, or set idempotent: true in its manifest if that is harmless.',
  ),
  E_CONFLICT: row(
    'user_error',
    false,
    1,
    'Compare both states, and decide by hand; do not retry.',
    'Another program changed the same files or folders since the run began: look at what is there now.',
  ),
  E_RUN_NOT_FOUND: row('user_error', false, 1, 'Choose a run that exists.', 'List the runs.', [LIST_RUNS]),
  E_STORAGE: row(
    'infra_error',
    false,
    2,
    'Free space or fix the permissions of the store.',
    'Check what this machine offers.',
    [SEE_HEALTH],
  ),
  E_CANCELLED: row(
    'user_error',
    false,
    1,
    'It was stopped on purpose: go on only when the user wants that.',
    'It was stopped before its end.',
  ),
  E_NOT_READY: row(
    'infra_error',
    false,
    2,
    'Do what the `fix` of each blocked check says.',
    'See the blocked checks in details.',
  ),
  E_INTEGRITY: row(
    'infra_error',
    false,
    1,
    'Do not use these records; report to the user what was changed.',
    'List everything that was changed or damaged.',
    [VERIFY],
  ),
} as const satisfies Record<string, ErrorInfo>;

export type BuiltinErrorCode = keyof typeof ERROR_CODES;

/** Finds a code in the project's own codes, then in the built-in table. */
export function errorInfo(
  code: string,
  extra: Readonly<Record<string, ErrorInfo>> = {},
): ErrorInfo | undefined {
  if (Object.hasOwn(extra, code)) return extra[code];
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as BuiltinErrorCode] : undefined;
}

function row<C extends ErrorClass>(
  errorClass: C,
  retryable: boolean,
  exit: 1 | 2,
  action: string,
  hint: string,
  next?: readonly NextStep[],
): ErrorInfo {
  const known = { class: errorClass, retryable, exit, action, hint };
  return next === undefined ? known : { ...known, next };
}
