import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { InputSpec } from '../../protocol/manifest.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { nearestWords } from '../../util/nearest.ts';
import { type ArgumentProblem, usageProblem } from './argument-problem.ts';
import type { GivenValue } from './input-values.ts';

const MAX_INPUT_JSON_BYTES = 8 * 1024 * 1024;

const FORMS = `Give a JSON object of input names and values, @file, or - for stdin.`;

/** Reads the values of `--input-json` (contract §5): inline JSON, `@file`, or `-` for stdin. */
export function readInputJson(
  specs: readonly InputSpec[],
  source: string,
  options: { cwd: string; readStdin?: () => string },
): { given: Map<string, GivenValue[]>; problems: ArgumentProblem[] } {
  const given = new Map<string, GivenValue[]>();
  const object = objectFrom(source, options);
  if (typeof object === 'string') {
    return { given, problems: [usageProblem('input-json', 'input-json', `--input-json ${object}`, FORMS)] };
  }
  const problems: ArgumentProblem[] = [];
  for (const [name, value] of Object.entries(object)) {
    const spec = specs.find((each) => each.name === name);
    if (spec === undefined) {
      const [nearest] = nearestWords(
        name,
        specs.map((each) => each.name),
        1,
      );
      problems.push(
        usageProblem(
          name,
          'unknown-input',
          `--input-json names '${name}', which is not an input${nearest ? `; did you mean '${nearest}'?` : ''}`,
          nearest ? `Write "${nearest}".` : `Inputs: ${specs.map((each) => each.name).join(', ') || 'none'}.`,
        ),
      );
      continue;
    }
    const values: unknown[] = spec.multiple && Array.isArray(value) ? value : [value];
    given.set(
      name,
      values.map((each) => ({ json: each })),
    );
  }
  return { given, problems };
}

function objectFrom(
  source: string,
  options: { cwd: string; readStdin?: () => string },
): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(textOf(source, options));
  } catch (error) {
    const code = errorCode(error);
    return error instanceof SyntaxError
      ? 'is not valid JSON'
      : `cannot be read (${code ?? errorMessage(error)})`;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : 'is not a JSON object';
}

function textOf(source: string, { cwd, readStdin }: { cwd: string; readStdin?: () => string }): string {
  if (source === '-') {
    if (readStdin === undefined) throw new Error('there is no stdin here');
    return readStdin();
  }
  if (!source.startsWith('@')) return source;
  const file = resolve(cwd, source.slice(1));
  if (statSync(file).size > MAX_INPUT_JSON_BYTES) throw new Error(`more than ${MAX_INPUT_JSON_BYTES} bytes`);
  return readFileSync(file, 'utf8');
}
