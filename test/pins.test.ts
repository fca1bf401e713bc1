import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ERROR_CODES } from '../src/protocol/error-codes.ts';
import * as protocol from '../src/protocol/index.ts';
import { MAX_LINE_BYTES } from '../src/protocol/jsonl.ts';
import { RUN_STATES } from '../src/protocol/run.ts';
import { RUNNER_EVENTS } from '../src/protocol/v1/runner-events.ts';
import { TASK_MESSAGES, TOOL_MESSAGES } from '../src/protocol/v1/tool-messages.ts';
import { LOG_LEVELS, PROTOCOL_VERSION } from '../src/protocol/v1/wire.ts';

// Other programs rely on these. A change here is a breaking change: record it in CHANGELOG.md.
describe('pinned for other programs', () => {
  it('the error codes with their class, whether they are retryable, and ACOR’s exit code', () => {
    const rows = Object.entries(ERROR_CODES).map(([code, row]) => {
      return `${code} ${row.class}${row.retryable ? ' retryable' : ''} ${row.exit}`;
    });
    assert.deepEqual(rows, [
      'E_INPUT_NOT_FOUND user_error 1',
      'E_SCHEMA_MISMATCH user_error 1',
      'E_RESULT_INVALID user_error 1',
      'E_TRANSIENT_NET retryable retryable 1',
      'E_RATE_LIMIT retryable retryable 1',
      'E_DEADLINE infra_error 1',
      'E_DISK_FULL infra_error 1',
      'E_PERMISSION policy_error 1',
      'E_HEARTBEAT_MISSED infra_error retryable 1',
      'E_TIMEOUT infra_error 1',
      'E_UNKNOWN unknown 1',
      'E_USAGE user_error 1',
      'E_CONTRACT_BROKEN user_error 1',
      'E_CONFIG_INVALID user_error 2',
      'E_MANIFEST_INVALID user_error 2',
      'E_WORKFLOW_INVALID user_error 2',
      'E_TOOL_NOT_FOUND user_error 1',
      'E_INCOMPATIBLE user_error 2',
      'E_ENV_MISSING user_error 2',
      'E_RUNTIME_MISSING infra_error 2',
      'E_SPAWN_FAILED infra_error 1',
      'E_POLICY_DENIED policy_error 2',
      'E_APPROVAL_REQUIRED policy_error 2',
      'E_SANDBOX_UNAVAILABLE infra_error 2',
      'E_BUDGET policy_error 2',
      'E_ACTION_REQUIRED user_error 2',
      'E_ACTION_TIMEOUT user_error 1',
      'E_BAD_ANSWER user_error 1',
      'E_OUTPUT_LIMIT infra_error 1',
      'E_MEMORY_LIMIT infra_error 1',
      'E_CPU_LIMIT infra_error 1',
      'E_PROCESS_LIMIT infra_error 1',
      'E_OPEN_FILES_LIMIT infra_error 1',
      'E_FILE_SIZE_LIMIT infra_error 1',
      'E_DISK_LIMIT infra_error 1',
      'E_PROTOCOL user_error 1',
      'E_NO_RESULT user_error 1',
      'E_TOOL_FAILED unknown 1',
      'E_RUNNER_LOST retryable retryable 1',
      'E_OUTCOME_UNKNOWN unknown 1',
      'E_CONFLICT user_error 1',
      'E_RUN_NOT_FOUND user_error 1',
      'E_STORAGE infra_error 2',
      'E_CANCELLED user_error 1',
      'E_NOT_READY infra_error 2',
      'E_INTEGRITY infra_error 1',
    ]);
  });

  it('the run states and their order', () => {
    assert.deepEqual(Object.keys(RUN_STATES), [
      'queued',
      'running',
      'waiting_ai',
      'completed',
      'failed',
      'cancelled',
    ]);
  });

  it('the wire version, the message types and the levels of a log', () => {
    assert.equal(PROTOCOL_VERSION, 1);
    assert.equal(MAX_LINE_BYTES, 1_048_576);
    assert.deepEqual(
      Object.keys(TOOL_MESSAGES).join(' '),
      'start progress heartbeat action_required result error cancelled log',
    );
    assert.deepEqual(
      Object.keys(TASK_MESSAGES).join(' '),
      'task_submitted task_started task_done task_progress task_action_required task_error',
    );
    assert.deepEqual(
      Object.keys(RUNNER_EVENTS).join(' '),
      'runner_start runner_state runner_log runner_warning runner_error runner_end diagnostic action_answered artifact',
    );
    assert.deepEqual(LOG_LEVELS.join(' '), 'debug info warn warning error critical');
  });

  it('the fields that each message must have', () => {
    const required = Object.entries({ ...TOOL_MESSAGES, ...TASK_MESSAGES, ...RUNNER_EVENTS }).map(
      ([type, schema]) => {
        const fields = Object.entries(schema.shape).filter(
          ([, field]) => !field.safeParse(undefined).success,
        );
        return `${type}: ${fields.map(([name]) => name).join(' ')}`;
      },
    );
    assert.deepEqual(required, [
      'start: v type ts run_id step',
      'progress: v type ts run_id',
      'heartbeat: v type ts run_id',
      'action_required: v type ts run_id action',
      'result: v type ts run_id status',
      'error: v type ts run_id code msg',
      'cancelled: v type ts run_id reason',
      'log: v type ts run_id level msg',
      'task_submitted: v type ts run_id task_id',
      'task_started: v type ts run_id task_id',
      'task_done: v type ts run_id task_id status',
      'task_progress: v type ts run_id task_id child_event',
      'task_action_required: v type ts run_id task_id child_event',
      'task_error: v type ts run_id task_id child_event',
      'runner_start: v type ts run_id tool args attempt timeout_s isolation',
      'runner_state: v type ts run_id from to',
      'runner_log: v type ts run_id level msg',
      'runner_warning: v type ts run_id msg',
      'runner_error: v type ts run_id code msg',
      'runner_end: v type ts run_id state rc signal code duration_s usage events bytes artifacts survivors next attempt seal',
      'diagnostic: v type ts run_id stream line',
      'action_answered: v type ts run_id action_id action by source',
      'artifact: v type ts run_id path kind size sha256 media_type',
    ]);
  });

  it('the entry points of the package', () => {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    assert.deepEqual(Object.keys(manifest.exports), [
      '.',
      './protocol',
      './tool',
      './compose',
      './compose/beside',
      './client',
      './ai-sdk',
      './schemas/*',
    ]);
    assert.deepEqual(manifest.bin, { acor: './acor' });
  });

  it('the names that acor/protocol exports', () => {
    assert.deepEqual(Object.keys(protocol).sort(), [
      'AcorError',
      'ERROR_CODES',
      'LOG_LEVELS',
      'LineReader',
      'MARKER_KINDS',
      'MAX_LINE_BYTES',
      'MarkerStream',
      'PROTOCOL_VERSION',
      'RUNNER_EVENTS',
      'RUN_ID_PATTERN',
      'RUN_RECORD_VERSION',
      'RUN_STATES',
      'TASK_MESSAGES',
      'TOOL_MESSAGES',
      'checkMessage',
      'configFile',
      'envelope',
      'errorInfo',
      'isFinal',
      'manifestFile',
      'mayFollow',
      'originOf',
      'parseMarkers',
      'policyFile',
      'runRecord',
    ]);
  });
});
