import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { equalJson } from './equal-json.ts';

it('JSON values are compared as node:util does', () => {
  const values = [
    'null',
    '0',
    '1',
    '""',
    '"1"',
    'true',
    '[]',
    '{}',
    '[1]',
    '[1,2]',
    '[2,1]',
    '{"0":1}',
    '[[]]',
  ];
  values.push('{"a":1,"b":[{"c":null}]}', '{"b":[{"c":null}],"a":1}', '{"a":1}', '{"a":null}', '{"b":null}');
  values.push('{"__proto__":1}', '{"a":{"__proto__":1}}');
  for (const left of values)
    for (const right of values) {
      const pair = [JSON.parse(left), JSON.parse(right)] as const;
      assert.equal(equalJson(...pair), isDeepStrictEqual(...pair), `${left} ${right}`);
    }
});
