import { type LoadedRoute, loadAll } from '../../../compose/catalog.ts';
import type { ToolEntry } from '../../../core/registry/registry.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import { ERROR_CODES, type ErrorInfo } from '../../../protocol/error-codes.ts';
import type { AcorApp, Project } from '../../acor-app.ts';
import { ROUTES } from '../../index.ts';

/** All that an explanation is made from. */
export interface Facts {
  commands: readonly LoadedRoute<AcorApp>[];
  /** Undefined when it cannot be read; `trouble` says why then. */
  project: Project | undefined;
  trouble: AcorError | undefined;
  tools: readonly ToolEntry[];
  /** The built-in codes and the project's own. */
  codes: Readonly<Record<string, ErrorInfo>>;
  withExamples: boolean;
}

/** Gathers them. A project that is broken is told of: its agent needs the explanation all the more. */
export async function gatherFacts(app: AcorApp, withExamples: boolean): Promise<Facts> {
  const commands = await loadAll(ROUTES);
  const facts = {
    commands,
    project: undefined,
    trouble: undefined,
    tools: [],
    codes: ERROR_CODES,
    withExamples,
  };
  try {
    const project = await app.project();
    const [tools, own] = [await project.registry.list(), await project.registry.errorCodes()];
    return { ...facts, project, tools, codes: { ...ERROR_CODES, ...own } };
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    return { ...facts, trouble: error };
  }
}
