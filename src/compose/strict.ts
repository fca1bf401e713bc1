import * as z from 'zod';
import { AppError } from './app-error.ts';
import type { ErrorTable } from './failure.ts';
import type {
  Answer,
  DataResult,
  Effect,
  Operation,
  OperationContext,
  OperationResult,
  PerformOperation,
} from './operation.ts';
import { parametersOf } from './parameters.ts';

/** One call of an operation, for hooks. */
export interface HookCall<C> {
  operation: string;
  effect: Effect;
  input: Readonly<Record<string, unknown>>;
  app: C;
}

/** Functions around every call, on every surface. */
export interface Hooks<C> {
  /** Before the call. What it throws refuses the call. */
  before?: (call: HookCall<C>) => void | Promise<void>;
  /** After the call; `code` is that of a failure. */
  after?: (
    call: HookCall<C>,
    outcome: { ok: boolean; code?: string; elapsedMs: number },
  ) => void | Promise<void>;
}

const DRY_RUN = ['dry_run', 'dryRun'];

/** The inputs that the kit adds to an operation, by what it declares. */
const KIT_INPUTS = {
  yes: z.boolean().default(false).describe('Do not ask for confirmation at a terminal.'),
  plan: z
    .string()
    .optional()
    .describe('The token of a dry run: the call is refused when it would do something else by now.'),
  idempotency_key: z
    .string()
    .min(1)
    .optional()
    .describe('A repeated call with this key gets the answer of the first one, and does nothing.'),
};

type KitInput = keyof typeof KIT_INPUTS;

/** An operation with the inputs of the kit, and the operation as its author declared it. */
const declaredAs = new WeakMap<Operation<never>, { op: Operation<never>; added: readonly KitInput[] }>();

/**
 * Adds the inputs of the kit: `--yes` where it destroys, `--plan` where it has a dry run, `--idempotency-key` where it
 * changes something and is not idempotent.
 */
export function withKitInputs<C>(op: Operation<C>): Operation<C> {
  if (op.effect === 'reads') return op;
  const isFree = (key: string) => !Object.hasOwn(op.input.shape, key);
  const added: KitInput[] = [
    ...(op.effect === 'destroys' && isFree('yes') ? ['yes' as const] : []),
    ...(dryRunOf(op) !== undefined && isFree('plan') ? ['plan' as const] : []),
    ...(!op.idempotent && isFree('idempotency_key') ? ['idempotency_key' as const] : []),
  ];
  if (added.length === 0) return op;
  const input = op.input.safeExtend(Object.fromEntries(added.map((key) => [key, KIT_INPUTS[key]])));
  const extended: Operation<C> = { ...op, input };
  declaredAs.set(extended as unknown as Operation<never>, { op: op as unknown as Operation<never>, added });
  return extended;
}

/**
 * Performs operations as the kit promises: rate limits hold, hooks are called, a person confirms what destroys, plan tokens
 * and idempotency keys are honoured, and answers fit their schema.
 */
export function strictly<C>(program: ErrorTable, hooks: Hooks<C> = {}): PerformOperation<C> {
  return async (extended, input, ctx) => {
    const { op, own, kit } = parted(extended, input);
    const codeOf = async (thrown: unknown) =>
      (await import('./failure.ts')).toFailure(thrown, program, { signal: ctx.signal, showsStack: false })
        .error.code;
    const result = await hooked(
      hooks,
      codeOf,
      { operation: op.name, effect: op.effect, input: own, app: ctx.app },
      async () => {
        if (op.rateLimit !== null) {
          const [{ limitRate }, { stateFolder }] = await Promise.all([
            import('./limit-rate.ts'),
            import('./state-folder.ts'),
          ]);
          await limitRate(stateFolder(program.name, 'rates', ctx.env), op.name, op.rateLimit);
        }
        return run(program.name, op, own, kit, ctx);
      },
    );
    if (op.deprecated === undefined && parametersOf(op).every(({ replacement }) => replacement === undefined))
      return result;
    const { warnOfDeprecated } = await import('./deprecation.ts');
    return warnOfDeprecated(op, result, ctx);
  };
}

/** Performs a call between the hooks. That of events ends with the events. `after` gets the code of the answer, once. */
async function hooked<C>(
  { before, after }: Hooks<C>,
  codeOf: (thrown: unknown) => Promise<string>,
  call: HookCall<C>,
  perform: () => Promise<OperationResult<unknown>>,
): Promise<OperationResult<unknown>> {
  await before?.(call);
  const startedAt = performance.now();
  const end = async (failed?: { thrown: unknown }) =>
    after?.(call, {
      ok: failed === undefined,
      ...(failed !== undefined && { code: await codeOf(failed.thrown) }),
      elapsedMs: performance.now() - startedAt,
    });
  const orEnd = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      await end({ thrown });
      throw thrown;
    }
  };
  const endAs = (answer: OperationResult<unknown>) =>
    end(answer.kind === 'failure' ? { thrown: answer.error } : undefined);
  const result = await orEnd(perform);
  if (result.kind === 'events')
    return {
      ...result,
      async ended() {
        const ended = await orEnd(() => result.ended());
        await endAs(ended.answer);
        return ended;
      },
    };
  await endAs(result);
  return result;
}

interface KitValues {
  yes?: boolean;
  plan?: string;
  idempotency_key?: string;
}

