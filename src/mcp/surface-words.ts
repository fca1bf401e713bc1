import type { EnvelopeError } from '../compose/envelope.ts';
import { formOfCommand } from '../operations/command-forms.ts';
import { nextCall } from './next-calls.ts';

/** A command of ACOR as code, or a flag with its value: ACOR writes no other in an explanation. A text of others has its backticks escaped. */
const SHELL_CODE = /(?<![`\\])`(?:acor ([^`]+)|--([a-z][a-z0-9-]*)( [^`]*)?)`(?!`)/g;

/** An explanation of ACOR in the words of a client that has calls and no command line: a command as the call that does the same, a flag as the parameter. */
function explainedInCalls(text: string): string {
  return inCalls(text).replace(SHELL_CODE, (_, command: string | undefined, flag: string, value = '') =>
    command === undefined ? `\`${parameter(flag)}${value}\`` : callFor(command.split(' ')),
  );
}

/**
 * What ACOR's own errors and warnings say of flags and commands, and the same for such a client. Each is a part that ACOR writes itself: the rest of
 * a text may be a value, a path or the words of a tool, and remains as it is.
 */
export const OWN_WORDS: Readonly<Record<string, string>> = {
  'longer timeout (--timeout 3600, in seconds)': 'longer timeout (timeout 3600, in seconds)',
  'If a repeat is harmless, add --force': 'If a repeat is harmless, add force',
  'If a repeat is harmless, resume the workflow with --force':
    'If a repeat is harmless, resume the workflow with force',
  'start a new run, or add --force': 'start a new run, or add force',
  'Resume it with --force only if': 'Resume it with force only if',
  'Run it with --dry-run: the output has the plan, and the command with its token':
    'Run it with dry_run: the answer has the plan, and the call with its token',
  'Run it with --dry-run again': 'Run it with dry_run again',
  'new run: with --dry-run first': 'new run: with dry_run first',
  'in time, or beforehand: --answer ': 'in time, or beforehand, in the answers of acor_run: ',
  '--top-level and --parent exclude': 'top_level and parent exclude',
  'To run the tool: acor run ': 'To run the tool: acor_run ',
  'To read and trust them: acor trust': 'To read and trust them, at a terminal: acor trust',
  // A client cannot change the environment of its server.
  'Set it, then run again: export ':
    'The user sets it in the environment of this server, and starts the server again: ',
};

/** An error or a warning of ACOR in such words. */
export function inCalls(text: string): string {
  return Object.entries(OWN_WORDS).reduce((said, [own, call]) => said.replaceAll(own, () => call), text);
}

/** The parts of an explanation, as `system.explain` returns it. */
export interface Explanation {
  /** Null for the overview, which names the topics. */
  topic: string | null;
  sections: readonly { heading: string; text: string }[];
  topics: readonly { name: string; about: string }[];
}

/** An explanation in such words. */
export function explanationInCalls(data: unknown): Explanation {
  const { sections, ...rest } = data as Explanation;
  return { ...rest, sections: sections.map((each) => ({ ...each, text: explainedInCalls(each.text) })) };
}

/** An explanation as a Markdown document. */
export function explanationText({ topic, sections, topics }: Explanation): string {
  const more = topics.map(({ name, about }) => `- ${name}: ${about}`).join('\n');
  const parts = topic === null ? [...sections, { heading: 'Topics', text: more }] : sections;
  return parts.map(({ heading, text }) => `## ${heading}\n\n${text}`).join('\n\n');
}

/** An error in such words. The message of a run is its tool's own. */
export function errorInCalls(error: EnvelopeError, isOfRun: boolean): EnvelopeError {
  const { message, hint } = error;
  return { ...error, message: isOfRun ? message : inCalls(message), hint: inCalls(hint) };
}

/** The call for a command, as code. What has no call here is for a person at a terminal. */
function callFor(words: readonly string[]): string {
  const form = formOfCommand(words);
  if (form === undefined) return atTerminal(words);
  const input = inputOf(form, words.slice(form.command.split(' ').length));
  const call = nextCall({ operation: form.operation, input, why: '' });
  if (call === undefined || !('tool' in call)) return atTerminal(words);
  return `\`${call.tool} ${JSON.stringify(call.arguments)}\``;
}

function atTerminal(words: readonly string[]): string {
  return `(at a terminal: \`acor ${words.join(' ')}\`)`;
}

function inputOf(
  { positionals = [], passthrough }: NonNullable<ReturnType<typeof formOfCommand>>,
  words: readonly string[],
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const places = [...positionals];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    const value = words[at + 1];
    if (word === '…') continue;
    if (!word.startsWith('--')) {
      const place = places.shift();
      if (place !== undefined) input[place] = word;
    } else if (
      passthrough !== undefined &&
      !/^--(?:dry-run|detach|idempotency-key|timeout|retries)$/.test(word)
    ) {
      // What follows is for the called program.
      break;
    } else if (value === undefined || value.startsWith('--') || value === '…') {
      input[parameter(word.slice(2))] = true;
    } else {
      const name = parameter(word.slice(2));
      input[name] = name in input ? [input[name], value].flat() : value;
      at++;
    }
  }
  return input;
}

function parameter(flag: string): string {
  return flag.replaceAll('-', '_');
}
