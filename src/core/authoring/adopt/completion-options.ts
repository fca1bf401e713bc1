import type { FoundOption } from './help-shape.ts';

/** A word of a shell: runs of characters, quoted or not. */
const WORD = /(?:[^\s'"\\]|\\.|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")+/g;
const MAX_LINE = 2000;
const ZSH_SPEC =
  /^(?:\([^)]*\))?(\*)?(?:\{(-[^}]*)\}|(--?[A-Za-z0-9][\w-]*))([=+-]{0,2})\[((?:[^\]\\]|\\.)*)\](:.*)?$/;

/** The options in the completion of fish: `complete -c git -n '…' -s n -l max-count -x -d 'Limit …'`. */
export function fishOptions(text: string, words: readonly string[]): FoundOption[] {
  const [program, ...subcommand] = words;
  const found: FoundOption[] = [];
  for (const line of linesOf(text)) {
    if (!/^\s*complete /.test(line)) continue;
    const given = fishArguments(line);
    const of = (short: string, long: string) => [...(given.get(short) ?? []), ...(given.get(long) ?? [])];
    if (!of('-c', '--command').includes(program!)) continue;
    if (!isFor(of('-n', '--condition').join(' '), subcommand)) continue;
    const spellings = [
      ...of('-s', '--short-option').map((each) => `-${each}`),
      ...of('-o', '--old-option').map((each) => `-${each}`),
      ...of('-l', '--long-option').map((each) => `--${each}`),
    ];
    const takesValue = given.has('-r') || given.has('-x') || given.has('--require-parameter');
    const description = of('-d', '--description').join(' ');
    if (spellings.length > 0) found.push(optionOf(spellings, takesValue, !takesValue, description));
  }
  return found;
}

/** A condition names the subcommand to which a line belongs. */
function isFor(condition: string, subcommand: readonly string[]): boolean {
  const [, named] = /(?:using_command|seen_subcommand_from)([^;&|]*)/.exec(condition) ?? [];
  if (subcommand.length === 0) return named === undefined && !/needs_command|use_subcommand/.test(condition);
  return subcommand.length === 1 && named !== undefined && named.split(/\s+/).includes(subcommand[0]!);
}

const FISH_WITH_VALUE =
  /^(?:-[cnsolda]|--(?:command|condition|short-option|old-option|long-option|description|arguments))$/;

function fishArguments(line: string): Map<string, string[]> {
  const given = new Map<string, string[]>();
  const words = wordsOf(line).flatMap((word) =>
    // `-xa '(…)'` is -x and -a.
    /^-[a-zA-Z]{2,}$/.test(word) ? [...word.slice(1)].map((letter) => `-${letter}`) : [word],
  );
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!;
    const value = FISH_WITH_VALUE.test(word) ? words[++at] : undefined;
    given.set(word, [...(given.get(word) ?? []), ...(value === undefined ? [] : [value])]);
  }
  return given;
}

/** The options in the completion of zsh: `'*'{-H,--header}'[Pass headers]:header:'`. */
export function zshOptions(text: string): FoundOption[] {
  return linesOf(text).flatMap((line) =>
    wordsOf(line).flatMap((word) => {
      const [, star, several, one, sign, description, value] = ZSH_SPEC.exec(word) ?? [];
      if (description === undefined) return [];
      const spellings = (several?.split(',') ?? [one!]).map((each) => each.replace(/[=+]+$/, ''));
      const option = optionOf(spellings, value !== undefined, false, description.replace(/\\(.)/g, '$1'));
      if (option.value !== null) option.value.isJoined = /=/.test(sign!) || /=/.test(several ?? '');
      return [{ ...option, repeats: star !== undefined && option.value !== null }];
    }),
  );
}

/** The long options that the completion of bash names, and no more than that. */
export function bashOptions(text: string): FoundOption[] {
  const names = new Map<string, boolean>();
  for (const line of linesOf(text)) {
    if (/^\s*#/.test(line)) continue;
    for (const [, name, sign] of line.matchAll(/(?<![\w$-])(--[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(=?)(?![\w-])/g))
      names.set(name!, names.get(name!) === true || sign === '=');
  }
  return [...names].map(([name, takesValue]) => {
    const option = optionOf([name], takesValue, !takesValue, '');
    if (option.value !== null) option.value.isJoined = true;
    return option;
  });
}

function optionOf(
  spellings: string[],
  takesValue: boolean,
  isValueUnknown: boolean,
  text: string,
): FoundOption {
  return {
    spellings,
    negations: [],
    value: takesValue ? { name: 'VALUE', isOptional: false, isJoined: false } : null,
    repeats: false,
    isRequired: false,
    text,
    isValueUnknown,
  };
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.length <= MAX_LINE);
}

function wordsOf(line: string): string[] {
  return (line.match(WORD) ?? []).map((word) =>
    word.replace(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g, (_whole, single, double) => single ?? double),
  );
}
