import { type InputType, isOfType } from '../../../protocol/input-types.ts';
import type { FoundOption } from './help-shape.ts';
import { isMetavar, typeOfWord } from './value-words.ts';

/** The type of an option's value. `doubts` lists guesses. */
export interface ValueType {
  type: InputType;
  enum?: string[];
  default?: string | number | boolean;
  doubts: string[];
}

const WORD = /^[A-Za-z0-9][\w.+-]*$/;
/** Value names that do not imply a type. */
const GENERAL = /^(?:string|strings|list|str|val|value|arg|text)$/i;
/** Words for the program's behaviour without the option. They are not values. */
const NO_VALUE =
  /^(?:none|null|undefined|nil|unset|auto-?detect(?:ed)?|stdin|stdout|current|varies|see|the|is|not|off by default|unlimited|\[\])$/i;

/** Derives the type of an option from its value's name, then its own name, then its description. */
export function valueTypeOf(option: FoundOption): ValueType {
  // The prose of a further source names some of the values, and not as a help text lists them.
  const text = option.source === undefined ? option.text : '';
  const value = option.value ?? unsaidValue(text);
  if (value === null) {
    const isOn = /[[(]default:? *=?"?true"?[\])]|^default: true|type: boolean default: true/i.test(text);
    return { type: 'bool', ...(isOn && { default: true }), doubts: [] };
  }
  const doubts: string[] = [];
  const choices = choicesOf(value.name, text);
  const type = choices === undefined ? plainType({ ...option, value, text }, doubts) : 'string';
  const fallback = defaultOf(text, type, choices);
  if (
    type === 'string' &&
    choices === undefined &&
    GENERAL.test(value.name.replace(/[<>]/g, '')) &&
    /^\d+$/.test(String(fallback)) &&
    !/\[string\]/.test(text)
  ) {
    doubts.push('assumed to be a number because of its default');
    return { type: 'int', default: Number(fallback), doubts };
  }
  return {
    type,
    ...(choices && { enum: choices }),
    ...(fallback !== undefined && { default: fallback }),
    doubts,
  };
}

