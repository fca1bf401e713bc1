import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const LEAST_METHODS = 60;

/** The methods of the exported interfaces, as `Interface.method`, and the exported function types. */
function methodsIn(source: string): string[] {
  const interfaces = [...source.matchAll(/^export interface (\w+)[^{\n]*\{\n(.*?)^\}/gms)];
  const methods = interfaces.flatMap(([, name, body]) =>
    [...body!.matchAll(/^ {2}(\w+)[(<]/gm)].map(([, method]) => `${name}.${method}`),
  );
  const functions = [...source.matchAll(/^export type (\w+) = \(/gm)].map(([, name]) => name!);
  // A function that only changes a value is no access to a store.
  return [...methods, ...functions.filter((name) => name !== 'RedactLine')];
}

const methods = globSync('src/core/ports/*.ts', { cwd: ROOT }).flatMap((path) =>
  methodsIn(readFileSync(ROOT + path, 'utf8')),
);
const rows = [...readFileSync(`${ROOT}docs/ports.md`, 'utf8').matchAll(/^\| `([\w.]+)` \|(.*)\|$/gm)];

describe('docs/ports.md', () => {
  it('has one row for each method of each port', () => {
    assert.ok(methods.length >= LEAST_METHODS, `only ${methods.length} methods were found`);
    assert.deepEqual(rows.map(([, method]) => method).sort(), [...methods].sort());
  });

  it('gives each method a statement, its atomicity and its cost', () => {
    const incomplete = rows.filter(
      ([, , cells]) => !/^( ?\S[^|]*\|){2} \S[^|]*$/.test(cells!.replaceAll('\\|', '')),
    );
    assert.deepEqual(
      incomplete.map(([row]) => row),
      [],
    );
  });
});
