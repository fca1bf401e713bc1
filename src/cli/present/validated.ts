import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { wrapToWidth } from '../../compose/wrap-to-width.ts';
import type { projectUpgrade } from '../../operations/project/project-upgrade.ts';
import type { projectValidate } from '../../operations/project/project-validate.ts';
import { type FindingData, placed } from '../../operations/project/shapes.ts';
import type { workflowValidate } from '../../operations/workflow/workflow-validate.ts';
import { countOf } from '../../util/count-of.ts';

type Data = DataOf<typeof projectValidate>;

export const validatedPresenter = {
  data(data: Data, screen) {
    const { findings, tools } = data;
    const verdict =
      findings.length === 0 ? 'no problems found' : `${countOf(findings.length, 'warning')}, no error`;
    return [
      ...linesOf(data, screen),
      styled(`${countOf(tools, 'tool')} checked: ${verdict}`, 'green', screen),
    ].join('\n');
  },
  failure: ({ findings, ...data }: Data, screen) =>
    linesOf({ ...data, findings: besideFailure(findings) }, screen),
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

/** What is shown before a failure, which names the first error itself: the warnings, then the other errors. */
function besideFailure(findings: readonly FindingData[]): FindingData[] {
  const errors = findings.filter(({ severity }) => severity === 'error');
  return [...findings.filter((each) => !errors.includes(each)), ...errors.slice(1)];
}

/** Findings for a person, each with its place and its fix. */
function findingLines(findings: readonly FindingData[], screen: Screen): string[] {
  return findings.flatMap((finding) => [
    ...wrapToWidth(
      placed(finding) + `: ${finding.severity}: ${finding.message} [${finding.rule}]`,
      Math.max(8, screen.width - 2),
    )
      .join('\n  ')
      .replace(`: ${finding.severity}: `, `: ${severityMark(finding, screen)}: `)
      .split('\n'),
    // The fix may have a command, which is copied whole.
    `  ${finding.fix}`,
  ]);
}

function severityMark({ severity }: FindingData, screen: Screen): string {
  return styled(severity, severity === 'error' ? 'red' : 'yellow', screen);
}

export const upgradedPresenter = {
  data({ root, changes, dry_run, acor }: DataOf<typeof projectUpgrade>) {
    const lines = changes.flatMap(({ file, steps, diff, backup }) => [
      `${dry_run ? 'would change' : 'changed'} ${file}`,
      ...steps.map((step) => `  ${step}`),
      ...(backup === null ? [] : [`  as it was: ${backup}`]),
      diff.trimEnd(),
    ]);
    if (root !== null && changes.length === 0) lines.push('The project is up to date.');
    return [...lines, `ACOR ${acor.version} itself is brought up to date with: ${acor.update_with}`].join(
      '\n',
    );
  },
} satisfies Presenter;

type WorkflowData = DataOf<typeof workflowValidate>;

export const validatedWorkflowsPresenter = {
  data({ findings, workflows }: WorkflowData, screen) {
    const verdict =
      findings.length === 0 ? 'no problems found' : `${countOf(findings.length, 'warning')}, no error`;
    return [
      ...findingLines(findings, screen),
      styled(`${countOf(workflows, 'workflow')} checked: ${verdict}`, 'green', screen),
    ].join('\n');
  },
  failure: ({ findings }: WorkflowData, screen) => findingLines(besideFailure(findings), screen),
} satisfies Presenter;
