import type { Problem } from '../../config/problem.ts';
import type { SchemaMistake } from '../../registry/schema-check.ts';
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
  const mistake = schema === undefined ? undefined : await mistakeIn(schema);
  if (mistake !== undefined) {
    problems.push(
      problemAt(
        file,
        { path: [...path, 'schema', ...mistake.path] },
        {
          rule: 'answer-schema',
          message: `the schema of '${name}' is not a valid JSON Schema: ${mistake.why}`,
          fix: mistake.fix,
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

async function mistakeIn(schema: object): Promise<SchemaMistake | undefined> {
  const { schemaMistake } = await import('../../registry/schema-check.ts');
  return schemaMistake({ ...schema });
}
