import { categoryOf } from '../../../compose/catalog.ts';
import { countOf } from '../../../util/count-of.ts';
import type { Facts } from './facts.ts';
import { MESSAGE_EXAMPLES } from './protocol.ts';
import { type Section, section } from './section.ts';

/** Starting, following and stopping a run, in short. */
export function runInShort({ hasCalls }: Pick<Facts, 'hasCalls'>): Section {
  if (hasCalls) return CALL_RUNS;
  return section('Run a tool', [
    '`acor run <tool> --input value …` answers an agent with one envelope, with the tool’s `result`. `--stream` writes events as JSON lines instead; the last one is `runner_end` with `state`, `code`, `artifacts`, `next`. Without an agent’s environment the stream is the default, and `--no-stream` gives the envelope.',
    '- Long work: `acor run <tool> … --detach` returns `run_id` at once; then `acor wait <run> --timeout 540`, again if it answers `"waited":"timeout"`. Such a run continues when your shell call times out; without `--detach` it is cancelled.',
    '- Look: `acor runs`, `acor show <run>`, `acor logs <run> --type error --type runner_error`, `acor artifacts <run>` (absolute paths and hashes of its files).',
    '- Stop: `acor cancel <run>` returns when the tool and every process that it started have ended.',
    '- To preview: `--dry-run`. To start a run at most once: `--idempotency-key KEY`.',
  ]);
}

/** The commands for runs, and the rules of every run. */
export function runSections({ commands, withExamples, hasCalls }: Facts): Section[] {
  const own = commands.filter(({ op }) => categoryOf(op) === 'run');
  return [
    runInShort({ hasCalls }),
    section('Rules of every run', [
      '- Its folder is `.runs/<run>/`: `events.jsonl`, `logs/stderr.log`, `artifacts/`. Only its supervisor writes there.',
      '- ACOR stops it at its deadline (`--timeout`, the manifest’s `timeout_s`), after silence (`heartbeat_grace_s`), and at limits of output, memory, processor time and disk.',
      '- To stop it, ACOR writes the cancel file, then sends SIGTERM, then SIGKILL, to the whole process tree. `runner_end.survivors` lists processes that still ran.',
      '- Outputs that an input with `access: write` names appear only when the run completes.',
      '- ACOR retries only retryable errors by itself. `E_OUTCOME_UNKNOWN`: find out what the tool did before you run it again.',
      ...(hasCalls
        ? []
        : [
            '- `acor run <tool> … -- …`: every word after `--` is for the tool; before it, ACOR takes its own flags unless the tool declares one of that name.',
          ]),
    ]),
    ...(hasCalls ? [] : [commandsOf(own, withExamples)]),
  ];
}

function commandsOf(own: Facts['commands'], withExamples: boolean): Section {
  return section(
    'Commands',
    own.flatMap(({ command, op }) => [
      `- \`acor ${command}\`: ${op.summary}`,
      ...(withExamples ? [`  - \`${op.example}\``] : []),
    ]),
  );
}

/** How a server answers a client that calls tools instead of commands. */
export const CALL_ANSWERS: Section = section('How it answers', [
  'Each tool of the project is a tool of this server. Its result has `run_id`, `state`, `data`, `artifacts`, `questions` and `warnings`; a failure has `error` with `code`, `message`, `hint`, `class`, `retryable`, `action`.',
  '- `next` has the exact calls that come next. Prefer them to your own; `missing` has the schemas of arguments that only you know.',
  '- `state: running` is no end: call `acor_wait`. A timeout of your client does not end the run.',
  '- Lists take `limit`, `offset` and `max_tokens`; a page is continued by the call in `next`.',
  '- Accepted without being listed: `acor_runs` also filters by `kind`, `caller`, `parent`, `created_after`, `created_before`; `acor_logs` takes `text`, `acor_artifact_read` takes `from` and `bytes`, `acor_health` takes `fix` and `deep`; `acor_apply`, `acor_discard` and `acor_undo` take `dry_run`, `acor_diff` takes `stat`.',
]);

