import type { Problem } from '../../config/problem.ts';
import type { KeyPath, Place, YamlFile } from '../../config/yaml-file.ts';
import { type CelProblem, parseCel } from './cel.ts';
import { evaluationError } from './evaluate.ts';
import type { Expression, Scope } from './expression.ts';
import type { Template } from './template.ts';

/** Reads a value of a workflow file as a template; mistakes in its expressions are added to `problems`. */
export function parseTemplate(yaml: YamlFile, path: KeyPath, value: unknown, problems: Problem[]): Template {
  if (typeof value === 'string') return parseText(yaml, path, value, problems);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => parseTemplate(yaml, [...path, index], item, problems));
    return items.every(({ kind }) => kind === 'constant')
      ? { kind: 'constant', value }
      : { kind: 'list', items };
  }
  if (typeof value !== 'object' || value === null) return { kind: 'constant', value };
  const entries = Object.entries(value).map(
    ([key, each]) => [key, parseTemplate(yaml, [...path, key], each, problems)] as const,
  );
  if (entries.every(([, { kind }]) => kind === 'constant')) return { kind: 'constant', value };
  return { kind: 'map', entries: Object.fromEntries(entries) };
}

/** One text: the expressions in it, and what stands between them. */
function parseText(yaml: YamlFile, path: KeyPath, text: string, problems: Problem[]): Template {
  if (!text.includes('${')) return { kind: 'constant', value: text };
  const at = yaml.placeOf(path);
  const parts: (string | Expression)[] = [];
  let literal = '';
  for (let from = 0; from < text.length; ) {
    const open = text.indexOf('${', from);
    if (open === -1) {
      literal += text.slice(from);
      break;
    }
    if (text[open - 1] === '$' && open > from) {
      literal += `${text.slice(from, open - 1)}\${`;
      from = open + 2;
      continue;
    }
    const close = endOf(text, open + 2);
    if (close === -1) {
      problems.push(problem(yaml, at, { message: 'the ${ is never closed', offset: 0 }, text.slice(open)));
      return { kind: 'constant', value: text };
    }
    literal += text.slice(from, open);
    if (literal !== '') parts.push(literal);
    literal = '';
    const source = text.slice(open + 2, close);
    const expression = parseExpression(yaml, at, source, problems);
    if (expression !== undefined) parts.push(expression);
    from = close + 1;
  }
  if (literal !== '') parts.push(literal);
  const [only, ...more] = parts;
  if (more.length === 0 && only !== undefined) {
    return typeof only === 'string'
      ? { kind: 'constant', value: only }
      : { kind: 'expression', expression: only };
  }
  return { kind: 'text', parts };
}

/** The closing brace that belongs to an opened one: braces and quotes within the expression are its own. */
function endOf(text: string, from: number): number {
  let depth = 0;
  let quote: string | undefined;
  for (let at = from; at < text.length; at++) {
    const char = text[at]!;
    if (quote !== undefined) {
      if (char === '\\') at++;
      else if (char === quote) quote = undefined;
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '{') depth++;
    else if (char === '}' && depth-- === 0) return at;
  }
  return -1;
}

function parseExpression(
  yaml: YamlFile,
  at: Place,
  source: string,
  problems: Problem[],
): Expression | undefined {
  const parsed = parseCel(source);
  if ('problem' in parsed) {
    problems.push(problem(yaml, at, parsed.problem, source));
    return undefined;
  }
  const { references } = parsed;
  const expression: Expression = {
    source,
    at,
    references,
    evaluate(scope: Scope) {
      const result = parsed.evaluate(scope);
      if ('problem' in result) throw evaluationError(yaml.file, expression, result.problem);
      return result.value;
    },
  };
  return expression;
}

function problem(yaml: YamlFile, at: Place, { message, offset }: CelProblem, source: string): Problem {
  return {
    file: yaml.file,
    ...at,
    rule: 'expression',
    message: `in \${${source}} at character ${offset + 1}: ${message}`,
    fix: 'Mend the expression; the language is CEL (docs/workflows.md).',
  };
}
