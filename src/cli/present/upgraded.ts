import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { projectUpgrade } from '../../operations/project/project-upgrade.ts';

export const upgradedPresenter = {
  data({ changes, dry_run, acor }: DataOf<typeof projectUpgrade>) {
    const lines = changes.flatMap(({ file, steps, diff, backup }) => [
      `${dry_run ? 'would change' : 'changed'} ${file}`,
      ...steps.map((step) => `  ${step}`),
      ...(backup === null ? [] : [`  as it was: ${backup}`]),
      diff.trimEnd(),
    ]);
    if (changes.length === 0) lines.push('The project is up to date.');
    return [...lines, `ACOR ${acor.version} itself is brought up to date with: ${acor.update_with}`].join(
      '\n',
    );
  },
} satisfies Presenter;
