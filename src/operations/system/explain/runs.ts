import { categoryOf } from '../../../compose/catalog.ts';
import { CALL_RUNS } from './calls.ts';
import type { Facts } from './facts.ts';
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
