import type { Problem } from '../../config/problem.ts';
import type { KeyPath } from '../../config/yaml-file.ts';
import type { Template } from '../expression/expression.ts';
import { allSteps, type CheckedFile, problemAt, toolCallsOf, worksOf } from './checked-file.ts';

/** As other engines write an expression: `{{ item }}`. */
const IN_BRACES = /(?<!\$)\{\{\s*((?:item|index|inputs|steps|workflow)\b[^{}]*)\}\}/;
/** A whole text like `steps.fetch.data` or `inputs.date`. */
const PATH = /^(steps|inputs)\.([\p{L}\p{N}_-]+)(?:\.[\p{L}\p{N}_-]+|\[\d+\])*$/u;

/** Warns of text that is meant as an expression: it reaches the tool as it is. */
export function checkLiterals(file: CheckedFile): Problem[] {
  const { workflow } = file;
  const names = {
    steps: new Set(allSteps(workflow).map(({ name }) => name)),
    inputs: new Set(workflow.inputs.map(({ name }) => name)),
  };
  return valuesOf(file).flatMap(({ template, path, others }) => {
    for (const text of textsIn(template)) {
      const [braces, inner] = IN_BRACES.exec(text) ?? [];
      if (braces !== undefined) return [meant(file, { path, others }, braces, inner!.trim())];
      const [whole, root, name] = PATH.exec(text) ?? [];
      if (whole !== undefined && names[root as 'steps' | 'inputs'].has(name!))
        return [meant(file, { path, others }, whole, whole)];
    }
    return [];
  });
}

function meant(
  file: CheckedFile,
  place: { path: KeyPath; others: readonly KeyPath[] },
  text: string,
  source: string,
): Problem {
  return problemAt(file, place, {
    rule: 'text-not-expression',
    message: `'${text}' is text here, not its value`,
    fix: `Write \${${source}}.`,
  });
}

interface Value {
  template: Template;
  path: KeyPath;
  others: readonly KeyPath[];
}

/** The values that steps pass on, and the outputs of the workflow. */
function valuesOf({ workflow }: CheckedFile): Value[] {
  const named = (values: Readonly<Record<string, Template>>, path: KeyPath) =>
    Object.entries(values).map(([key, template]) => ({ template, path: [...path, key], others: [path] }));
  const ofSteps = allSteps(workflow).flatMap((step) => [
    ...toolCallsOf(step).flatMap(({ args, argsPath, others }): Value[] =>
      args.form === 'named'
        ? named(args.values, argsPath)
        : args.words.map((template, index) => ({
            template,
            path: [...argsPath, index],
            others: [argsPath, ...others],
          })),
    ),
    ...worksOf(step).flatMap((work) =>
      work.kind === 'workflow' ? named(work.inputs, [...work.path, 'inputs']) : [],
    ),
  ]);
  return [...ofSteps, ...named(workflow.outputs, ['outputs'])];
}

function textsIn(template: Template): string[] {
  switch (template.kind) {
    case 'constant':
      return textsOf(template.value);
    case 'expression':
      return [];
    case 'text':
      return template.parts.filter((part) => typeof part === 'string');
    case 'list':
      return template.items.flatMap(textsIn);
    case 'map':
      return Object.values(template.entries).flatMap(textsIn);
  }
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