/** Some programs give the type or the choices only at the end of the description. */
function unsaidValue(text: string): FoundOption['value'] {
  const isSaid = /\[(?:string|number|array)\]|[[(]choices: |(?:^|\. |\n| )one (?:of|or more):/.test(text);
  const fallback = /[[(]default: *("[^"]*"|[^\s\])]+)[\])]/i.exec(text)?.[1];
  const hasDefault =
    fallback !== undefined && !/^"?(?:true|false|on|off|yes|no|enabled|disabled)"?$/i.test(fallback);
  return isSaid || hasDefault ? { name: 'VALUE', isOptional: false, isJoined: false } : null;
}

function plainType({ value, spellings, text }: FoundOption, doubts: string[]): InputType {
  const name = value!.name.replace(/^[<[{(]+|[>\]})]+$|\.\.\.$/g, '');
  const said = /\[(number|string|array|count)\]/.exec(text)?.[1];
  if (said === 'number') return 'number';
  const isOneWord = !/[,:[\]|/=]/.test(name) && (value!.name.startsWith('<') || !name.includes(' '));
  const byWord = isOneWord ? typeOfWord(name) : undefined;
  if (byWord === 'int' && /suffix|\bK(?:i?B)?\b|multiplier|\[[-+]\]/.test(text)) {
    doubts.push('the program may accept numbers with a unit');
    return 'string';
  }
  if (byWord === 'duration' && /\bmilliseconds\b/.test(text)) return 'int';
  if (byWord !== undefined) return byWord;
  if (said === 'string' || !isOneWord) return 'string';
  const long = spellings.find((each) => /^--?\w{2,}/.test(each))?.replace(/^-+/, '') ?? '';
  const repeatsName = name.toLowerCase().replaceAll('_', '-') === long.toLowerCase();
  // The option's name is more specific than a generic value name.
  const isNamed = /(?:(?<!pro)file|dir|directory|path|folder)$/.test(long);
  const isReported =
    /^(?:in|out|input|output|config|log)$/.test(long) && /^[^.]*\b(?:file|folder|director|path)/i.test(text);
  if ((GENERAL.test(name) || repeatsName) && (isNamed || isReported)) {
    doubts.push('assumed to be a path because of its name');
    return 'path';
  }
  return 'string';
}

function choicesOf(name: string, text: string): string[] | undefined {
  const bare = name.replace(/^[<[({]+|[>\])}]+$/g, '').replace(/\.\.\.$/, '');
  const separator = name.startsWith('{') ? ',' : '|';
  const fromName = bare.includes(separator) ? bare.split(separator).map((each) => each.trim()) : undefined;
  if (fromName !== undefined) return areChoices(fromName) ? fromName : undefined;
  for (const pattern of [
    /\[possible values: ([^\]]+)\]/,
    /[[(]choices: ([^\])]+)[\])]/,
    /(?:^|[\s(])one of:? \(?((?:[`'"]?[\w.+-]+[`'"]?(?:\*)?(?:, or |, | or |\||\/))+[`'"]?[\w.+-]+[`'"]?)/i,
    /(?:must be|can be|may be|either|\b[A-Z]+ is) ((?:[`'"][\w.+-]+[`'"](?:, or |, | or ))+[`'"][\w.+-]+[`'"])/,
    /\((?:can be )?((?:[`'"][\w.+-]+[`'"](?:, or |, | or |\|))+[`'"][\w.+-]+[`'"])\)/,
  ]) {
    const found = pattern.exec(text)?.[1];
    const words = found
      ?.split(/, or |, | or |\||\//)
      .map((each) => each.replace(/^[`'"]+|[`'"*]+$/g, '').trim());
    if (words !== undefined && words.length > 1 && words.every((word) => WORD.test(word))) return words;
  }
  const quoted = /Possible values: ((?:"[\w-]+"(?: \([^)]*\))?(?:, )?){2,})/
    .exec(text)?.[1]
    ?.match(/(?<=")[\w-]+(?=")/g);
  if (quoted) return [...quoted];
  const listed = /Possible values: (.*)/.exec(text)?.[1];
  const words = [...(listed?.matchAll(/(?:^| )- ([\w.+-]+)(?=:|$| -)/g) ?? [])].map(([, word]) => word!);
  return words.length > 1 ? words : undefined;
}

function areChoices(words: readonly string[]): boolean {
  return (
    words.length > 1 && words.every((word) => WORD.test(word) && (word === 'double' || !isMetavar(word)))
  );
}

/**
 * A default that a manifest can contain: of the right type and one word. A path is excluded, because it would be a
 * grant in every run.
 */
function defaultOf(text: string, type: InputType, choices: string[] | undefined): ValueType['default'] {
  const [, quoted, bare] =
    /[[(]default(?:s to|:| is|=)? *(?:"([^"]*)"|'?`?([^\s"'`,;)\]]+)'?`?) *[\])]/i.exec(text) ??
    /\bdefaults to `([^`\s]+)`()/i.exec(text) ??
    /\bDefault: ()([\w.+-]*[\w+-])\.?$/.exec(text) ??
    /(?:\[default: |; ?default: |(?:^|\s)default: )()`?([\w.+:-]+?)`?(?:[\];,]|$)/.exec(text) ??
    [];
  const found = quoted || bare;
  if (found === undefined || found === '' || NO_VALUE.test(found) || /[$~<[{]|^\//.test(found))
    return undefined;
  if (choices !== undefined) return choices.includes(found) ? found : undefined;
  if (type === 'path') return undefined;
  const value = type === 'int' || type === 'number' ? Number(found) : found;
  return isOfType(type, value) ? value : undefined;
}
