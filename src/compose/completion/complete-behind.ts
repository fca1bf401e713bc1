import type { CalleeInput } from '../forwarded-command.ts';
import { globalBehind } from '../globals.ts';
import type { Operation } from '../operation.ts';
import type { Parameter } from '../parameters.ts';
import { type Completion, globalFlags, ownFlags, prefixed, words } from './candidates.ts';

/** The arguments of a called program up to the cursor, and a function that completes the command's own flags. */
export interface ForwardedArgs {
  /** The called program. */
  name: string;
  behind: readonly string[];
  typed: string;
  flags: readonly Parameter[];
  ask: (parameter: Parameter) => Promise<Completion>;
}

/** Completes the arguments of a called program: its own inputs first, then this program's flags. */
export async function completeBehind<C>(
  op: Operation<C>,
  { name, behind, typed, flags, ask }: ForwardedArgs,
  open: () => Promise<C>,
): Promise<Completion> {
  const callee = await op.callee?.(name, await open()).catch(() => undefined);
  const inputs = callee?.inputs ?? [];
  const isTheirs = behind.includes('--');
  const last = behind.at(-1) ?? '';
  const input = inputs.find((each) => !each.isPositional && [each.label, each.short].includes(last));
  if (input !== undefined && !input.isSwitch) return inputValues(input);
  if (!isTheirs) {
    const own = flags.find((each) => `--${each.flag}` === last && each.kind !== 'boolean');
    if (own !== undefined) return ask(own);
  }
  const inline = /^(--?[^=]+)=/.exec(typed);
  const written = inputs.find((each) => each.label === inline?.[1]);
  if (written !== undefined) return prefixed(inputValues(written), `${written.label}=`);
  const mine = isTheirs ? undefined : flags.find((each) => `--${each.flag}` === inline?.[1]);
  if (mine !== undefined) return prefixed(await ask(mine), `--${mine.flag}=`);
  if (typed.startsWith('-')) {
    const theirs = inputs
      .filter((each) => !each.isPositional && (each.isRepeatable || !behind.includes(each.label)))
      .map(({ label, description }) => ({ value: label, about: description }));
    if (isTheirs) return words(theirs);
    const globals = globalFlags(flags).filter(({ value }) => globalBehind(value) !== undefined);
    return words([...theirs, ...ownFlags(flags, new Map()), ...globals]);
  }
  const place = inputs.find((each) => each.isPositional);
  if (place !== undefined) return inputValues(place);
  return { candidates: [], files: callee?.inputs === null };
}

function inputValues({ choices, isPath }: CalleeInput): Completion {
  return { candidates: choices.map((value) => ({ value, about: '' })), files: isPath };
}
