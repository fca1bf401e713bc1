import { Registry } from '../../../registry/registry.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { Subject } from '../subject.ts';

/** Whether the workflows of the project can be run, as far as that is known before. */
export const workflows: Checker = {
  name: 'workflows',
  check: ({ workflowFiles, config, cwd }) => checkWorkflows(workflowFiles, { config, cwd }),
};

/** All that is wrong with workflow files, and with those that they contain. */
export async function checkWorkflows(
  files: readonly string[],
  { config, cwd }: Pick<Subject, 'config' | 'cwd'>,
): Promise<Finding[]> {
  if (files.length === 0) return [];
  // Loaded late: it brings the language of expressions along.
  const { inspectWorkflow, surroundingsOf } = await import('../../../workflow/inspect-workflow.ts');
  const registry = Registry.open(config);
  const surroundings = await surroundingsOf({
    config,
    cwd,
    // Error codes that cannot be read are a finding of their own.
    registry: { list: () => registry.list(), errorCodes: () => registry.errorCodes().catch(() => ({})) },
  });
  const findings: Finding[] = [];
  for (const file of files) {
    const { errors, warnings } = await inspectWorkflow(file, surroundings);
    findings.push(...[...errors, ...warnings].map(findingOf));
  }
  return findings;
}
