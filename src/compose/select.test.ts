import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { checkSelection, type Selection, select } from './select.ts';

const none: Selection = { fields: undefined, limit: undefined, offset: undefined, maxTokens: undefined };
const step = z.object({ name: z.string(), ms: z.number() });
const item = z.object({
  id: z.string(),
  size: z.number(),
  tags: z.array(z.string()).optional(),
  steps: z.array(step),
});
const op = { output: z.object({ folder: z.string(), items: z.array(item) }) };

const items = Array.from({ length: 9 }, (_, index) => ({
  id: `i${index}`,
  size: index,
  steps: [
    { name: 'a', ms: 1 },
    { name: 'b', ms: 2 },
  ],
}));
const data = { folder: 'f', items };

function chosen(
  selection: Partial<Selection>,
  from: unknown = data,
  by: Parameters<typeof checkSelection>[0] = op,
) {
  checkSelection(by, { ...none, ...selection }, 'app list');
  return select(by, { data: from }, { ...none, ...selection }, 'app list');
}

function refusal(
  selection: Partial<Selection>,
  from: unknown = data,
  by: Parameters<typeof checkSelection>[0] = op,
) {
  try {
    chosen(selection, from, by);
  } catch (error) {
    return error as { code: string; message: string; hint: string };
  }
  throw new Error('not refused');
}

describe('--limit and --offset', () => {
  it('cut the list like slice, and say what is left, for every size and place', () => {
    let compared = 0;
    for (let offset = 0; offset <= 11; offset++) {
      for (let limit = 0; limit <= 11; limit++) {
        const { data: cut, count, total, hasMore } = chosen({ offset, limit });
        const expected = items.slice(offset, offset + limit);
        assert.deepEqual(cut, { folder: 'f', items: expected });
        assert.deepEqual([count, total, hasMore], [expected.length, 9, offset + limit < 9]);
        compared++;
      }
    }
    assert.equal(compared, 144);
  });

  it('give pages that together are the whole list', () => {
    for (const limit of [1, 2, 4, 9, 20]) {
      const ids: string[] = [];
      for (let offset = 0, more = true; more; offset += limit) {
        const page = chosen({ offset, limit, fields: ['id'] });
        ids.push(...(page.data as { items: { id: string }[] }).items.map(({ id }) => id));
        more = page.hasMore === true;
      }
      assert.deepEqual(
        ids,
        items.map(({ id }) => id),
      );
    }
  });

  it('leave total and hasMore out when they are not asked for', () => {
    const { count, total, hasMore } = chosen({});
    assert.deepEqual([count, total, hasMore], [9, undefined, undefined]);
  });

  it('are refused where the answer has no list, before anything is done', () => {
    const single = { output: item.omit({ tags: true, steps: true }) };
    assert.throws(() => checkSelection(single, { ...none, limit: 1 }, 'app show'), /no list to cut/);
    const two = { output: z.object({ a: z.array(step), b: z.array(step) }) };
    assert.throws(() => checkSelection(two, { ...none, offset: 1 }, 'app show'), /no list to cut/);
    checkSelection({ ...two, list: 'b' }, { ...none, offset: 1 }, 'app show');
  });
});

