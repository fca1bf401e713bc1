import { resolve } from 'node:path';
import type { OperationContext } from '../../compose/operation.ts';
import { problemText } from '../../core/config/problem.ts';
import type { PreparedAnswer } from '../../core/ports/run-launcher.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import type { AcorApp } from '../acor-app.ts';
import { exactAnswer } from './exact-answer.ts';

/**
 * The answers that a caller gives in advance. Those of `--answer ACTION=VALUE` override those of the file. Throws E_POLICY_DENIED for a caller
 * who may not answer a run of their own.
 */
export async function preparedAnswers(
  { answer: given, answers: file }: { answer: readonly string[]; answers?: string | undefined },
  { app, cwd }: Pick<OperationContext<AcorApp>, 'app' | 'cwd'>,
): Promise<PreparedAnswer[]> {
  if (given.length === 0 && file === undefined) return [];
  await app.authorizeOwnAnswers();
  const { name: by } = app.principal;
  const fromFlags = given.map((text) => {
    const equals = text.indexOf('=');
    const action = text.slice(0, equals);
    if (equals > 0) return beforehand(action, jsonOrText(text.slice(equals + 1), `--answer ${action}`), by);
    throw new AcorError('E_USAGE', `--answer ${text}: must be ACTION=VALUE`, {
      hint: `For example: --answer choose_strategy=strict, or --answer 'limits={"rows":10}'`,
    });
  });
  return [...fromFlags, ...(file === undefined ? [] : await answersOfFile(resolve(cwd, file), by))];
}

async function answersOfFile(path: string, by: string): Promise<PreparedAnswer[]> {
  const { readYamlFile } = await import('../../core/config/yaml-file.ts');
  const { inexactNumbers } = await import('../../core/config/inexact-numbers.ts');
  const yaml = await readYamlFile(path);
  const { value: answers } = yaml;
  const problems = [...yaml.problems, ...inexactNumbers(yaml, [], answers)];
  if (problems.length > 0) {
    throw new AcorError('E_USAGE', `--answers: ${problemText(problems[0]!)}`, {
      hint: problems[0]!.fix,
      details: { problems },
    });
  }
  if (typeof answers === 'object' && answers !== null && !Array.isArray(answers)) {
    return Object.entries(answers).map(([action, answer]) => beforehand(action, answer, by));
  }
  throw new AcorError('E_USAGE', `--answers ${path} must map actions to answers`, {
    hint: 'For example: {"choose_strategy": "strict"}',
  });
}

function beforehand(action: string, answer: unknown, by: string): PreparedAnswer {
  return { action, answer, by, source: 'beforehand' };
}

function jsonOrText(text: string, source: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return exactAnswer(value, text, source);
}
