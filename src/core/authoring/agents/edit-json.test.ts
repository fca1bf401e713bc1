import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containersIn, jsonValueAt, readJsonObject, removeFromJson, setInJson } from './edit-json.ts';

const saidBy = (text: string | undefined) => {
  const root = text === undefined ? undefined : readJsonObject(text);
  return root && jsonValueAt(root, []);
};

describe('a JSON text that is edited', () => {
  it('keeps every byte that was there, and says the one thing more', () => {
    for (const text of [
      '',
      '{}',
      '{ }\n',
      '{"a":1}',
      '{\n  "a": 1\n}\n',
      '{\r\n\t"a": [1, 2],\r\n\t"b": {}\r\n}\r\n',
      '{\n  // why\n  "a": 1, // and why\n}\n',
      '{ /* nothing yet */ }',
      '{ // nothing yet\n}',
      '\ufeff{"a":"\\u00e9}"}',
    ]) {
      const before = text.trim() === '' ? {} : saidBy(text);
      const edited = setInJson(text, ['x', 'y'], { z: [1] });
      assert.deepEqual(saidBy(edited), { ...(before as object), x: { y: { z: [1] } } }, text);
      // Nothing but the new member, and blanks in a container that was empty, is new.
      let at = 0;
      for (const char of text.replaceAll(/\s/g, '')) {
        at = edited!.indexOf(char, at) + 1;
        assert.ok(at > 0, `${text} → ${edited}`);
      }
      assert.equal(setInJson(edited!, ['x', 'y'], { z: [1] }), edited, 'done twice is done once');
    }
  });

  it('replaces a value in place', () => {
    assert.equal(setInJson('{"x": {"y": 1, "z": 2}}', ['x', 'y'], 'new'), '{"x": {"y": "new", "z": 2}}');
    assert.equal(setInJson('{"l": [1, 2, 3]}', ['l', 1], 'two'), '{"l": [1, "two", 3]}');
  });

  it('adds to a list that is there, and makes one that is not', () => {
    assert.deepEqual(saidBy(setInJson('{"l":[1]}', ['l', 1], 2)), { l: [1, 2] });
    assert.deepEqual(saidBy(setInJson('{"l":[]}', ['l', 0], 2)), { l: [2] });
    assert.deepEqual(saidBy(setInJson('{}', ['k', 'l', 0], 2)), { k: { l: [2] } });
  });

  it('is as before once the value is removed, also with comments and trailing commas', () => {
    for (const text of [
      '{"a":1}',
      '{ "a": 1, }',
      '{\n  "a": 1, // why  \n}\n',
      '{\n  "x": {\n    "a": 1, // why\n  },\n}\n',
      '{\r\n\t"x": {\r\n\t\t"a": 1,\r\n\t},\r\n}\r\n',
    ])
      assert.equal(removeFromJson(setInJson(text, ['x', 'y'], { z: [1] })!, ['x', 'y']), text);
  });

  it('is as before once an element of a list or a member is removed, wherever it is and however it is written', () => {
    const group = { matcher: 'Bash', hooks: [{ type: 'command', command: 'acor' }] };
    for (const text of [
      '{"l":[{"a":[1]}]}',
      '{ "l": [ {"a": 1}, {"b": 2} ], "x": 1 }\n',
      '{\n  "l": [\n    {\n      "a": 1\n    }\n  ]\n}',
      '{\r\n\t"l": [\r\n\t\t{"a": 1} // why\r\n\t]\r\n}\r\n',
      '{"l":[1,2,],}',
    ]) {
      const { length } = (saidBy(text) as { l: unknown[] }).l;
      assert.equal(removeFromJson(setInJson(text, ['l', length], group)!, ['l', length]), text);
      assert.equal(removeFromJson(setInJson(text, ['new'], group)!, ['new']), text);
    }
    for (const [text, left] of [
      ['{"x": 1, "a": [1]}', '{"a": [1]}'],
      ['{ "a": 1, "x": 1, "b": 2 }', '{ "a": 1, "b": 2 }'],
      ['{\n  "x": 1,\n  "a": 1\n}\n', '{\n  "a": 1\n}\n'],
      ['{\n  "a": 1, // why\n  "x": 1\n}\n', '{\n  "a": 1 // why\n}\n'],
    ] as const)
      assert.equal(removeFromJson(text, ['x']), left);
  });

  it('leaves the containers that stood before empty, as they were', () => {
    for (const text of [
      '{}',
      '{"x":{}}',
      '{ "x": {} }\n',
      '{\n  "x": {}\n}\n',
      '{\n  "x": {\n    // mine\n  }\n}\n',
    ]) {
      const stood = containersIn(text, ['x', 'y']);
      assert.equal(removeFromJson(setInJson(text, ['x', 'y'], { z: [1] })!, ['x', 'y'], stood), text);
    }
    const list = '{"hooks":{"Stop":[]}}';
    const stood = containersIn(list, ['hooks', 'Stop', '']);
    assert.equal(
      removeFromJson(setInJson(list, ['hooks', 'Stop', 0], { a: 1 })!, ['hooks', 'Stop', 0], stood),
      list,
    );
  });

  it('is written as it is indented', () => {
    assert.equal(
      setInJson('{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n', ['a', 'c'], { d: 2 }),
      '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": {\n\t\t\t"d": 2\n\t\t}\n\t}\n}\n',
    );
  });

  it('stays unchanged when it is not JSON, or has another value at the path', () => {
    for (const text of ['{', '[]', '{"a":}', '{"a":1 "b":2}', '{a:1}', '1', '{"x":1}', '{"x":[]}', '{} {}'])
      assert.equal(setInJson(text, ['x', 'y'], 1), undefined, text);
    assert.equal(setInJson('{"l":{}}', ['l', 0], 1), undefined);
    assert.equal(setInJson('{"a":'.repeat(100_000), ['x'], 1), undefined, 'depth does not exhaust the stack');
  });
});
