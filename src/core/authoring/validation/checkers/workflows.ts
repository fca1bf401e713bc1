import { Registry } from '../../../registry/registry.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { Subject } from '../subject.ts';

/** Checks the workflows of the project as far as that is possible before a run. */
export const workflows: Checker = {
  name: 'workflows',
  check: ({ workflowFiles, config, cwd }) => checkWorkflows(workflowFiles, { config, cwd }),
};

/** All problems of workflow files and of the workflows that they contain. */
export async function checkWorkflows(
  files: readonly string[],
  { config, cwd }: Pick<Subject, 'config' | 'cwd'>,
): Promise<Finding[]> {
  if (files.length === 0) return [];
  // Loaded late, because it loads the CEL library.
  const { inspectWorkflow, surroundingsOf } = await import('../../../workflow/inspect-workflow.ts');
  const registry = Registry.open(config);
  const surroundings = await surroundingsOf({
    config,
    cwd,
    // Invalid error-code files are reported by their own check.
    registry: { list: () => registry.list(), errorCodes: () => registry.errorCodes().catch(() => ({})) },
  });
  const findings: Finding[] = [];
  for (const file of files) {
    const { errors, warnings } = await inspectWorkflow(file, surroundings);
    findings.push(...[...errors, ...warnings].map(findingOf));
  }
  return findings;
}
