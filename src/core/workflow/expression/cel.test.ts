import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCel } from './cel.ts';

const SCOPE = {
  inputs: { n: 5, text: 'a"b', list: [1, 2, 3], rows: [{ id: 1 }, { id: 2 }] },
  steps: { fetch: { ok: true, data: { none: null } }, 'a b': { ok: false } },
  workflow: { run_id: 'r-1', ok: true },
  item: { id: 7 },
  index: 1,
};

function valueFrom(source: string, scope: object = SCOPE): unknown {
  const parsed = parseCel(source);
  if ('problem' in parsed) return { refused: parsed.problem.message };
  const result = parsed.evaluate(scope);
  return 'problem' in result ? { failed: result.problem.message } : result.value;
}

describe('an expression', () => {
  it('reads numbers of JSON as people write them', () => {
    for (const [source, value] of [
      ['inputs.n + 1', 6],
      ['inputs.n / 2', 2.5],
      ['5 / 2', 2],
      ['inputs.n % 2 == 1', true],
      ['inputs.n * inputs.n', 25],
      ['inputs.n > 4 && inputs.n != 6', true],
      ['inputs.list[index]', 2],
      ['inputs.n in [1, 5]', true],
      ['"n" + string(inputs.n)', 'n5'],
      ['9007199254740993', '9007199254740993'],
    ] as const)
      assert.deepEqual(valueFrom(source), value, source);
  });

  it('reads lists, maps, and names that are no words', () => {
    for (const [source, value] of [
      ['inputs.rows.filter(r, r.id > 1).map(r, r.id)', [2]],
      ['inputs.rows.exists(r, r.id == 2)', true],
      ['size(inputs.rows)', 2],
      ['steps["a b"].ok', false],
      ['has(steps.fetch.data.rows) ? 1 : 0', 0],
      ['steps.fetch.data.none == null', true],
      ['{"id": item.id, "all": [inputs.n]}', { id: 7, all: [5] }],
      ['"a,b".split(",")', ['a', 'b']],
    ] as const)
      assert.deepEqual(valueFrom(source), value, source);
  });

  it('gives JSON only', () => {
    assert.equal(valueFrom('b"abc"'), 'YWJj');
    assert.equal(valueFrom('timestamp("2026-01-01T00:00:00Z")'), '2026-01-01T00:00:00.000Z');
    assert.equal(valueFrom('duration("1h")'), '3600s');
    assert.match(JSON.stringify(valueFrom('1.0 / 0.0')), /failed.*Infinity/);
  });

  it('does not reach what the language of the host gives every object', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty'])
      assert.match(JSON.stringify(valueFrom(`steps.${name}`)), /failed.*No such key/, name);
  });

  it('is refused before it runs when its types cannot fit, or it calls what there is not', () => {
    assert.match(JSON.stringify(valueFrom('"a" + 1')), /refused.*no such overload: string \+ int/);
    assert.match(JSON.stringify(valueFrom('nosuch(1)')), /refused.*nosuch/);
    assert.match(JSON.stringify(valueFrom('a b')), /refused/);
    assert.match(JSON.stringify(valueFrom('')), /refused/);
    assert.match(JSON.stringify(valueFrom('('.repeat(10_000))), /refused/);
    assert.match(JSON.stringify(valueFrom(`${'1+'.repeat(10_000)}1`)), /refused/);
  });

  it('reports the offset of an error', () => {
    const parsed = parseCel('inputs.n + nosuch(1)');
    assert.ok('problem' in parsed);
    assert.equal(parsed.problem.offset, 11);
  });

  it('lists the names that it reads, without its own variables', () => {
    const parsed = parseCel('inputs.list.map(x, x + steps["a b"].data.rows[0].id).exists(y, y == inputs.n)');
    assert.ok('references' in parsed);
    assert.deepEqual(parsed.references, [
      ['inputs', 'list'],
      ['steps', 'a b', 'data', 'rows', '0', 'id'],
      ['inputs', 'n'],
    ]);
    const nested = parseCel('inputs.list.map(x, inputs.others.exists(y, y.id == x.id && x.n > inputs.n))');
    assert.ok('references' in nested);
    assert.deepEqual(nested.references, [
      ['inputs', 'list'],
      ['inputs', 'others'],
      ['inputs', 'n'],
    ]);
  });
});

