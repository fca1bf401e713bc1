import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkOfAnswers } from '../run/answers/question.ts';
import { problemBySchema, schemaMistake } from './schema-check.ts';

type Schema = Record<string, unknown>;

/** A schema of levels, each of which refers twice to the next. */
function doubling(levels: number, keyword: 'anyOf' | 'allOf'): Schema {
  const $defs: Schema = { [`l${levels}`]: { type: 'integer' } };
  for (let level = 0; level < levels; level++) {
    const $ref = `#/$defs/l${level + 1}`;
    $defs[`l${level}`] = { [keyword]: [{ $ref }, { $ref }] };
  }
  return { $defs, $ref: '#/$defs/l0' };
}

/** A tree whose alternatives look alike until their last key, so that each level doubles the work. */
const TREE = {
  $ref: '#/$defs/node',
  $defs: {
    node: { anyOf: [{ type: 'null' }, ...['and', 'or'].map(operator)] },
  },
};

function operator(name: string): Schema {
  return {
    type: 'object',
    properties: { of: { $ref: '#/$defs/node' }, name: { const: name } },
    required: ['of', 'name'],
  };
}

function tree(depth: number, name = 'and'): unknown {
  let node: unknown = null;
  for (let level = 0; level < depth; level++) node = { of: node, name };
  return node;
}

describe('a schema whose check has no end', () => {
  it('is refused with its place when its references multiply, and accepted while they are few', async () => {
    for (const keyword of ['anyOf', 'allOf'] as const) {
      const mistake = await schemaMistake(doubling(30, keyword));
      assert.match(mistake?.why ?? '', /#\/\$defs\/l\d+ checks one value by more than 100000 schemas/);
      assert.deepEqual(mistake?.path.slice(0, 1), ['$defs']);
      assert.equal(await schemaMistake(doubling(8, keyword)), undefined);
    }
  });

  it('is refused with its place when it refers to itself, and accepted when a property or an item lies in between', async () => {
    const cyclic = {
      type: 'object',
      properties: { p: { $ref: '#/$defs/a' } },
      $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
    };
    const mistake = await schemaMistake(cyclic);
    assert.match(mistake?.why ?? '', /the reference at #\/\$defs\/b\/not\/\$ref leads back to itself/);
    assert.deepEqual(mistake?.path, ['$defs', 'b', 'not', '$ref']);
    for (const $ref of ['#', '', '#/']) assert.equal((await schemaMistake({ $ref }))?.path.at(-1), '$ref');
    const recursive = {
      $ref: '#/$defs/a',
      $defs: {
        a: { properties: { b: { $ref: '#/$defs/b' } } },
        b: { items: { anyOf: [{ $ref: '#/$defs/a' }] } },
      },
    };
    assert.equal(await schemaMistake(recursive), undefined);
  });

  it('is found when it refers to itself by an anchor or an id', async () => {
    const anchored = { $ref: '#node', $defs: { n: { $anchor: 'node', allOf: [{ $ref: '#node' }] } } };
    assert.deepEqual((await schemaMistake(anchored))?.path, ['$defs', 'n', 'allOf', 0, '$ref']);
    const dynamic = { $dynamicAnchor: 'node', anyOf: [{ $dynamicRef: '#node' }] };
    assert.deepEqual((await schemaMistake(dynamic))?.path, ['anyOf', 0, '$dynamicRef']);
    const named = {
      $id: 'https://example.org/tree',
      $ref: 'leaf#/$defs/x',
      $defs: { l: { $id: 'leaf', $defs: { x: { not: { $ref: 'tree' } } } } },
    };
    assert.deepEqual((await schemaMistake(named))?.path, ['$defs', 'l', '$defs', 'x', 'not', '$ref']);
  });

  it('is accepted when an anchor or an id names it below a property', async () => {
    const tree = {
      $id: 'urn:example:tree',
      $dynamicAnchor: 'node',
      properties: {
        children: { items: { $dynamicRef: '#node' } },
        next: { $ref: '#next' },
        root: { $ref: 'urn:example:tree' },
      },
      $defs: { n: { $anchor: 'next', properties: { next: { $ref: '#next' } } } },
    };
    assert.equal(await schemaMistake(tree), undefined);
    assert.equal(await problemBySchema(tree, { children: [{ next: { next: {} } }], root: {} }), undefined);
  });

  it('is no data that looks like a reference', async () => {
    const data = { default: { $ref: '#' }, properties: { default: { type: 'string' } } };
    assert.equal(await schemaMistake(data), undefined);
  });
});

describe('a look at a schema', () => {
  it('knows nothing of another one, and finds the same mistake again', async () => {
    const named = {
      $id: 'https://example.org/a',
      $defs: { b: { $id: 'https://example.org/b', type: 'string' } },
    };
    assert.equal(await schemaMistake(named), undefined);
    assert.equal(await schemaMistake(named), undefined);
    for (const $ref of ['https://example.org/a', 'https://example.org/b'])
      assert.match((await schemaMistake({ $ref }))?.why ?? '', /can't resolve reference/);
    for (const $schema of ['http://json-schema.org/draft-07/schema#', undefined]) {
      const wrong = { ...($schema && { $schema }), properties: { x: { type: 'text' } } };
      for (let look = 0; look < 2; look++)
        assert.match((await schemaMistake(wrong))?.why ?? '', /must be equal to one of/);
    }
  });
});

describe('a check of a value', () => {
  it('ends when its value makes the work of a recursive schema multiply, and answers for an ordinary value', async () => {
    assert.equal(await problemBySchema(TREE, tree(6)), undefined);
    const problem = await problemBySchema(TREE, tree(40, 'xor'));
    assert.match(problem ?? '', /cannot be checked by its schema: the check had not ended after 2 s/);
    const answer = await checkOfAnswers({ options: undefined, schema: TREE, actionId: 'which' });
    assert.match(answer(tree(40, 'xor')) ?? '', /had not ended after 2 s/);
  });

  it('ends for a pattern on which a search with backtracking has no end', async () => {
    const text = `${'a'.repeat(5_000)}b`;
    for (const schema of [
      { pattern: '^(a+)+$' },
      { patternProperties: { '^(a+)+$': false }, minProperties: 2 },
    ]) {
      const value = 'pattern' in schema ? text : { [text]: 1 };
      assert.match((await problemBySchema(schema, value)) ?? '', /must (match pattern|NOT have fewer)/);
    }
    assert.match((await schemaMistake({ pattern: '^((a+)+)\\1$' }))?.why ?? '', /time without an end/);
  });

  it('finds two equal ones among many items', async () => {
    const many: unknown[] = Array.from({ length: 200_000 }, (_, index) => ({ index, x: [index] }));
    assert.equal(await problemBySchema({ uniqueItems: true }, many), undefined);
    assert.equal(await problemBySchema({ uniqueItems: false }, [1, 1]), undefined);
    assert.equal(await problemBySchema({ uniqueItems: true }, [1, '1', [1], null, 'null']), undefined);
    const twice = await problemBySchema({ uniqueItems: true }, [...many, { x: [7], index: 7 }]);
    assert.match(twice ?? '', /must NOT have duplicate items \(items ## 7 and 200000 are identical\)/);
  });

  it('names a bounded number of problems', async () => {
    const texts = Array.from({ length: 300_000 }, () => 'x');
    const problem = await problemBySchema({ items: { type: 'integer' } }, texts);
    assert.equal(problem?.split(', ').length, 1_000);
  });
});
