import type { ArgumentProblem } from '../../registry/argument-problem.ts';
import { problemsBySchema } from '../../registry/check-by-schema.ts';
import { readToolInputs } from '../../registry/read-inputs.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { grantInputs } from '../../registry/tool-grants.ts';
import { evaluate, expressionsIn, type Scope, type Template } from '../expression/expression.ts';
import type { Step, StepArguments, Workflow } from '../model.ts';
import { certainSteps } from './certain-steps.ts';
import { type Surroundings, toolCallsOf } from './checked-file.ts';
import { isOpen, openWords } from './open-arguments.ts';

/**
 * What the given inputs of a workflow make wrong in the arguments of its certain steps, found before anything starts. A file must exist only for a step that needs no other, because a step may make it.
 */
export async function problemsOfGivenInputs(
  workflow: Workflow,
  inputs: Readonly<Record<string, unknown>>,
  surroundings: Surroundings,
): Promise<ArgumentProblem[]> {
  const calls = certainSteps({ ...workflow, finally: [] }).flatMap((step) =>
    toolCallsOf(step).map(({ tool, args }) => ({ step, args, tool })),
  );
  const problems: ArgumentProblem[] = [];
  for (const { step, args, tool: name } of calls) {
    const tool = surroundings.tools.get(name);
    if (tool === undefined || !readsInputs(args)) continue;
    problems.push(...(await problemsOfCall(step, tool, withInputs(args, inputs), surroundings)));
  }
  return problems;
}

async function problemsOfCall(
  step: Step,
  tool: ToolEntry,
  args: StepArguments,
  { cwd, roots, config }: Surroundings,
): Promise<ArgumentProblem[]> {
  const given = readToolInputs(tool.manifest, openWords(args), { cwd, open: isOpen });
  if (given === undefined) return [];
  const { read, problems } = given;
  const ofPaths = grantInputs(read, { cwd, roots, protectedRoots: [], stagingDir: cwd }).problems;
  const { filesystem } = tool.manifest.permissions;
  // Where the manifest grants paths of its own, or a person may be asked, the step decides.
  const isFinal =
    filesystem.read.length + filesystem.write.length === 0 && config.config.security.on_denied !== 'ask';
  const certain = ofPaths.filter(({ code }) => {
    if (code === 'E_INPUT_NOT_FOUND') return step.needs.length === 0;
    return code !== 'E_PERMISSION' || isFinal;
  });
  const bySchema = problems.length > 0 ? [] : await problemsBySchema(tool, read);
  return [...problems, ...bySchema, ...certain].map((problem) => ({
    ...problem,
    message: `step '${step.name}': ${problem.message}`,
  }));
}

function readsInputs(args: StepArguments): boolean {
  return templatesOf(args).some((each) =>
    expressionsIn(each).some(({ references }) => references.some(([root]) => root === 'inputs')),
  );
}

function templatesOf(args: StepArguments): readonly Template[] {
  return args.form === 'words' ? args.words : Object.values(args.values);
}

/** The arguments with the value of each template that reads nothing but inputs. */
function withInputs(args: StepArguments, inputs: Readonly<Record<string, unknown>>): StepArguments {
  const known = (template: Template) => knownValue(template, { inputs } as Scope);
  return args.form === 'words'
    ? { form: 'words', words: args.words.map(known) }
    : {
        form: 'named',
        values: Object.fromEntries(Object.entries(args.values).map(([name, each]) => [name, known(each)])),
      };
}

function knownValue(template: Template, scope: Scope): Template {
  const read = expressionsIn(template).flatMap(({ references }) => references);
  if (read.some(([root]) => root !== 'inputs')) return template;
  try {
    return { kind: 'constant', value: evaluate(template, scope) };
  } catch {
    // The step reports it.
    return template;
  }
}
