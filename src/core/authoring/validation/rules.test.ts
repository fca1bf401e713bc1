import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { RULES } from './rules.ts';

const SOURCES = join(import.meta.dirname, '..', '..', '..');

/** The sources that report problems of files. Command lines and policy decisions have other rules. */
const PLACES = [
  'core/config',
  'core/authoring/validation',
  'core/registry/read-tool.ts',
  'core/registry/read-manifest.ts',
  'core/registry/entry-of.ts',
  'core/registry/candidate.ts',
  'core/registry/discover.ts',
  'core/registry/error-codes.ts',
  'core/guard/read-policy.ts',
  'core/workflow/file',
  'core/workflow/expression',
  'core/workflow/check',
  'protocol/manifest-checks.ts',
  'protocol/manifest-inputs.ts',
  'protocol/manifest-map.ts',
  'protocol/manifest-markers.ts',
  'protocol/manifest-output.ts',
  'protocol/manifest-secrets.ts',
  'protocol/config-file.ts',
  'protocol/published-resource.ts',
  'core/published',
];

/** How the sources report a problem: a key `rule`, or an argument after the place. */
const REPORTS = [
  /\brule: '([a-z-]+)'/g,
  /\b(?:problemOf|problemAt|mistake|failed|found|at)\(\s*(?:\[[^\]]*\]|[^,()'[\]]+|'[^']*'),\s*'([a-z-]+)',/g,
];

describe('the rules of validation', () => {
  const texts = PLACES.flatMap(textsOf);

  it('contain every rule that the sources report', () => {
    const reported = texts.flatMap((text) =>
      REPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, rule]) => rule!)),
    );
    assert.ok(reported.length > 60, `the sources are understood: ${reported.length}`);
    assert.deepEqual(
      reported.filter((rule) => !Object.hasOwn(RULES, rule)),
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
