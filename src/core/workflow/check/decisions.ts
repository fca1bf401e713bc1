import type { Problem } from '../../config/problem.ts';
import { checkOfAnswers } from '../../run/answers/question.ts';
import { allSteps, type Check, type CheckedFile, problemAt, worksOf } from './checked-file.ts';

type Decision = Extract<ReturnType<typeof worksOf>[number], { kind: 'decision' }>;

/**
 * Checks that a decision can be answered: its options are distinct, its schema is valid, and its default is a valid
 * answer.
 */
export const checkDecisions: Check = async (file) => {
  const problems: Problem[] = [];
  for (const work of allSteps(file.workflow).flatMap(worksOf))
    if (work.kind === 'decision') problems.push(...(await mistakesOf(file, work)));
  return problems;
};

async function mistakesOf(file: CheckedFile, decision: Decision): Promise<Problem[]> {
  const { path, name, options, schema } = decision;
  const problems: Problem[] = [];
  const ids = new Set<string>();
  for (const [index, { id }] of options.entries()) {
    if (ids.has(id)) {
      problems.push(
        problemAt(
          file,
          { path: [...path, 'options', index, 'id'] },
          {
            rule: 'duplicate-option',
            message: `'${name}' has the option '${id}' twice`,
            fix: 'Remove one of them.',
          },
        ),
      );
    }
    ids.add(id);
  }
  const whyNoSchema = schema === undefined ? undefined : await schemaMistake(schema);
  if (whyNoSchema !== undefined) {
    problems.push(
      problemAt(
        file,
        { path: [...path, 'schema'] },
        {
          rule: 'answer-schema',
          message: `the schema of '${name}' is not a valid JSON Schema: ${whyNoSchema}`,
          fix: 'Correct the schema.',
        },
      ),
    );
  } else if (decision.default !== undefined) {
    const check = await checkOfAnswers({
      options: options.map(({ id }) => ({ id })),
      schema,
      actionId: name,
    });
    const why = check(decision.default);
    if (why !== undefined) {
      problems.push(
        problemAt(
          file,
          { path: [...path, 'default'] },
          {
            rule: 'default-answer',
            message: `the default of '${name}' is not a valid answer: ${why}`,
            fix: 'Write a default that is one of the options or fits the schema.',
          },
        ),
      );
    }
  }
  return problems;
}

async function schemaMistake(schema: object): Promise<string | undefined> {
  const { whyUnusable } = await import('../../registry/schema-check.ts');
  return whyUnusable({ ...schema });
}
