import type { ErrorInfo } from '../../../protocol/error-codes.ts';
import { countOf } from '../../../util/count-of.ts';
import type { Facts } from './facts.ts';
import { type Section, section, untrustedText } from './section.ts';

const CLASSES: Readonly<Record<ErrorInfo['class'], string>> = {
  user_error:
    'the call, a file or an answer is invalid: fix it as `hint` says; the same call would fail again',
  retryable:
    'a temporary failure: `acor retry <run>` (from the beginning) or `acor resume <run>` (from its checkpoints)',
  infra_error: 'the machine or a limit: see `hint`, `acor health`',
  policy_error: 'not allowed: do not retry; a person must allow it',
  unknown: 'read `acor logs <run>` and decide',
};

/** How to recover, in short. */
export function recovery({ codes, hasCalls }: Facts): Section {
  const rows = Object.entries(codes);
  const classes = Object.keys(CLASSES) as ErrorInfo['class'][];
  const steps = hasCalls ? 'make the calls of `next`' : 'run the commands of `meta.next`';
  return section('When it fails', [
    `Read \`error.code\`, do \`error.action\`, follow \`error.hint\`, ${steps}. \`error.retryable\` says whether the same call may succeed later. By \`error.class\`:`,
    ...classes.map((each) => {
      const count = rows.filter(([, row]) => row.class === each).length;
      return `- ${each} (${countOf(count, 'code')}): ${CLASSES[each]}`;
    }),
    'One code: `acor errors E_TIMEOUT`. All: `acor explain --topic errors`.',
  ]);
}

/** Every code with what to do. */
export function errorSections({ codes }: Facts): Section[] {
  const groups = Map.groupBy(Object.entries(codes), ([, row]) => row.class);
  return [...groups].map(([name, rows]) =>
    section(
      name,
      [
        `${CLASSES[name]}.`,
        ...rows.map(([code, { retryable, exit, action, hint }]) => {
          const marks = [`exit ${exit}`, ...(retryable ? ['retryable'] : [])].join(', ');
          return `- ${code} (${marks}): ${untrustedText(action, 200)} ${untrustedText(hint, 200)}`;
        }),
      ],
      rows.map(([code, { retryable, exit, action, hint }]) => ({
        ...{ code, class: name, retryable, exit },
        ...{ action: untrustedText(action, 200), hint: untrustedText(hint, 200) },
      })),
    ),
  );
}
