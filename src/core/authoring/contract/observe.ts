import { findProgram } from '../../registry/find-program.ts';
import { callProgram } from '../adopt/call-program.ts';
import type { CalledProgram, HelpPlace } from '../adopt/help-place.ts';
import { inTurn } from './in-turn.ts';
import { notStarted, startFailure } from './not-started.ts';
import { fieldsOf, payloadOf } from './printed.ts';
import { structuredFlag } from './structured-flag.ts';
import { type Command, leaves, optionsOf, type Surface } from './surface.ts';

/** Why the audit called the program. */
export type Purpose =
  | 'help'
  | 'version'
  | 'tools'
  | 'tools-again'
  | 'tools-detail'
  | 'health'
  | 'config'
  | 'unknown-option'
  | 'unknown-command'
  | 'unknown-option-structured'
  | 'missing-object'
  | 'read'
  | 'read-again'
  | 'read-structured'
  | 'read-structured-again'
  | 'given'
  | 'given-again';

/** A call that the audit makes. */
export interface PlannedCall {
  purpose: Purpose;
  args: readonly string[];
  /** The command that it is about; null for the program itself. */
  command: Command | null;
}

/** A call, and what the program did. */
export interface Call
  extends PlannedCall,
    Pick<CalledProgram, 'stdout' | 'stderr' | 'rc' | 'signal' | 'trouble'> {
  /** An equal call wrote something else. */
  varies?: true;
}

/** Everything that the checks judge. */
export interface Observed {
  program: string;
  surface: Surface;
  calls: readonly Call[];
  /** There is a program for its configuration beside it: `apt-config` of `apt`. */
  hasConfigProgram: boolean;
}

const NO_OPTION = '--acor-no-such-option';
const NO_WORD = 'acor-no-such-word';
/** How many reading commands are called. */
const MAX_READS = 10;
const CONFIG_WAYS = [
  ['config', 'show'],
  ['config', 'list'],
  ['config', 'view'],
  ['config', '--list'],
];
/** An ordinary terminal's variables: a program that writes colours into a pipe is seen to do so. */
const ORDINARY = { LANG: 'C.UTF-8', TERM: 'xterm-256color', EDITOR: 'false', VISUAL: 'false' };

/** Words that make a reading command last until a person stops it. */
const LASTS = /^(?:watch|follow|tail|top|monitor|attach|serve|shell|repl|dump|export)$/;

/**
 * The calls by which a program is judged. None of them changes anything by what the help says: commands that write or
 * destroy, and those whose effect is unknown, are only called when `allow` names them.
 */
export function planCalls(
  surface: Surface,
  given: readonly (readonly string[])[],
  allow: readonly string[],
): PlannedCall[] {
  const plan: PlannedCall[] = [{ purpose: 'help', args: ['--help'], command: null }];
  const add = (purpose: Purpose, args: readonly string[], command: Command | null = null) =>
    plan.push({ purpose, args, command });
  if (hasVersion(surface)) add('version', ['--version']);
  add('unknown-option', [NO_OPTION]);
  if (surface.commands.length > 0) {
    add('unknown-command', [NO_WORD]);
    add('tools', ['tools']);
    add('tools-again', ['tools']);
    add('health', ['health']);
    for (const way of CONFIG_WAYS) add('config', way);
  }
  const reads = leaves(surface).filter((command) => mayCall(command, allow) && !needsOperand(command));
  for (const command of reads.slice(0, MAX_READS)) {
    add('read', command.words, command);
    add('read-again', command.words, command);
    const flag = structuredFlag(optionsOf(surface, command), command.text);
    if (flag === null) continue;
    add('read-structured', [...command.words, ...flag], command);
    add('read-structured-again', [...command.words, ...flag], command);
  }
  const [first] = reads;
  const flag = first && structuredFlag(optionsOf(surface, first), first.text);
  if (first !== undefined && flag)
    add('unknown-option-structured', [...first.words, ...flag, NO_OPTION], first);
  const needy = leaves(surface).filter((command) => mayCall(command, allow) && needsOperand(command));
  for (const command of needy.slice(0, 2)) add('missing-object', [...command.words, NO_WORD], command);
  for (const args of given) {
    add('given', args, commandOf(surface, args));
    add('given-again', args, commandOf(surface, args));
  }
  return plan;
}

/** The command that arguments begin with. */
export function commandOf({ commands }: Surface, args: readonly string[]): Command | null {
  const named = commands.filter(({ words }) => words.every((word, at) => args[at] === word));
  return named.sort((a, b) => b.words.length - a.words.length)[0] ?? null;
}

/** Makes the planned calls, and those that their answers lead to. Throws E_SPAWN_FAILED when none reached the program. */
export async function observe(
  place: HelpPlace,
  program: string,
  surface: Surface,
  plan: readonly PlannedCall[],
  signal: AbortSignal,
): Promise<Observed> {
  const make = async (planned: PlannedCall): Promise<Call> => {
    signal.throwIfAborted();
    return {
      ...planned,
      ...(await callProgram(place, planned.args, { variables: ORDINARY, mayWrite: true })),
      args: planned.args,
    };
  };
  const calls = await inTurn(plan, make);
  const failure = startFailure(calls);
  if (failure !== undefined) throw notStarted(program, failure);
  const name = firstTool(calls);
  if (name !== undefined)
    calls.push(await make({ purpose: 'tools-detail', args: ['tools', name], command: null }));
  return {
    program,
    surface,
    calls: calls.map((call) => withVariation(call, calls)),
    hasConfigProgram: findProgram(`${program}-config`, { PATH: place.path }) !== undefined,
  };
}

/** Marks a call whose output is not the same each time: its bytes are no evidence that stays. */
function withVariation(call: Call, calls: readonly Call[]): Call {
  const differs = calls.some(
    ({ args, stdout, stderr }) =>
      args.join('\0') === call.args.join('\0') && (stdout !== call.stdout || stderr !== call.stderr),
  );
  return differs ? { ...call, varies: true } : call;
}

/** The calls of some purposes, in the order of the plan. */
export function callsFor({ calls }: Observed, ...purposes: readonly Purpose[]): Call[] {
  return calls.filter(({ purpose }) => purposes.includes(purpose));
}

/** Calls of which the answer is data, each once. */
export function dataCalls(observed: Observed): Call[] {
  return callsFor(observed, 'read', 'read-structured', 'given').filter(
    ({ rc, stdout }) => rc === 0 && stdout.trim() !== '',
  );
}

function firstTool(calls: readonly Call[]): string | undefined {
  const answer = calls.find(({ purpose }) => purpose === 'tools');
  const tools = fieldsOf(payloadOf(answer?.stdout ?? ''))?.['tools'];
  const name = Array.isArray(tools) ? fieldsOf(tools[0])?.['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function mayCall({ words, effect, help }: Command, allow: readonly string[]): boolean {
  if (allow.includes(words.join(' '))) return true;
  return effect === 'reads' && help !== null && !LASTS.test(words.at(-1)!);
}

function needsOperand({ help }: Command): boolean {
  return (
    help !== null &&
    (help.positionals.some((each) => each.isRequired) || help.options.some((each) => each.isRequired))
  );
}

function hasVersion({ root }: Surface): boolean {
  return root?.help.options.some(({ spellings }) => spellings.includes('--version')) === true;
}
