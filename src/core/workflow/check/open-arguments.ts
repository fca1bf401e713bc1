import type { GivenValue } from '../../registry/input-values.ts';
import type { Template } from '../expression/template.ts';
import type { StepArguments } from '../model.ts';

/** Stands for what an expression will give: a character that no text of a file may hold. */
const OPEN = '\u{10fffe}';

/** Arguments as a tool would be given them, with something unknown for each expression. */
export function openWords(args: StepArguments): string[] {
  if (args.form === 'words') return args.words.map(openText);
  const values = Object.entries(args.values)
    .map(([name, each]) => [name, openValue(each)] as const)
    // What is null is not given.
    .filter(([, value]) => value !== null);
  return ['--input-json', JSON.stringify(Object.fromEntries(values))];
}

/** A value, with what is not known of a list item by item; a map that is not wholly known is unknown. */
export function openValue(template: Template): unknown {
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

/** Whether a given value holds something unknown. */
export function isOpen(given: GivenValue): boolean {
  return ('text' in given ? given.text : (JSON.stringify(given.json) ?? '')).includes(OPEN);
}

/** A message about such arguments, in the terms of the file. */
export function inTermsOfFile(message: string): string {
  return message.replaceAll(OPEN, '${…}').replace('--input-json names', 'the step gives');
}
