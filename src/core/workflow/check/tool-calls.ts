import { describeTool, LIST_TOOLS } from '../../../protocol/next-steps.ts';
import { type Problem, problemText } from '../../config/problem.ts';
import type { ArgumentProblem } from '../../registry/argument-problem.ts';
import { problemsBySchema } from '../../registry/check-by-schema.ts';
import { readToolInputs } from '../../registry/read-inputs.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { grantInputs } from '../../registry/tool-grants.ts';
import {
  allSteps,
  type Check,
  type CheckedFile,
  nearestOf,
  problemAt,
  type Surroundings,
  type ToolCall,
  toolCallsOf,
} from './checked-file.ts';
import { inTermsOfFile, isOpen, openWords } from './open-arguments.ts';

/** Checks that each tool exists and accepts its arguments, as far as their values are constant. */
export const checkToolCalls: Check = async (file, surroundings) => {
  const nearestTo = nearestOf(new Set(surroundings.tools.keys()));
  const problems: Problem[] = [];
  for (const call of allSteps(file.workflow).flatMap(toolCallsOf)) {
    const tool = surroundings.tools.get(call.tool);
    if (tool === undefined) {
      const nearest = nearestTo(call.tool);
      problems.push(
        problemAt(file, call, {
          rule: 'unknown-tool',
          message: `there is no tool '${call.tool}'`,
          fix: nearest === undefined ? 'Choose a tool from the list.' : `Write '${nearest}'.`,
          ...(nearest === undefined && { next: [LIST_TOOLS] }),
        }),
      );
    } else if (tool.problems[0] !== undefined) {
      problems.push(
        problemAt(file, call, {
          rule: 'broken-tool',
          message: `the tool '${call.tool}' cannot be used: ${problemText(tool.problems[0])}`,
          fix: tool.problems[0].fix,
        }),
      );
    } else {
      if (call.readsRecords && tool.manifest.stdin !== 'records') {
        problems.push(
          problemAt(file, call, {
            rule: 'reads-no-records',
            message: `'${call.tool}' does not declare that it reads records from the tool before it`,
            fix: 'If it reads JSON Lines from its standard input, add "stdin: records" to its tool.yaml. Otherwise use it only as the first stage.',
          }),
        );
      }
      problems.push(...(await argumentMistakes(file, call, tool, surroundings)));
    }
  }
  return problems;
};

async function argumentMistakes(
  file: CheckedFile,
  call: ToolCall,
  tool: ToolEntry,
  surroundings: Surroundings,
): Promise<Problem[]> {
  const given = readToolInputs(tool.manifest, openWords(call.args), {
    cwd: surroundings.cwd,
    open: isOpen,
  });
  if (given === undefined) return namesWithoutInputs(file, call);
  const { read, problems } = given;
  const { problems: ofPaths } = grantInputs(read, {
    cwd: surroundings.cwd,
    roots: surroundings.roots,
    protectedRoots: [],
    stagingDir: surroundings.cwd,
  });
  const wrong: Pick<ArgumentProblem, 'input' | 'message' | 'fix'>[] = [
    ...problems,
    // A file that does not exist yet may be made by an earlier step.
    ...ofPaths.filter(({ rule }) => rule !== 'exists'),
    ...(problems.length > 0 ? [] : await problemsBySchema(tool, read)),
  ];
  return wrong.map(({ input, message, fix }) =>
    problemAt(file, placeOf(call, input), {
      rule: 'argument',
      message: inTermsOfFile(`${call.tool}: ${message}`),
      fix: `${inTermsOfFile(fix)} See the inputs of the tool.`,
      next: [describeTool(call.tool)],
    }),
  );
}

function namesWithoutInputs(file: CheckedFile, { tool, args, argsPath }: ToolCall): Problem[] {
  if (args.form === 'words' || Object.keys(args.values).length === 0) return [];
  return [
    problemAt(
      file,
      { path: argsPath },
      {
        rule: 'argument',
        message: `${tool}: it declares no inputs, so arguments cannot be passed by name`,
        fix: 'Write the arguments as a list of words, or declare inputs in the manifest of the tool.',
      },
    ),
  ];
}

function placeOf({ args, argsPath, path, others }: ToolCall, input: string): Parameters<typeof problemAt>[1] {
  if (args.form === 'words') return { path: argsPath, others };
  return Object.hasOwn(args.values, input) ? { path: [...argsPath, input] } : { path, others };
}
