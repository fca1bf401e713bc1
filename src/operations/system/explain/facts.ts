import { type LoadedRoute, loadAll } from '../../../compose/catalog.ts';
import type { ToolEntry } from '../../../core/registry/registry.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import { ERROR_CODES, type ErrorInfo } from '../../../protocol/error-codes.ts';
import type { AcorApp, Project } from '../../acor-app.ts';

/** The input of every explanation. */
export interface Facts {
  commands: readonly LoadedRoute<AcorApp>[];
  /** Undefined when it cannot be read; `trouble` is then the error. */
  project: Project | undefined;
  trouble: AcorError | undefined;
  tools: readonly ToolEntry[];
  /** The built-in codes and the project's own. */
  codes: Readonly<Record<string, ErrorInfo>>;
  withExamples: boolean;
  /** The caller has calls instead of command lines. */
  hasCalls: boolean;
}

/** Reads the facts. An invalid project becomes `trouble` instead of an exception, because its agent still needs the explanation. */
export async function gatherFacts(app: AcorApp, withExamples: boolean): Promise<Facts> {
  const commands = await loadAll(app.routes);
  const facts = {
    commands,
    project: undefined,
    trouble: undefined,
    tools: [],
    codes: ERROR_CODES,
    withExamples,
    hasCalls: app.surface === 'mcp',
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
