import { deprecationOf } from './help-words.ts';
import type { NextStep } from './next-step.ts';
import type { Operation, OperationContext, OperationResult } from './operation.ts';
import { label, parametersOf } from './parameters.ts';

/** The result of a call with warnings of its deprecated command and inputs. */
export function warnOfDeprecated<C>(
  op: Operation<C>,
  result: OperationResult<unknown>,
  ctx: Pick<OperationContext<C>, 'given' | 'note'>,
): OperationResult<unknown> {
  const deprecated = deprecations(op, ctx.given);
  if (deprecated.length === 0) return result;
  const next = op.deprecated === undefined ? [] : [{ command: op.deprecated.use, why: 'It replaces this.' }];
  switch (result.kind) {
    case 'bytes':
    case 'document':
      for (const line of deprecated) ctx.note(line);
      return result;
    case 'events':
      return {
        ...result,
        async ended() {
          const { answer, notes = [], ...end } = await result.ended();
          return { ...end, notes: [...notes, ...deprecated], answer: warned(answer, deprecated, next) };
        },
      };
    default:
      return warned(result, deprecated, next);
  }
}

function deprecations(
  op: Pick<Operation, 'deprecated' | 'input' | 'positionals'>,
  given: ReadonlySet<string> = new Set(),
): string[] {
  const inputs = given.size === 0 ? [] : parametersOf(op);
  return [
    ...(op.deprecated === undefined ? [] : [deprecationOf(op.deprecated)]),
    ...inputs
      .filter(({ key, replacement }) => replacement !== undefined && given.has(key))
      .map((each) => `${label(each)} is deprecated, use ${each.replacement}`),
  ];
}

function warned<R extends { kind: string; warnings?: readonly string[]; next?: readonly NextStep[] }>(
  answer: R,
  warnings: readonly string[],
  next: readonly NextStep[],
): R {
  const all = { ...answer, warnings: [...(answer.warnings ?? []), ...warnings] };
  return answer.kind === 'data' ? { ...all, next: [...(answer.next ?? []), ...next] } : all;
}