describe('an expression that would take too long', () => {
  it('is refused when it is written: regular expressions, bound values, many loops', () => {
    for (const [source, why] of [
      ['inputs.text.matches("(a+)+$")', /matches/],
      ['cel.bind(x, "aa", x + x)', /bind/],
      ['inputs.list.map(x, inputs.list.map(y, inputs.list.map(z, z)))', /nested loops/],
      [`inputs.list${'.map(x, x)'.repeat(6)}`, /at most 5 loops/],
    ] as const)
      assert.match(JSON.stringify(valueFrom(source)), why, source);
    assert.deepEqual(valueFrom(`inputs.list${'.map(x, x)'.repeat(5)}`), [1, 2, 3]);
  });

  it('ends when its data makes its inner loops long, also where errors are passed over', () => {
    const long = { inputs: { list: Array.from({ length: 20_000 }, (_, index) => index), other: [0.5] } };
    for (const source of [
      'inputs.list.map(a, inputs.list.map(b, a))',
      'inputs.list.exists(a, inputs.list.exists(b, b == a - 0.5))',
      'inputs.list.filter(a, a + 0.5 in inputs.list)',
    ])
      assert.match(JSON.stringify(valueFrom(source, long)), /too much work/, source);
    assert.deepEqual(valueFrom('inputs.list.filter(a, a + 0.5 in inputs.other)', long), [0]);
  });

  it('ends when its inner loops go over the keys of a large map, in which a key is found at once', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}`);
    const long = { inputs: { list: keys, map: Object.fromEntries(keys.map((key) => [key, 1])) } };
    for (const source of [
      'inputs.map.all(a, inputs.map.all(b, a != ""))',
      'inputs.list.map(a, inputs.map.map(b, a))',
    ])
      assert.match(JSON.stringify(valueFrom(source, long)), /too much work/, source);
    assert.equal(valueFrom('inputs.list.all(a, a in inputs.map)', long), true);
    assert.equal(valueFrom('inputs.map.exists(a, a == "k7")', long), true);
  });

  it('ends when it reads or makes too much text, at any place and also without a loop', () => {
    const large = { inputs: { text: 'ab'.repeat(400_000), many: Array.from({ length: 60 }, () => 1) } };
    const keys = `'${'k'.repeat(1000)}'.split('')`;
    for (const source of [
      `${keys}.map(x, ${keys}.map(y, '${'ab'.repeat(20_000)}'.indexOf('aa')).size()).size() > 3`,
      "inputs.many.map(x, inputs.many.map(y, inputs.text)).map(z, z.join('-')).size()",
      `[inputs.text]${'.map(x, x + x + x + x + x + x + x + x)'.repeat(5)}.size()`,
      `inputs.many.map(x, [${'inputs.text, '.repeat(3)}inputs.text])`,
      `inputs.many.map(x, inputs.many.map(y, [inputs.text] == [inputs.text]))`,
      `inputs.many.map(x, inputs.many.map(y, 'x' in [inputs.text]))`,
      `'${'a'.repeat(300_000)}b'.contains('${'a'.repeat(200_000)}ba')`,
      `inputs.many.map(x, inputs.many.map(y, [${'y, '.repeat(400)}y].map(z, [${'z, '.repeat(90)}z])).size())`,
    ])
      assert.match(JSON.stringify(valueFrom(source, large)), /too much work|nested loops/, source.slice(-80));
    for (const [source, value] of [
      ["inputs.text.contains('aa') || inputs.text.endsWith('ab')", true],
      ["inputs.text.split('a').map(x, x + x).filter(x, x != '').size()", 400_000],
      ['inputs.many.map(x, inputs.text.size()).exists(x, x == 800000)', true],
      ["[].join(',') + ''.split(',').join('x')", ''],
    ] as const)
      assert.equal(valueFrom(source, large), value, source);
  });

  it('starts its count from zero in each evaluation', () => {
    const parsed = parseCel('inputs.list.all(a, inputs.list.all(b, b >= 0))');
    assert.ok('references' in parsed);
    const scope = { inputs: { list: Array.from({ length: 800 }, (_, index) => index) } };
    for (let time = 0; time < 3; time++) assert.deepEqual(parsed.evaluate(scope), { value: true });
  });
});
