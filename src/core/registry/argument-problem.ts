import { AcorError } from '../../protocol/acor-error.ts';
import { flagOf } from '../../protocol/input-types.ts';
import type { InputSpec } from '../../protocol/manifest.ts';
import { describeTool, type NextStep } from '../../protocol/next-steps.ts';
import { kindOfName } from '../../protocol/run.ts';

/** A problem with one argument: its error code, the rule, and the fix. */
export interface ArgumentProblem {
  code: 'E_USAGE' | 'E_INPUT_NOT_FOUND' | 'E_PERMISSION';
  input: string;
  rule: string;
  message: string;
  fix: string;
}

/** A problem in the syntax of the arguments. */
export function usageProblem(input: string, rule: string, message: string, fix: string): ArgumentProblem {
  return { code: 'E_USAGE', input, rule, message, fix };
}

/** A message names this many problems in words. The first may follow from the second, such as a word too many from a missing flag. */
const MOST_SHOWN = 4;

/** Throws all problems of a call of a tool or a workflow as one error, with the code of the first. `next` shows what it accepts. Does nothing when there are none. */
export function refuseArguments(
  name: string,
  problems: readonly ArgumentProblem[],
  usage: string,
  // The executor of a task is not a tool of the registry.
  next: readonly NextStep[] = kindOfName(name) === 'task' ? [] : [describeTool(name)],
): void {
  const [first] = problems;
  if (first === undefined) return;
  const shown = problems.slice(0, MOST_SHOWN).map(({ message }) => message);
  const more = problems.length > MOST_SHOWN ? ` (and ${problems.length - MOST_SHOWN} more)` : '';
  const hint = first.code === 'E_USAGE' ? `${first.fix} Usage: ${usage}` : first.fix;
  throw new AcorError(first.code, `${name}: ${shown.join('; ')}${more}`, {
    hint,
    details: {
      problems: problems.map(({ code, ...rest }) => (code === first.code ? rest : { code, ...rest })),
      usage,
    },
    next,
  });
}

/** The usage of a tool in one line: its name and its arguments. */
export function usageLine(tool: string, specs: readonly InputSpec[] | undefined): string {
  if (specs === undefined) return `${tool} [args…]`;
  const flags = specs
    .filter((spec) => !spec.positional)
    .map((spec) => {
      const value =
        spec.type === 'bool'
          ? flagOf(spec)
          : `${flagOf(spec)} <${allowedWords(spec)?.join('|') ?? spec.type}>`;
      return optional(spec, spec.multiple ? `${value} …` : value);
    });
  const positionals = specs
    .filter((spec) => spec.positional)
    .map((spec) => optional(spec, `<${spec.name}>${spec.multiple ? '…' : ''}`));
  return [tool, ...flags, ...positionals].join(' ');
}

/** The allowed values as a caller writes them: for an input of type `json`, the text "1" is not the number. */
export function allowedWords({ type, enum: choices }: InputSpec): string[] | undefined {
  return choices?.map((each) => (type === 'json' ? JSON.stringify(each) : String(each)));
}

/** The usage of a workflow in one line, by the name or path that the caller gave. */
export function workflowUsage(workflow: string, specs: readonly InputSpec[]): string {
  return `workflow run ${usageLine(workflow, specs)}`;
}

/** The call of a tool in one line, for a caller that passes inputs as an object: its name and the inputs with their types. */
export function callLine(tool: string, specs: readonly InputSpec[] | undefined): string {
  if (specs === undefined) return `${tool} {"args":["…"]}`;
  const inputs = specs.map((spec) => {
    const value = allowedWords(spec)?.join('|') ?? spec.type;
    const isOptional = !spec.required || spec.default !== undefined;
    return `"${spec.name}":<${spec.multiple ? `${value} …` : value}${isOptional ? '?' : ''}>`;
  });
  return `${tool} {${inputs.join(',')}}`;
}

function optional({ required, default: fallback }: InputSpec, text: string): string {
  return required && fallback === undefined ? text : `[${text}]`;
}
