import { refuseArguments, usageProblem } from './argument-problem.ts';
import { type Grant, type GrantRules, grantExisting } from './path-grants.ts';
import { usageLine } from './usage-line.ts';

/**
 * The arguments of a tool that declares none (contract §5): as they are, but what names an existing path under the
 * roots is made absolute and granted for reading.
 */
export function passThrough(
  tool: { name: string },
  given: readonly string[],
  rules: GrantRules,
): { args: string[]; grants: Grant[] } {
  const grants: Grant[] = [];
  const grant = (text: string, index: number): string => {
    const found = grantExisting(text, `#${index + 1}`, rules);
    if (found) grants.push(found);
    return found?.path ?? text;
  };
  const flagsEnd = given.indexOf('--');
  const args = given.map((word, index) => {
    if (!word.startsWith('-') || (flagsEnd >= 0 && index > flagsEnd)) return grant(word, index);
    const equals = word.indexOf('=');
    return equals < 0 ? word : word.slice(0, equals + 1) + grant(word.slice(equals + 1), index);
  });
  const problems = args.flatMap((word, index) =>
    word.includes('\0')
      ? usageProblem(`#${index + 1}`, 'nul', `argument ${index + 1} holds a NUL byte`, 'Leave it out.')
      : [],
  );
  refuseArguments(tool.name, problems, usageLine(tool.name, undefined));
  return { args, grants };
}
