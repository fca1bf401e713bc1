import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { projectValidate } from '../../operations/project/project-validate.ts';
import { findingLines } from './findings.ts';

type Data = DataOf<typeof projectValidate>;

export const validatedPresenter = {
  data(data: Data, screen) {
    const { findings, tools } = data;
    const verdict = findings.length === 0 ? 'no problems found' : `${findings.length} warnings, no error`;
    return [...linesOf(data, screen), styled(`${tools} tools looked at: ${verdict}`, 'green', screen)].join(
      '\n',
    );
  },
  failure: linesOf,
} satisfies Presenter;

function linesOf({ findings, fixed, dry_run }: Data, screen: Screen): string[] {
  const changes = fixed.flatMap(({ file, rules, diff }) => [
    `${dry_run ? 'would fix' : 'fixed'} ${file} (${rules.join(', ')})`,
    ...diff
      .trimEnd()
      .split('\n')
      .filter((line) => line !== ''),
  ]);
  return [...changes, ...findingLines(findings, screen)];
}
