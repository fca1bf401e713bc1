import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { useOwnArrayMethods } from './array-methods.ts';

const NAMES = ['at', 'every', 'filter', 'find', 'findIndex', 'findLast', 'flatMap', 'some'] as const;

/** A list without its second element: what an array does not have is left out by most methods. */
function holed(...list: number[]): number[] {
  delete list[1];
  return list;
}

const LISTS: unknown[][] = [
  [],
  [1],
  [3, 1, 2],
  holed(1, 0, 3),
  [[1, [2]], [], 4],
  ['a', undefined, null, Number.NaN],
];

type Engine = Record<(typeof NAMES)[number], (...given: unknown[]) => unknown>;

describe('the methods of arrays that are compiled with the program', () => {
  const engine = Object.fromEntries(
    NAMES.map((name) => [name, Object.getOwnPropertyDescriptor(Array.prototype, name)!]),
  );
  before(() => useOwnArrayMethods());
  after(() => Object.defineProperties(Array.prototype, engine));

  function both(name: (typeof NAMES)[number], list: readonly unknown[], ...given: unknown[]) {
    const of = (method: (...args: unknown[]) => unknown) => {
      try {
        return { value: method.call(list, ...given) };
      } catch (error) {
        return { thrown: (error as Error).constructor };
      }
    };
    const own = (list as unknown as Engine)[name];
    assert.notEqual(own, engine[name]!.value, 'the method is the own one');
    assert.deepEqual(of(own), of(engine[name]!.value), `${name} of ${JSON.stringify(list)}`);
  }

  it('answer as those of the engine', () => {
    const tests = [
      (value: unknown) => value,
      (value: unknown) => value === undefined,
      () => true,
      () => false,
      (_: unknown, index: number) => index > 0,
      (_: unknown, index: number, list: unknown[]) => index === list.length - 1,
      function (this: unknown, value: unknown) {
        return this === value;
      },
      (value: unknown) => [value, [value]],
      () => holed(1, 0, 2),
    ];
    for (const list of LISTS)
      for (const name of NAMES.slice(1)) for (const test of tests) both(name, list, test, 3);
  });

  it('find an element from either end', () => {
    for (const list of LISTS)
      for (const place of [
        0,
        1,
        -1,
        -2,
        5,
        -9,
        1.7,
        -0.5,
        Number.NaN,
        undefined,
        '1',
        Number.POSITIVE_INFINITY,
      ])
        both('at', list, place);
  });

  it('refuse what is not a function, also for an empty array', () => {
    for (const name of NAMES.slice(1)) {
      both(name, [], undefined);
      both(name, [1], {});
    }
  });

  it('do not visit what is added meanwhile, and see what is removed', () => {
    for (const name of NAMES.slice(1)) {
      const seen = (method: (...given: unknown[]) => unknown) => {
        const list: unknown[] = [0, 1, 2, 3];
        const visited: unknown[] = [];
        method.call(list, (value: unknown, index: number) => {
          visited.push(value);
          if (index === 1) list.pop();
          if (visited.length === 1) list.push('new', 'new');
          return name === 'every';
        });
        return visited;
      };
      assert.deepEqual(seen(([] as unknown as Engine)[name]), seen(engine[name]!.value), name);
    }
  });

  it('stay out of what a loop over an array lists', () => {
    for (const name of NAMES) assert.equal(Object.keys(Array.prototype).includes(name), false);
  });
});
