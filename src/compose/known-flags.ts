import * as z from 'zod';
import { type UsageProblem, usageError } from './app-error.ts';
import { describeIssue, PLAIN_WORDS } from './describe-issue.ts';
import { looksLikeFlag } from './flags.ts';
import { readValue } from './input.ts';
import { matchFlag } from './match-flag.ts';
import type { OperationDescription } from './operation.ts';
import { label, type Parameter, type Parametrized, parametersOf } from './parameters.ts';

/** An operation's own flags found among passed-through arguments, and the arguments that remain. */
export interface KnownFlags<I extends z.ZodObject> {
  values: Partial<z.output<I>>;
  rest: string[];
}

/**
 * Extracts the operation's own flags from passed-through arguments, up to the first `--`, which is dropped. A flag
 * whose name (without dashes) is reserved stays, because the called tool declares it. Defaults are not applied.
 */
export function takeKnownFlags<I extends z.ZodObject>(
  op: Pick<OperationDescription<I>, 'example' | keyof Parametrized>,
  args: readonly string[],
  isReserved: (flag: string) => boolean,
): KnownFlags<I> {
  const flags = parametersOf(op).filter((each) => !each.isPositional);
  const texts = new Map<Parameter, (string | boolean)[]>();
  const problems: UsageProblem[] = [];
  const rest: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === '--') {
      rest.push(...args.slice(index + 1));
      break;
    }
    const flag = matchFlag(flags, arg, isReserved);
    if (flag === undefined) {
      rest.push(arg);
      continue;
    }
    const text = flag.text ?? args[++index];
    if (text === undefined || (flag.text === undefined && looksLikeFlag(String(text)))) {
      problems.push({ parameter: label(flag.parameter), message: `${label(flag.parameter)} needs a value` });
      continue;
    }
    const before = texts.get(flag.parameter) ?? [];
    texts.set(flag.parameter, [...before, text]);
  }
  const values = readAll(texts, problems);
  if (problems.length > 0) throw usageError(problems, op.example.split(/\s/, 2).join(' '), op.example);
  return { values: values as Partial<z.output<I>>, rest };
}

function readAll(
  texts: ReadonlyMap<Parameter, (string | boolean)[]>,
  problems: UsageProblem[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [parameter, given] of texts) {
    const where = label(parameter);
    if (given.length > 1 && !parameter.isArray) {
      problems.push({ parameter: where, message: `${where} is repeated; it takes one value` });
      continue;
    }
    const read = given.map((text) =>
      typeof text === 'boolean' ? { value: text } : readValue(parameter, text),
    );
    const broken = read.flatMap((each) => ('problem' in each ? [each.problem] : []));
    problems.push(...broken);
    if (broken.length > 0) continue;
    const list = read.map((each) => ('value' in each ? each.value : undefined));
    const value = parameter.isArray ? list : list[0];
    const checked = z.safeParse(parameter.schema, value, PLAIN_WORDS);
    if (checked.success) values[parameter.key] = checked.data;
    for (const issue of checked.error?.issues ?? []) {
      const path = [parameter.key, ...issue.path];
      problems.push(describeIssue({ ...issue, path }, [parameter], { [parameter.key]: value }));
    }
  }
  return values;
}