function parted<C>(
  extended: Operation<C>,
  input: Record<string, unknown>,
): { op: Operation<C>; own: Record<string, unknown>; kit: KitValues } {
  const found = declaredAs.get(extended as unknown as Operation<never>);
  if (found === undefined) return { op: extended, own: input, kit: {} };
  const entries = Object.entries(input);
  const isAdded = ([key]: [string, unknown]) => found.added.some((each) => each === key);
  return {
    op: found.op as unknown as Operation<C>,
    own: Object.fromEntries(entries.filter((entry) => !isAdded(entry))),
    kit: Object.fromEntries(entries.filter(isAdded)) as KitValues,
  };
}

async function run<C>(
  program: string,
  op: Operation<C>,
  input: Record<string, unknown>,
  { yes = false, plan, idempotency_key: key }: KitValues,
  ctx: OperationContext<C>,
): Promise<OperationResult<unknown>> {
  const dryRun = dryRunOf(op);
  const isDry = dryRun !== undefined && input[dryRun] === true;
  if (op.effect === 'destroys' && !isDry && !yes && plan === undefined) await confirm(op, ctx);
  if (dryRun === undefined || (plan === undefined && !isDry)) return perform();
  const planned = await checked(op, await op.run({ ...input, [dryRun]: true }, ctx));
  if (planned.kind !== 'data') return planned;
  const { digestOf } = await import('./digest-of.ts');
  const rest = { ...input, [dryRun]: undefined };
  const token = digestOf([op.name, rest, planned.data]).slice(0, 16);
  if (isDry)
    return { ...planned, plan: token, next: [...(planned.next ?? []), ...planStep(op, input, token, ctx)] };
  if (plan === token) return perform();
  throw new AppError('E_CONFLICT', `${op.name} would do something else than the plan ${plan} says`, {
    hint: `Look at what it would do now (--dry-run), then pass --plan ${token}`,
    details: { plan: token, would: planned.data },
  });

  async function perform(): Promise<OperationResult<unknown>> {
    if (key === undefined || isDry) return checked(op, await op.run(input, ctx));
    const [{ once }, { stateFolder }] = await Promise.all([import('./once.ts'), import('./state-folder.ts')]);
    const folder = stateFolder(program, 'keys', ctx.env);
    const { answer, isRepeated } = await once(
      folder,
      { operation: op.name, key, input },
      async () => checked(op, await op.run(input, ctx)),
      ({ kind }) => kind === 'data' || kind === 'document',
    );
    if (!isRepeated || answer.kind !== 'data') return answer;
    const warning = `nothing was done: this is the answer of the first call with the key '${key}'`;
    return { ...answer, warnings: [...(answer.warnings ?? []), warning] };
  }
}

/** The call that does what the plan says; none where a value must not be on a command line. */
function planStep<C>(
  op: Operation<C>,
  input: Record<string, unknown>,
  plan: string,
  { given = new Set() }: OperationContext<C>,
): DataResult<unknown>['next'] & object {
  const parameters = parametersOf(op).filter(({ key }) => given.has(key) && !DRY_RUN.includes(key));
  if (parameters.some(({ isSecret }) => isSecret)) return [];
  const again = Object.fromEntries(parameters.map(({ key }) => [key, input[key]]));
  return [{ operation: op.name, input: { ...again, plan }, why: 'Do exactly this.' }];
}

async function confirm<C>(op: Operation<C>, { person }: OperationContext<C>): Promise<void> {
  if (person === null) return;
  const typed = await person.askForText([op.summary], 'This cannot be undone. Type yes to go on');
  if (/^y(es)?$/i.test(typed)) return;
  throw new AppError('E_CANCELLED', 'nothing was done: it was not confirmed', {
    hint: 'To confirm beforehand, add --yes',
  });
}

async function checked<C>(
  op: Operation<C>,
  result: OperationResult<unknown>,
): Promise<OperationResult<unknown>> {
  switch (result.kind) {
    case 'data':
    case 'failure':
      return checkedAnswer(op, result);
    case 'document':
      return { ...result, ...(await checkedData(op, result.data)) };
    case 'events':
      return {
        ...result,
        async ended() {
          const end = await result.ended();
          return { ...end, answer: await checkedAnswer(op, end.answer) };
        },
      };
    default:
      return result;
  }
}

async function checkedAnswer<C>(op: Operation<C>, answer: Answer<unknown>): Promise<Answer<unknown>> {
  if (answer.kind === 'failure') return answer;
  const { data, warnings } = await checkedData(op, answer.data);
  return { ...answer, data, warnings: [...(answer.warnings ?? []), ...(warnings ?? [])] };
}

/** The declared fields of data. Where the schema refuses them a reading operation fails; the work of others is done. */
async function checkedData<C>(
  op: Operation<C>,
  data: unknown,
): Promise<{ data: unknown; warnings?: readonly string[] }> {
  const read = await op.output.safeParseAsync(data);
  if (read.success) return { data: read.data };
  const [issue] = read.error.issues;
  const where = issue?.path.join('.') || 'data';
  const wrong = `the answer of ${op.name} does not fit its output schema: ${where}: ${issue?.message}`;
  if (op.effect !== 'reads') return { data, warnings: [wrong] };
  throw new AppError('E_RESULT_INVALID', wrong);
}

/** The input that asks for a dry run. */
export function dryRunOf(op: Pick<Operation, 'input'>): string | undefined {
  return DRY_RUN.find((key) => Object.hasOwn(op.input.shape, key));
}
