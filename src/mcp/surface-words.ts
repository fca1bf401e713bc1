import type { EnvelopeError } from '../compose/envelope.ts';
import { formOfCommand } from '../operations/command-forms.ts';
import { inWordsOf } from '../operations/own-words.ts';
import { nextCall } from './next-calls.ts';

/** A command of ACOR as code, or a flag with its value: ACOR writes no other in an explanation. A text of others has its backticks escaped. */
const SHELL_CODE = /(?<![`\\])`(?:acor ([^`]+)|--([a-z][a-z0-9-]*)( [^`]*)?)`(?!`)/g;

/** An explanation of ACOR in the words of a client that has calls and no command line: a command as the call that does the same, a flag as the parameter. */
function explainedInCalls(text: string): string {
  return inCalls(text).replace(SHELL_CODE, (_, command: string | undefined, flag: string, value = '') =>
    command === undefined ? `\`${parameter(flag)}${value}\`` : callFor(command.split(' ')),
  );
}

/** An error or a warning of ACOR in such words. */
export function inCalls(text: string): string {
  return inWordsOf('calls', text);
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
