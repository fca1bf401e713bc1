import { brokenBy, type Check, evidenceOf, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { type Call, callsFor, type Observed } from '../observe.ts';
import { printed } from '../printed.ts';
import { structuredFlag } from '../structured-flag.ts';
import { type Command, leaves, optionsOf } from '../surface.ts';

const HALF = 0.5;
/** Fewer reading commands say little about the whole program. */
const FEW = 3;
/** The text is the product: a patch, a file, what another program has written. */
const TEXT_PRODUCTS = /^(?:diff|logs|cat|dump|blame|explain|help|help-search|man)$/;

/** A call that named a group of commands got its help. */
const HELP = /^usage\b/im;

/** How a reading command prints data: as JSON by itself, behind a flag, or only as text. */
type Form = 'default' | 'flag' | 'text';

export const structuredOutput: Check = {
  rule: 'structured-output',
  judge(observed) {
    const { surface } = observed;
    const readers = leaves(surface).filter(({ effect, help }) => effect === 'reads' && help !== null);
    const given = callsFor(observed, 'given').filter(
      ({ rc, stdout }) => rc === 0 && stdout.trim() !== '' && !HELP.test(stdout),
    );
    const forms = readers
      .map((command) => ({ command, form: formOf(observed, command) }))
      .filter(({ command }) => !TEXT_PRODUCTS.test(command.words.at(-1)!) || hasOwnFlag(command));
    if (forms.length === 0) return judgeGiven(observed, given);
    const text = forms.filter(({ form }) => form === 'text').map(({ command }) => command);
    const flagged = forms.filter(({ form }) => form === 'flag').map(({ command }) => command);
    const isNowhere = text.length === forms.length;
    return brokenBy([
      text.length === 0
        ? undefined
        : finding({
            rule: 'structured-output',
            severity:
              isNowhere && forms.length >= FEW
                ? 'critical'
                : isNowhere || text.length > forms.length * HALF
                  ? 'high'
                  : 'medium',
            message: `${text.length} of ${forms.length} reading commands print only text: ${namesOf(text).join(', ')}`,
            commands: namesOf(text),
            evidence: evidenceFor(observed, text),
            fix: 'Print {ok, data, meta} as one line of JSON when stdout is no terminal.',
            surface: namesOf(text).map((command) => ({
              change: 'change' as const,
              command,
              what: 'print the envelope',
              breaks: true,
            })),
          }),
      flagged.length === 0
        ? undefined
        : finding({
            rule: 'structured-output',
            severity: 'medium',
            message: `${flagged.length} of ${forms.length} reading commands print JSON only when a flag asks for it: ${namesOf(flagged).join(', ')}`,
            commands: namesOf(flagged),
            evidence: evidenceFor(observed, flagged),
            fix: 'Print JSON by default when stdout is no terminal, and keep the flag for terminals.',
            surface: namesOf(flagged).map((command) => ({
              change: 'change' as const,
              command,
              what: 'print JSON without a flag',
              breaks: true,
            })),
          }),
    ]);
  },
};

/** A program without reading commands is judged by the calls that the caller named. */
function judgeGiven({ program, surface }: Observed, given: readonly Call[]) {
  if (given.length === 0) return notJudged('no reading command is known; name a call with --call');
  const hasFlag = structuredFlag(optionsOf(surface), surface.root?.text ?? '') !== null;
  const text = given.filter(({ stdout }) => ['text', 'mixed'].includes(printed(stdout).kind));
  return brokenBy([
    text.length === 0
      ? undefined
      : finding({
          rule: 'structured-output',
          severity: hasFlag ? 'medium' : text.length === given.length ? 'critical' : 'high',
          message: `${text.length} of ${given.length} named calls print only text${hasFlag ? ' unless a flag asks for JSON' : ''}`,
          commands: text.map(({ args }) => nameOf(args)),
          evidence: text.map((call) => evidenceOf(program, call, 'stdout')),
          fix: 'Print {ok, data, meta} as one line of JSON when stdout is no terminal.',
        }),
  ]);
}

function formOf(observed: Observed, command: Command): Form {
  const isOf = (call: Call) => call.command === command;
  const plain = callsFor(observed, 'read', 'given').filter(isOf);
  if (plain.some(({ stdout }) => ['json', 'jsonl'].includes(printed(stdout).kind))) return 'default';
  // A command that could not be called is judged by the errors of the program: who prints JSON for them prints it for data.
  const errors = callsFor(observed, 'unknown-option', 'missing-object');
  const isCalled = plain.some(({ rc, stdout }) => rc === 0 && stdout.trim() !== '');
  if (!isCalled && errors.some(({ stdout }) => printed(stdout).kind === 'json')) return 'default';
  if (structuredFlag(optionsOf(observed.surface, command), command.text) === null) return 'text';
  const asked = callsFor(observed, 'read-structured').filter(isOf);
  // A global --json may be ignored by some commands.
  return asked.some(({ rc, stdout }) => rc === 0 && printed(stdout).kind === 'text') ? 'text' : 'flag';
}

/** A flag of its own, not one that every command of the program takes. */
function hasOwnFlag({ help, text }: Command): boolean {
  return help !== null && structuredFlag(help.options, text) !== null;
}

function evidenceFor(observed: Observed, commands: readonly Command[]) {
  return commands.map((command) => {
    const call = callsFor(observed, 'read').find(
      (each) => each.command === command && each.rc === 0 && each.stdout !== '',
    );
    return call === undefined
      ? helpEvidence(observed.surface, command.words, command.text)
      : evidenceOf(observed.program, call, 'stdout');
  });
}

function namesOf(commands: readonly Command[]): string[] {
  return commands.map(({ words }) => nameOf(words));
}
