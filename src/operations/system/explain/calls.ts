import { type Section, section } from './section.ts';

/** How a server answers a client that calls tools instead of commands. */
export const CALL_ANSWERS: Section = section('How it answers', [
  'Each tool of the project is a tool of this server. Its result has `run_id`, `state`, `data`, `artifacts`, `questions` and `warnings`; a failure has `error` with `code`, `message`, `hint`, `class`, `retryable`, `action`.',
  '- `next` has the exact calls that come next. Prefer them to your own; `missing` has the schemas of arguments that only you know.',
  '- `state: running` is no end: call `acor_wait`. A timeout of your client does not end the run.',
  '- Lists take `limit`, `offset` and `max_tokens`; a page is continued by the call in `next`.',
  '- Accepted without being listed: `acor_runs` also filters by `kind`, `caller`, `parent`, `created_after`, `created_before`; `acor_logs` takes `text`, `acor_artifact_read` takes `from` and `bytes`, `acor_health` takes `fix` and `deep`; `acor_apply`, `acor_discard` and `acor_undo` take `dry_run`, `acor_diff` takes `stat`.',
]);

/** Starting, following and stopping a run by calls. */
export const CALL_RUNS: Section = section('Run a tool', [
  'Call it with an object of its inputs. `acor_run {"tool":"<tool>","arguments":{…}}` does the same, and takes `dry_run`, `plan` (the token of a dry run), `timeout`, `retries`, `idempotency_key`, `review` and `snapshot`.',
  '- Long work: `detach: true` returns `run_id` at once; then `acor_wait {"run":"<run>"}`, again while `state` is `running`.',
  '- Look: `acor_runs`, `acor_show {"run":"<run>"}`, `acor_logs {"run":"<run>","type":["error"]}`, `acor_artifact_read`.',
  '- Stop: `acor_cancel {"run":"<run>"}` returns when the tool and every process that it started have ended.',
  '- A workflow: `acor_run {"tool":"<workflow>","arguments":{…}}`, with `dry_run`, `timeout` and `idempotency_key`; `acor_resume` continues it after its finished steps.',
]);

/** Questions and their answers by calls. */
export const CALL_DECISIONS: Section = section('Answer a question', [
  'A tool may ask. The call then ends with `state: waiting_ai` while the run waits, and `next` has a call for each known answer.',
  '1. Read `questions`: `msg`, `context`, `options` or `schema`. `audience: user` is for the user: ask them. After `timeout_s` the run takes the `default`, or fails.',
  '2. `acor_answer {"run":"<run>","action_id":"<id>","choice":"<option>","reason":"why"}`, or `value` with any JSON. An invalid answer fails with `E_BAD_ANSWER`, and the question stays open.',
  '3. `acor_wait {"run":"<run>"}` returns what the call would have returned.',
]);