describe('--fields', () => {
  it('keeps fields of the elements, in the order asked for', () => {
    const { data: kept } = chosen({ fields: ['size', 'id'], limit: 1 });
    assert.equal(JSON.stringify(kept), '{"items":[{"size":0,"id":"i0"}]}');
  });

  it('follows dotted paths through arrays, from the element and from the top', () => {
    const expected = { items: [{ steps: [{ name: 'a' }, { name: 'b' }] }] };
    assert.deepEqual(chosen({ fields: ['steps.name'], limit: 1 }).data, expected);
    assert.deepEqual(chosen({ fields: ['items.steps.name'], limit: 1 }).data, expected);
    assert.deepEqual(chosen({ fields: ['folder', 'id', 'items.size'], limit: 1 }).data, {
      folder: 'f',
      items: [{ id: 'i0', size: 0 }],
    });
  });

  it('takes the whole of a field that is asked for with and without a path', () => {
    assert.deepEqual(chosen({ fields: ['steps.name', 'steps'], limit: 1 }).data, {
      items: [{ steps: items[0]!.steps }],
    });
    assert.deepEqual(chosen({ fields: ['items', 'id'], limit: 1 }).data, { items: [items[0]] });
  });

  it('accepts a field that the schema has and this answer has not', () => {
    assert.deepEqual(chosen({ fields: ['id', 'tags'], limit: 1 }).data, { items: [{ id: 'i0' }] });
    assert.deepEqual(chosen({ fields: ['id'] }, { folder: 'f', items: [] }).data, { items: [] });
  });

  it('refuses an unknown field and names the nearest', () => {
    const error = refusal({ fields: ['id', 'sise', 'steps.nam'] });
    assert.equal(error.code, 'E_USAGE');
    assert.match(error.message, /unknown field "sise"; unknown field "steps.nam"/);
    assert.match(error.hint, /Did you mean size\?/);
    refusal({ fields: ['__proto__'] });
    refusal({ fields: ['constructor'] });
  });

  it('is judged by the data where the schema is open', () => {
    const open = { output: z.unknown() };
    assert.deepEqual(chosen({ fields: ['id'] }, [{ id: 1, x: 2 }], open).data, [{ id: 1 }]);
    assert.deepEqual(
      chosen({ fields: ['a'] }, { a: 1, b: 2 }, { output: z.record(z.string(), z.number()) }).data,
      { a: 1 },
    );
    assert.match(refusal({ fields: ['idd'] }, [{ id: 1 }], open).hint, /Did you mean id\?/);
    const own = chosen({ fields: ['__proto__'] }, JSON.parse('{"__proto__":5}'), open).data as object;
    assert.equal(Object.getPrototypeOf(own), Object.prototype);
    assert.equal(JSON.stringify(own), '{"__proto__":5}');
  });

  it('is refused in nested data with the fields beside it, unless the data are null there', () => {
    const run = z.object({ result: z.record(z.string(), z.unknown()).nullable(), files: z.array(step) });
    const by = { output: run, list: 'files' };
    const ended = { result: { data: { words: 4 }, status: 'ok' }, files: [] };
    assert.deepEqual(chosen({ fields: ['result.data.words'] }, ended, by).data, {
      result: { data: { words: 4 } },
    });
    assert.match(refusal({ fields: ['result.dat'] }, ended, by).hint, /Did you mean result\.data\?/);
    assert.match(
      refusal({ fields: ['result.zzzzzzzz'] }, ended, by).hint,
      /Fields: result\.data, result\.status\./,
    );
    assert.match(
      refusal({ fields: ['result.data.wordz'] }, ended, by).hint,
      /Did you mean result\.data\.words\?/,
    );
    assert.deepEqual(chosen({ fields: ['result.data'] }, { result: null, files: [] }, by).data, {
      result: null,
    });
  });

  it('knows the fields of every member of a union, and of a schema that holds itself', () => {
    const union = { output: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) };
    assert.deepEqual(chosen({ fields: ['b'] }, { b: 'x' }, union).data, { b: 'x' });
    refusal({ fields: ['c'] }, { b: 'x' }, union);
    assert.deepEqual(chosen({ fields: ['a.b'] }, { a: [[{ b: 1, c: 2 }]] }, { output: z.json() }).data, {
      a: [[{ b: 1 }]],
    });
    type Node = { name: string; kids: Node[] };
    const node: z.ZodType<Node> = z.lazy(() => z.object({ name: z.string(), kids: z.array(node) }));
    const recursive = { output: z.object({ root: node }) };
    const value = { root: { name: 'r', kids: [{ name: 'k', kids: [] }] } };
    assert.deepEqual(chosen({ fields: ['root.kids.name'] }, value, recursive).data, {
      root: { kids: [{ name: 'k' }] },
    });
    refusal({ fields: ['root.kids.nome'] }, value, recursive);
  });
});

describe('--max-tokens', () => {
  it('keeps what fits of the list, and at least one element, so that there is a next page', () => {
    const all = chosen({ maxTokens: 10_000 });
    assert.deepEqual([all.count, all.hasMore, all.total], [9, false, 9]);
    const some = chosen({ maxTokens: 100 });
    assert.ok(some.count! >= 1 && some.count! < 9, String(some.count));
    assert.equal(some.hasMore, true);
    const { items: kept } = some.data as { items: object[] };
    assert.deepEqual(kept, items.slice(0, some.count));
    assert.deepEqual(chosen({ maxTokens: 0 }).count, 1);
    const fewer = chosen({ maxTokens: 100, fields: ['id'] });
    assert.ok(fewer.count! > some.count!, 'fields that are left out cost nothing');
  });

  it('is refused where there is no list', () => {
    const without = { output: z.object({ id: z.string() }) };
    assert.throws(() => chosen({ maxTokens: 5 }, { id: 'x' }, without), /the answer has no list to cut/);
  });
});
