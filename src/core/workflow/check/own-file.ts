import { realpathSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import { isInside } from '../../../util/real-path.ts';
import type { Problem } from '../../config/problem.ts';
import { inputsOf } from '../../registry/input-schema.ts';
import { grantExisting } from '../../registry/path-grants.ts';
import { readInputs } from '../../registry/read-inputs.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { declaredGrants } from '../../registry/tool-grants.ts';
import {
  allSteps,
  type CheckedFile,
  problemAt,
  type Surroundings,
  type ToolCall,
  toolCallsOf,
} from './checked-file.ts';
import { isOpen, openWords } from './open-arguments.ts';

/**
 * Warns when a step can write the workflow's own file: a later resume would then be refused, or would run a different
 * workflow.
 */
export function checkOwnFile(file: CheckedFile, surroundings: Surroundings): Problem[] {
  const declared = new Map<ToolEntry, string | undefined>();
  return allSteps(file.workflow)
    .flatMap(toolCallsOf)
    .flatMap((call) => {
      const tool = surroundings.tools.get(call.tool);
      if (tool === undefined || tool.problems.length > 0) return [];
      if (!declared.has(tool)) declared.set(tool, declaredWrite(tool, file, surroundings));
      const way = declared.get(tool) ?? givenWrite(tool, call, file, surroundings);
      if (way === undefined) return [];
      return problemAt(file, call, {
        rule: 'writes-workflow',
        message: `'${call.tool}' may write the file of this workflow: ${way}`,
        fix: 'Keep the workflow in a folder that its steps do not write.',
      });
    });
}

function declaredWrite(
  tool: ToolEntry,
  { workflow }: CheckedFile,
  { config }: Surroundings,
): string | undefined {
  try {
    const grants = declaredGrants(tool, { projectRoot: config.root, hidden: [] });
    const own = grants.find(({ path, access }) => access === 'write' && isInside(workflow.file, path));
    return own && `its manifest asks to write ${own.path}`;
  } catch (error) {
    // A path that cannot be granted is reported when the tool starts.
    if (error instanceof AcorError) return undefined;
    throw error;
  }
}

function givenWrite(
  tool: ToolEntry,
  call: ToolCall,
  { workflow }: CheckedFile,
  { cwd, roots }: Surroundings,
): string | undefined {
  const specs = inputsOf(tool.manifest)?.filter(({ type, access }) => type === 'path' && access === 'write');
  if (specs === undefined || specs.length === 0) return undefined;
  const { read } = readInputs(inputsOf(tool.manifest) ?? [], openWords(call.args), { cwd, open: isOpen });
  const file = realpathSync(workflow.file);
  const rules = { cwd, roots, protectedRoots: [], stagingDir: cwd };
  const own = read
    .filter(({ spec }) => specs.includes(spec))
    .flatMap(({ spec, values }) => values.flatMap(({ text }) => grantExisting(text, spec.name, rules) ?? []))
    .find(({ path }) => isInside(file, path));
  return own && `its arguments let it write ${own.path}`;
}
