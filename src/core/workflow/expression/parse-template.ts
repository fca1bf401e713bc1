import type { Problem } from '../../config/problem.ts';
import type { KeyPath, Place, YamlFile } from '../../config/yaml-file.ts';
import { parseCel } from './cel.ts';
import type { CelProblem } from './cel-nodes.ts';
import { type Expression, evaluationError, type Scope, type Template } from './expression.ts';

/** Parses a value of a workflow file as a template and adds its errors to `problems`. */
export function parseTemplate(yaml: YamlFile, path: KeyPath, value: unknown, problems: Problem[]): Template {
  if (typeof value === 'string') return parseText(yaml, path, value, problems);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => parseTemplate(yaml, [...path, index], item, problems));
    if (items.every(({ kind }) => kind === 'constant'))
      return { kind: 'constant', value: items.map(constantOf) };
    return { kind: 'list', items };
  }
  if (typeof value !== 'object' || value === null) return { kind: 'constant', value };
  const entries = Object.entries(value).map(
    ([key, each]) => [key, parseTemplate(yaml, [...path, key], each, problems)] as const,
  );
  if (entries.every(([, { kind }]) => kind === 'constant')) {
    const values = entries.map(([key, each]) => [key, constantOf(each)] as const);
    return { kind: 'constant', value: Object.fromEntries(values) };
  }
  return { kind: 'map', entries: Object.fromEntries(entries) };
}

/** Parses a text that is already split; all parts have the same place in the file. */
export function templateOf(
  yaml: YamlFile,
  path: KeyPath,
  pieces: readonly TemplatePart[],
  problems: Problem[],
): Template {
  const at = yaml.placeOf(path);
  const parts = pieces
    .map((piece) => (typeof piece === 'string' ? piece : parseExpression(yaml, at, piece.source, problems)))
    .filter((part): part is string | Expression => part !== undefined && part !== '');
  const [only, ...more] = parts;
  if (only === undefined) return { kind: 'constant', value: '' };
  if (more.length > 0) return { kind: 'text', parts };
  return typeof only === 'string'
    ? { kind: 'constant', value: only }
    : { kind: 'expression', expression: only };
}

function constantOf(template: Template): unknown {
  return template.kind === 'constant' ? template.value : undefined;
}

function parseText(yaml: YamlFile, path: KeyPath, text: string, problems: Problem[]): Template {
  if (!text.includes('${')) return { kind: 'constant', value: text };
  const split = splitTemplate(text);
  if ('parts' in split) return templateOf(yaml, path, split.parts, problems);
  problems.push({
    file: yaml.file,
    ...yaml.placeOf(path),
    rule: 'expression',
    message: `the \${ at character ${split.unclosed + 1} is never closed`,
    fix: 'Close it with }, or write $${ for a literal ${.',
  });
  return { kind: 'constant', value: text };
}

function parseExpression(
  yaml: YamlFile,
  at: Place,
  source: string,
  problems: Problem[],
): Expression | undefined {
  const parsed = parseCel(source);
  if ('problem' in parsed) {
    problems.push(problemOf(yaml, at, parsed.problem, source));
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

function problemOf(yaml: YamlFile, at: Place, { message, offset }: CelProblem, source: string): Problem {
  return {
    file: yaml.file,
    ...at,
    rule: 'expression',
    message: `in \${${shortened(source)}} at character ${offset + 1}: ${message}`,
    fix: source.startsWith('{')
      ? `Write one brace: \${${source.replaceAll(/^\{|\}$/g, '').trim()}}`
      : 'Fix the expression; its language is CEL: https://cel.dev',
  };
}

function shortened(source: string): string {
  return source.length > 200 ? `${source.slice(0, 200)}…` : source;
}

/** A part of a text: literal text, or the source of an expression with its offset. */
export type TemplatePart = string | { source: string; offset: number };

/** Splits a text into literal parts and `${…}` expressions; `$${` escapes `${`. */
function splitTemplate(text: string): { parts: TemplatePart[] } | { unclosed: number } {
  const parts: TemplatePart[] = [];
  let literal = '';
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('$${', at)) {
      literal += '${';
      at += 3;
      continue;
    }
    if (!text.startsWith('${', at)) {
      literal += text[at++];
      continue;
    }
    const close = endOfExpression(text, at + 2);
    if (close === undefined) return { unclosed: at };
    if (literal !== '') parts.push(literal);
    literal = '';
    parts.push({ source: text.slice(at + 2, close), offset: at + 2 });
    at = close + 1;
  }
  if (literal !== '') parts.push(literal);
  return { parts };
}

/** Finds the brace that closes an expression. It skips nested braces and quoted strings. */
export function endOfExpression(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"' || char === "'") {
      const end = endOfString(text, at, isRaw(text, at));
      if (end === undefined) return undefined;
      at = end;
    } else if (char === '{') depth++;
    else if (char === '}' && depth-- === 0) return at;
  }
  return undefined;
}

/**
 * The offset of the last character of the CEL string that starts here: single or triple quotes, raw or with escapes.
 */
function endOfString(text: string, from: number, raw: boolean): number | undefined {
  const one = text[from]!;
  const quote = text.startsWith(one.repeat(3), from) ? one.repeat(3) : one;
  for (let at = from + quote.length; at < text.length; at++) {
    if (text[at] === '\\' && !raw) at++;
    else if (text.startsWith(quote, at)) return at + quote.length - 1;
  }
  return undefined;
}

function isRaw(text: string, at: number): boolean {
  return /(?:^|[^\w])(?:[rR][bB]?|[bB][rR])$/.test(text.slice(Math.max(0, at - 3), at));
}
