import { AcorError } from '../../protocol/acor-error.ts';
import { ERROR_CODES } from '../../protocol/error-codes.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type Problem, problemText, withoutNext } from '../config/problem.ts';
import { grantRoots } from '../registry/path-grants.ts';
import type { Registry } from '../registry/registry.ts';
import { checkWorkflow } from './check/check-workflow.ts';
import type { Surroundings } from './check/checked-file.ts';
import { findWorkflow, workflowFolders } from './file/find-workflow.ts';
import { readWorkflow } from './file/read-workflow.ts';
import type { Workflow } from './model.ts';

/** What checking workflows needs. */
export interface WorkflowProject {
  config: LoadedConfig;
  registry: Pick<Registry, 'list' | 'errorCodes'>;
  /** The caller's working directory: relative names and paths of the caller and of steps start here. */
  cwd: string;
}

/** Collects what workflows are checked against. The tools are looked up once for all workflows. */
export async function surroundingsOf({ config, registry, cwd }: WorkflowProject): Promise<Surroundings> {
  const tools = await registry.list();
  const codes = await registry.errorCodes();
  return {
    config,
    cwd,
    roots: grantRoots(config, cwd),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    codes: [...Object.keys(ERROR_CODES), ...Object.keys(codes)],
  };
}

/** Reads a workflow file and checks it, and all that it contains, against the project. */
export async function inspectWorkflow(
  file: string,
  surroundings: Surroundings,
): Promise<{ workflow?: Workflow; errors: Problem[]; warnings: Problem[] }> {
  const { workflow, problems, places } = await readWorkflow(file, {
    folders: workflowFolders(surroundings.config),
    roots: surroundings.roots,
  });
  if (workflow === undefined) return { errors: problems, warnings: [] };
  return { workflow, ...(await checkWorkflow({ workflow, places }, surroundings)) };
}

/**
 * Finds a valid workflow by name or path. Throws E_WORKFLOW_INVALID with all problems, and the errors of
 * `findWorkflow`.
 */
export async function loadWorkflow(
  wanted: string,
  project: WorkflowProject,
): Promise<{ workflow: Workflow; warnings: Problem[]; surroundings: Surroundings }> {
  const surroundings = await surroundingsOf(project);
  const file = findWorkflow(wanted, surroundings);
  const { workflow, errors, warnings } = await inspectWorkflow(file, surroundings);
  if (workflow === undefined || errors.length > 0) throw invalidWorkflow(errors, wanted);
  return { workflow, warnings, surroundings };
}

/** All problems of a workflow as one error, with the message of the first. */
export function invalidWorkflow(errors: readonly Problem[], wanted: string): AcorError {
  const [first, ...others] = errors;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return new AcorError('E_WORKFLOW_INVALID', `${first === undefined ? wanted : problemText(first)}${more}`, {
    ...(first !== undefined && { hint: first.fix }),
    details: { problems: errors.map(withoutNext) },
    next: [
      ...(first?.next ?? []),
      {
        operation: 'workflow.validate',
        input: { workflows: [wanted] },
        why: 'List all problems of the workflow.',
      },
    ],
  });
}
