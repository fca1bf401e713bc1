import { isInexact, lossOfNumber } from '../../util/exact-json.ts';
import type { Problem } from './problem.ts';
import type { KeyPath, YamlFile } from './yaml-file.ts';

/** The numbers in a value of a file that a program cannot hold: each would become another value without a word. */
export function inexactNumbers(yaml: YamlFile, path: KeyPath, value: unknown): Problem[] {
  if (typeof value === 'object' && value !== null) {
    const below = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    return below.flatMap(([key, each]) => inexactNumbers(yaml, [...path, key], each));
  }
  const written = typeof value === 'number' ? (yaml.sourceOf(path) ?? String(value)) : '';
  if (!isInexact(written)) return [];
  const { mistake: message, fix } = lossOfNumber(written);
  const name = path.findLast((key) => typeof key === 'string');
  const place = { file: yaml.file, ...yaml.placeOf(path) };
  return [{ ...place, rule: 'inexact-number', message: `'${name}' ${message}`, fix }];
}
