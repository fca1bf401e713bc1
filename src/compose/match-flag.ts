import { kebab, type ParameterForm } from './parameters.ts';

/** The flag in an argument, unless its name (without dashes) is reserved. Its text is undefined when the next argument is its value. */
export function matchFlag<P extends ParameterForm>(
  flags: readonly P[],
  arg: string,
  isReserved: (flag: string) => boolean,
): { parameter: P; text: string | boolean | undefined } | undefined {
  const match = /^--([^=]+)(?:=(.*))?$/s.exec(arg);
  if (match === null) return undefined;
  const name = kebab(match[1]!);
  if (isReserved(match[1]!) || isReserved(name)) return undefined;
  const parameter = flags.find((each) => each.flag === name);
  if (parameter !== undefined) {
    const isSwitch = parameter.kind === 'boolean' && !parameter.isArray;
    return { parameter, text: match[2] ?? (isSwitch ? true : undefined) };
  }
  const base = name.startsWith('no-') && match[2] === undefined ? name.slice('no-'.length) : undefined;
  const negated = flags.find((each) => each.flag === base && each.kind === 'boolean' && !each.isArray);
  return negated === undefined || isReserved(negated.flag) ? undefined : { parameter: negated, text: false };
}