/** Starting, following and stopping a run by calls. */
const CALL_RUNS: Section = section('Run a tool', [
  'Call it with an object of its inputs. `acor_run {"tool":"<tool>","arguments":{…}}` does the same, and takes `dry_run`, `plan` (the token of a dry run), `timeout`, `retries`, `idempotency_key`, `review` and `snapshot`.',
  '- Long work: `detach: true` returns `run_id` at once; then `acor_wait {"run":"<run>"}`, again while `state` is `running`.',
  '- Look: `acor_runs`, `acor_show {"run":"<run>"}`, `acor_logs {"run":"<run>","type":["error"]}`, `acor_artifact_read`.',
  '- Stop: `acor_cancel {"run":"<run>"}` returns when the tool and every process that it started have ended.',
  '- A workflow: `acor_run {"tool":"<workflow>","arguments":{…}}`, with `dry_run`, `timeout` and `idempotency_key`; `acor_resume` continues it after its finished steps.',
]);

/** Questions and their answers by calls. */
const CALL_DECISIONS: Section = section('Answer a question', [
  'A tool may ask. The call then ends with `state: waiting_ai` while the run waits, and `next` has a call for each known answer, at most 20.',
  '1. Read `questions`: `msg`, `context`, `options` or `schema`. `audience: user` is for the user: ask them. After `timeout_s` the run takes the `default`, or fails.',
  '2. `acor_answer {"run":"<run>","action_id":"<id>","choice":"<option>","reason":"why"}`, or `value` with any JSON. An invalid answer fails with `E_BAD_ANSWER`, and the question stays open.',
  '3. `acor_wait {"run":"<run>"}` returns what the call would have returned.',
]);

/** Questions and their answers, in short. */
export function decisionsInShort({ hasCalls }: Pick<Facts, 'hasCalls'>): Section {
  if (hasCalls) return CALL_DECISIONS;
  return section('Answer a question', [
    'A tool may ask. The command then ends with exit code 2 while the run waits (`waiting_ai`), and `next` (in the last event, or in `meta`) has a command for each choice, at most 20.',
    '1. Read `action_required`: `msg`, `context`, `options` or `schema`. `audience: user` asks a person.',
    '2. `acor answer <run> <action_id> --choice ID --reason "why"`, or `--value JSON`. An invalid answer fails with `E_BAD_ANSWER`, and the question stays open.',
    '3. `acor wait <run>`, until `"waited":"ended"`.',
    'To answer in advance: `acor run <tool> … --answer ACTION=VALUE`.',
  ]);
}

/** Everything about questions and answers. */
export function decisionSections({ withExamples, project, hasCalls }: Facts): Section[] {
  const rules = project?.config.config.answers ?? [];
  const question = JSON.stringify(MESSAGE_EXAMPLES.action_required);
  return [
    decisionsInShort({ hasCalls }),
    section('More', [
      ...(hasCalls
        ? []
        : [
            '- `acor decisions --open`: every question that waits for an answer; `acor decisions <run>`: who decided what, and why.',
            '- `--by NAME` names who answers; by default the agent that calls. `--file PATH` reads the answer as JSON from a file.',
          ]),
      '- With `blocking: false` the tool continues without an answer and may check for one later.',
      '- No answer within `timeout_s`: ACOR uses the `default`, or the run fails with `E_ACTION_TIMEOUT`.',
      '- An automatic retry and `acor resume <run>` keep the answers of the run; `acor retry <run>` drops them.',
      `- This project answers ${rules.length === 0 ? 'nothing' : countOf(rules.length, 'question')} by rule (\`answers:\` in \`.acor/config.yaml\`).`,
    ]),
    ...(withExamples
      ? [
          section('A question', [
            '```json',
            question,
            '```',
            hasCalls
              ? '`acor_answer {"run":"<run>","action_id":"a-1","choice":"skip","reason":"the row is a test"}`'
              : '`acor answer <run> a-1 --choice skip --reason "the row is a test"`',
          ]),
        ]
      : []),
  ];
}
