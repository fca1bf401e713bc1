import type { CalledOperation } from '../../core/ports/principal.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { nearest } from '../../util/nearest.ts';
import { COMMANDS, operationOf } from '../command-forms.ts';

const EFFECTS: readonly string[] = ['writes', 'destroys'] satisfies CalledOperation['effect'][];

/**
 * What clients may call besides what only reads, from the words of --http-allow: an effect, an operation, or its
 * command. Throws E_USAGE for another word.
 */
export function allowedBy(words: readonly string[]): (operation: CalledOperation) => boolean {
  const allowed = new Set(words.map((word) => (EFFECTS.includes(word) ? word : nameOf(word))));
  return ({ name, effect }) => effect === 'reads' || allowed.has(effect) || allowed.has(name);
}

function nameOf(word: string): string {
  const operation = operationOf(word);
  if (operation !== undefined) return operation;
  const near = nearest(word, [...EFFECTS, ...COMMANDS]);
  throw new AcorError('E_USAGE', `--http-allow: there is no operation or effect ${JSON.stringify(word)}`, {
    hint: `${near === undefined ? '' : `Did you mean ${near}? `}Use writes, destroys, or a command, such as answer or cancel.`,
  });
}
