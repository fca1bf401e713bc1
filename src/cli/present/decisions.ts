import type { DataOf } from '../../compose/operation.ts';
import { cellText } from '../../compose/table.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { agoWords } from '../../compose/time-words.ts';
import type { runDecisions } from '../../operations/run/run-decisions.ts';
import { tableOf } from './views.ts';

export const decisionsPresenter = {
  data({ decisions }: DataOf<typeof runDecisions>, screen) {
    const rows = decisions.map(({ run_id, action_id, action, answer, by, reason, asked_at, state }) => ({
      run: run_id,
      asked: agoWords(asked_at),
      question: `${action_id} ${action}`,
      by,
      answer: [state === 'answered' ? cellText(answer, screen) : `(${state})`, reason ?? '']
        .filter((part) => part !== '')
        .join(': '),
    }));
    const none =
      'No tool has asked anything. Runs that wait for an answer are listed by: acor runs --state waiting_ai';
    return tableOf(rows, screen, ['run'], none, (column, text) =>
      column === 'answer' && text === '(open)' ? 'yellow' : undefined,
    );
  },
} satisfies Presenter;
