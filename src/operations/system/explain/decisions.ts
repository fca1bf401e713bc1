import { countOf } from '../../../util/count-of.ts';
import { CALL_DECISIONS } from './calls.ts';
import type { Facts } from './facts.ts';
import { MESSAGE_EXAMPLES } from './protocol.ts';
import { type Section, section } from './section.ts';

/** Questions and their answers, in short. */
export function decisionsInShort({ hasCalls }: Pick<Facts, 'hasCalls'>): Section {
  if (hasCalls) return CALL_DECISIONS;
  return section('Answer a question', [
    'A tool may ask. The command then ends with exit code 2 while the run waits (`waiting_ai`), and `next` (in the last event, or in `meta`) has a command for each choice.',
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
