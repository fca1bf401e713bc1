import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { RULES } from './rules.ts';

const SOURCES = join(import.meta.dirname, '..', '..', '..');

/** Where mistakes of files are told; the rules of command lines and of policies at work are others. */
const PLACES = [
  'core/config',
  'core/authoring/validation',
  'core/registry/read-tool.ts',
  'core/registry/read-manifest.ts',
  'core/registry/entry-of.ts',
  'core/registry/find-manifests.ts',
  'core/registry/discover.ts',
  'core/registry/error-codes.ts',
  'core/guard/read-policy.ts',
  'core/workflow/file',
  'core/workflow/expression',
  'core/workflow/check',
  'protocol/manifest-checks.ts',
  'protocol/manifest-inputs.ts',
  'protocol/config-file.ts',
];

/** How a mistake is told: the rule under its name, or behind the place. */
const TELLS = [
  /\brule: '([a-z-]+)'/g,
  /\b(?:problemOf|problemAt|mistake|failed|found|at)\(\s*(?:\[[^\]]*\]|[^,()'[\]]+|'[^']*'),\s*'([a-z-]+)',/g,
];

describe('the rules of validation', () => {
  const texts = PLACES.flatMap(textsOf);

  it('have all by which the sources tell mistakes', () => {
    const told = texts.flatMap((text) =>
      TELLS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, rule]) => rule!)),
    );
    assert.ok(told.length > 60, `the sources are understood: ${told.length}`);
    assert.deepEqual(
      told.filter((rule) => !Object.hasOwn(RULES, rule)),
      [],
    );
  });

  it('have no other', () => {
    const unused = Object.keys(RULES).filter((rule) => !texts.some((text) => text.includes(`'${rule}'`)));
    assert.deepEqual(unused, []);
  });

  it('say what they ask for in a sentence', () => {
    for (const [rule, { asks }] of Object.entries(RULES)) assert.match(asks, /^\S.*[.]$/, rule);
  });
});

function textsOf(place: string): string[] {
  const path = join(SOURCES, place);
  if (place.endsWith('.ts')) return [readFileSync(path, 'utf8')];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'rules.ts')
    .map((name) => readFileSync(join(path, name), 'utf8'));
}
