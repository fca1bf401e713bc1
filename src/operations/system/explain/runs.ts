import { categoryOf } from '../../../compose/catalog.ts';
import type { Facts } from './facts.ts';
import { type Section, section } from './section.ts';

/** Starting, following and stopping a run, in short. */
export function runInShort(): Section {
  return section('Run a tool', [
    '`acor run <tool> --input value …` writes events as JSON lines; the last one is `runner_end` with `state`, `code`, `artifacts`, `next`. Add `--no-stream` for one envelope instead, with the tool’s `result`.',
    '- Long work: `acor run <tool> … --detach` gives `run_id` at once; then `acor wait <run> --timeout 540`, again if it says `"waited":"timeout"`. A shell call that is cut off loses nothing.',
    '- Look: `acor runs`, `acor show <run>`, `acor logs <run> --type error`, `acor artifacts <run>` (absolute paths and hashes of what was made).',
    '- Stop: `acor cancel <run>` returns when the tool and all that it started are gone.',
    '- Not sure: `--dry-run` shows what would run. Must not happen twice: `--idempotency-key KEY`.',
  ]);
}

/** The commands about runs, and what holds for every run. */
export function runSections({ commands, withExamples }: Facts): Section[] {
  const own = commands.filter(({ op }) => categoryOf(op) === 'run');
  return [
    runInShort(),
    section('What holds for every run', [
      '- It lives in `.runs/<run>/`: `events.jsonl`, `logs/stderr.log`, `artifacts/`. Only its supervisor writes there.',
      '- Clocks of its own stop it: deadline (`--timeout`, the manifest’s `timeout_s`), silence (`heartbeat_grace_s`), limits of output, memory, processor time, disk.',
      '- Stopping: the cancel file, then SIGTERM, then SIGKILL, each to the whole tree. `runner_end.survivors` is empty.',
      '- Outputs that an input with `access: write` names appear only when the run completes.',
      '- Only retryable errors are tried again by themselves. `E_OUTCOME_UNKNOWN`: find out what was done before you run it again.',
      '- `acor run <tool> … -- …`: what follows `--` is the tool’s alone; before it, ACOR’s flags are ACOR’s unless the tool declares one of that name.',
    ]),
    section(
      'Commands',
      own.flatMap(({ command, op }) => [
        `- \`acor ${command}\`: ${op.summary}`,
        ...(withExamples ? [`  - \`${op.example}\``] : []),
      ]),
    ),
  ];
}
