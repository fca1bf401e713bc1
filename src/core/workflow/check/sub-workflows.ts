import { existsSync, realpathSync } from 'node:fs';
import { LIST_WORKFLOWS } from '../../../protocol/next-steps.ts';
import { MOST_NESTED_WORKFLOWS } from '../../../protocol/workflow-file.ts';
import type { Problem } from '../../config/problem.ts';
import { readInputs } from '../../registry/read-inputs.ts';
import { slowPatternProblems } from '../../registry/slow-patterns.ts';
import { whyOutside, workflowFolders } from '../file/find-workflow.ts';
import { readWorkflow } from '../file/read-workflow.ts';
import { inputSpecsOf, type StepWork } from '../model.ts';
import { allSteps, type CheckedFile, problemAt, type Surroundings, worksOf } from './checked-file.ts';
import { inTermsOfFile, isOpen, openWords } from './open-arguments.ts';

type SubWork = Extract<StepWork, { kind: 'workflow' }> & {
  path: CheckedFile['workflow']['steps'][number]['path'];
};

/** A workflow file that was checked with all that it contains, and the depth of its nesting. */
interface Looked {
  file: CheckedFile | undefined;
  depth: number;
}

/**
 * Checks that each sub-workflow exists, does not contain itself, and gets its inputs. `checkOne` applies the other
 * rules to each of them once.
 */
export async function checkSubWorkflows(
  root: CheckedFile,
  surroundings: Surroundings,
  checkOne: (file: CheckedFile) => Promise<Problem[]>,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const looked = new Map<string, Looked>();

  async function visit(file: CheckedFile, trail: readonly string[]): Promise<number> {
    let depth = 1;
    for (const work of allSteps(file.workflow).flatMap(worksOf)) {
      if (work.kind !== 'workflow') continue;
      const sub = await look(file, work, trail);
      if (sub === undefined) continue;
      depth = Math.max(depth, sub.depth + 1);
      if (sub.file !== undefined) problems.push(...(await inputMistakes(file, work, sub.file, surroundings)));
      if (trail.length + sub.depth > MOST_NESTED_WORKFLOWS && trail.length <= MOST_NESTED_WORKFLOWS) {
        problems.push(tooDeep(file, work));
      }
    }
    return depth;
  }

  async function look(
    file: CheckedFile,
    work: SubWork,
    trail: readonly string[],
  ): Promise<Looked | undefined> {
    const missing = whyNoFile(work.file, surroundings);
    if (missing !== undefined) {
      problems.push(problemAt(file, { path: [...work.path, 'workflow'] }, missing));
      return undefined;
    }
    const real = realpathSync(work.file);
    if (trail.includes(real)) {
      problems.push(inItself(file, work, [...trail.slice(trail.indexOf(real)), real]));
      return undefined;
    }
    const known = looked.get(real);
    if (known !== undefined) return known;
    const read = await readWorkflow(real, { folders: workflowFolders(surroundings.config) });
    problems.push(...read.problems);
    const sub = read.workflow && { workflow: read.workflow, places: read.places };
    if (sub !== undefined) problems.push(...(await checkOne(sub)));
    const isTooDeep = trail.length >= MOST_NESTED_WORKFLOWS;
    const depth = sub === undefined || isTooDeep ? 1 : await visit(sub, [...trail, real]);
    const found = { file: sub, depth };
    looked.set(real, found);
    return found;
  }

  await visit(root, [root.workflow.file]);
  return problems;
}

function whyNoFile(
  path: string,
  { roots }: Surroundings,
): Pick<Problem, 'rule' | 'message' | 'fix' | 'next'> | undefined {
  if (!existsSync(path)) {
    return {
      rule: 'no-workflow-file',
      message: `there is no workflow at ${path}`,
      fix: 'Write a path from the folder of this file, or the name of a workflow from the list.',
      next: [LIST_WORKFLOWS],
    };
  }
  const outside = whyOutside(path, roots);
  return outside && { rule: 'grant-roots', ...outside };
}

function inItself(file: CheckedFile, work: SubWork, trail: readonly string[]): Problem {
  return problemAt(
    file,
    { path: [...work.path, 'workflow'] },
    {
      rule: 'workflow-in-itself',
      message: `a workflow contains itself: ${trail.join(' contains ')}`,
      fix: 'Remove one of these references.',
    },
  );
}

function tooDeep(file: CheckedFile, work: SubWork): Problem {
  return problemAt(
    file,
    { path: [...work.path, 'workflow'] },
    {
      rule: 'workflows-too-deep',
      message: `more than ${MOST_NESTED_WORKFLOWS} workflows are nested here`,
      fix: 'Reduce the nesting.',
    },
  );
}

async function inputMistakes(
  file: CheckedFile,
  work: SubWork,
  { workflow }: CheckedFile,
  { cwd }: Surroundings,
): Promise<Problem[]> {
  const words = openWords({ form: 'named', values: work.inputs });
  const { read, problems } = readInputs(inputSpecsOf(workflow), words, { cwd, open: isOpen });
  return [...problems, ...(await slowPatternProblems(read))].map(({ input, message, fix }) =>
    problemAt(
      file,
      Object.hasOwn(work.inputs, input)
        ? { path: [...work.path, 'inputs', input] }
        : { path: [...work.path, 'workflow'] },
      {
        rule: 'workflow-input',
        message: inTermsOfFile(`${workflow.name}: ${message}`),
        fix: inTermsOfFile(fix),
      },
    ),
  );
}
