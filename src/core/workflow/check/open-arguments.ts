import type { GivenValue } from '../../registry/input-values.ts';
import { jsonWords } from '../../registry/json-words.ts';
import type { Template } from '../expression/expression.ts';
import type { StepArguments } from '../model.ts';

/** Placeholder for the value of an expression: a character that workflow texts cannot contain. */
const OPEN = '\u{10fffe}';

/** The arguments that a tool would get, with a placeholder for each expression. */
export function openWords(args: StepArguments): string[] {
  if (args.form === 'words') return args.words.map(openText);
  const values = Object.entries(args.values)
    .map(([name, each]) => [name, openValue(each)] as const)
    // An input whose value is null is omitted.
    .filter(([, value]) => value !== null);
  return jsonWords(Object.fromEntries(values));
}

/** The value with placeholders. A list keeps its items; a map that contains an expression becomes a placeholder. */
function openValue(template: Template): unknown {
  switch (template.kind) {
    case 'constant':
      return template.value;
    case 'list':
      return template.items.map(openValue);
    default:
      return OPEN;
  }
}

function openText(template: Template): string {
  switch (template.kind) {
    case 'constant':
      return String(template.value);
    case 'text':
      return template.parts.map((part) => (typeof part === 'string' ? part : OPEN)).join('');
    default:
      return OPEN;
  }
}

/** Whether a value contains a placeholder. */
export function isOpen(given: GivenValue): boolean {
  return ('text' in given ? given.text : (JSON.stringify(given.json) ?? '')).includes(OPEN);
}

/** Replaces placeholders in a message by the source of their expressions. */
export function inTermsOfFile(message: string): string {
  return message.replaceAll(OPEN, '${…}').replace('--input-json names', 'the step gives');
}
