import type { Facts } from './facts.ts';
import { MESSAGE_EXAMPLES } from './message-examples.ts';
import { type Section, section } from './section.ts';

/** Questions and their answers, in short. */
export function decisionsInShort(): Section {
  return section('Answer a question', [
    'A tool may ask. The command then ends with exit code 2 while the run waits (`waiting_ai`), and `next` (in the last event, or in `meta`) holds a command for each choice.',
    '1. Read `action_required`: `msg`, `context`, `options` or `schema`. `audience: user` wants a person’s word.',
    '2. `acor answer <run> <action_id> --choice ID --reason "why"`, or `--value JSON`. What does not fit is refused (`E_BAD_ANSWER`), and the question stays open.',
    '3. `acor wait <run>`, until `"waited":"ended"`.',
    'Known beforehand: `acor run <tool> … --answer ACTION=VALUE`.',
  ]);
}

/** All about decisions. */
export function decisionSections({ withExamples, project }: Facts): Section[] {
  const rules = project?.config.config.answers ?? [];
  const question = JSON.stringify(MESSAGE_EXAMPLES.action_required);
  return [
    decisionsInShort(),
    section('More', [
      '- `acor decisions --open`: every question that waits for an answer now; `acor decisions <run>`: who decided what, and why.',
      '- `--by NAME` says who answers; left out, it is the agent that calls. `--file PATH` takes the answer as JSON from a file.',
      '- With `blocking: false` the tool goes on without an answer and may look for one later.',
      '- Nobody answers by `timeout_s`: the `default` holds, or the run fails with `E_ACTION_TIMEOUT`.',
      '- A run that is tried again finds the answers it had; `acor retry <run>` forgets them, `acor resume <run>` keeps them.',
      `- This project answers ${rules.length === 0 ? 'nothing' : `${rules.length} questions`} by rule (\`answers:\` in \`.acor/config.yaml\`).`,
    ]),
    ...(withExamples
      ? [
          section('A question', [
            '```json',
            question,
            '```',
            '`acor answer <run> a-1 --choice skip --reason "the row is a test"`',
          ]),
        ]
      : []),
  ];
}
