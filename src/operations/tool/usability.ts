import { problemText } from '../../core/config/problem.ts';
import { runtimesOf } from '../../core/registry/command.ts';
import { assertCompatible } from '../../core/registry/compatibility.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { sentence } from '../../util/sentence.ts';
import type { Project } from '../acor-app.ts';

/** Returns a function that lists why a tool cannot be run here, each with its fix: in its files, for its versions, or for want of a runtime. */
export async function usability(
  { registry, config }: Pick<Project, 'registry' | 'config'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<(tool: ToolEntry) => Promise<string[]>> {
  const runtimeOf = runtimesOf(config, env, await registry.languages());
  return async (tool) => {
    if (tool.problems.length > 0)
      return tool.problems.map((problem) => `${problemText(problem)}. ${problem.fix}`);
    try {
      assertCompatible(tool.manifest);
      await runtimeOf(tool);
      return [];
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      return [`${sentence(error.message)} ${error.hint ?? ''}`.trimEnd()];
    }
  };
}
