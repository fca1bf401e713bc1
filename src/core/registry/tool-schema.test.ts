import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { completeManifest, manifestFile } from '../../protocol/manifest.ts';
import { effectsOf, inputSchemaOf, wordsFor } from './tool-schema.ts';

const manifest = (file: object) => completeManifest(manifestFile.parse(file), 'tool');
const schema = (inputs: object[]) => inputSchemaOf(manifest({ inputs }));
const effects = (file: object, isConfined = true) => {
  const { readsOnly, mayDestroy, reachesOut } = effectsOf(manifest(file), { isConfined });
  return [readsOnly, mayDestroy, reachesOut];
};

describe('the inputs of a manifest as a JSON Schema', () => {
  it('has each type with its bounds, lists, and what is required', () => {
    const { properties, required } = schema([
      { name: 'word', required: true, min: 2, max: 5, pattern: '^a' },
      { name: 'count', type: 'int', min: 1, default: 3, required: true },
      { name: 'kind', enum: ['a', 'b'], multiple: true },
      { name: 'url', type: 'url' },
      { name: 'wait', type: 'duration' },
      { name: 'any', type: 'json' },
      { name: 'on', type: 'bool' },
      { name: 'token', secret: true, default: 'hidden' },
    ]);
    assert.deepEqual(required, ['word']);
    assert.deepEqual(properties, {
      word: { type: 'string', minLength: 2, maxLength: 5, pattern: '^a' },
      count: { type: 'integer', minimum: 1, default: 3 },
      kind: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      url: { type: 'string', format: 'uri' },
      wait: { type: 'string' },
      any: {},
      on: { type: 'boolean' },
      token: { type: 'string', writeOnly: true },
    });
  });

  it('say that no other input is taken, where the schema of the manifest says nothing and lists them all', () => {
    const closed = (input_schema: object) =>
      inputSchemaOf(manifest({ input_schema }))['additionalProperties'];
    assert.equal(closed({ properties: { a: {} } }), false);
    assert.equal(closed({ properties: { a: {} }, additionalProperties: true }), true);
    for (const more of [{ patternProperties: { '^x_': {} } }, { allOf: [{ properties: { b: {} } }] }])
      assert.equal(closed({ properties: { a: {} }, ...more }), undefined);
  });

  it('do not close the values in a schema that contains itself', () => {
    const node = (child: object, more = {}) =>
      inputSchemaOf(manifest({ input_schema: { properties: { child }, ...more } }))['additionalProperties'];
    for (const child of [
      { $ref: '#' },
      { type: 'array', items: { $ref: '#' } },
      { $dynamicRef: '#node' },
      { anyOf: [{ type: 'null' }, { $ref: 'https://example.com/node' }] },
    ])
      assert.equal(node(child), undefined, JSON.stringify(child));
    // The control: a reference to a part that is closed by itself.
    assert.equal(node({ $ref: '#/$defs/leaf' }, { $defs: { leaf: {} } }), false);
  });

  it('becomes words that no flag of ACOR can be smuggled into', () => {
    assert.deepEqual(wordsFor(manifest({ inputs: [] }), { a: '--detach' }), [
      '--input-json',
      '{"a":"--detach"}',
    ]);
    assert.deepEqual(wordsFor(manifest({}), { args: ['--detach'] }), ['--', '--detach']);
    for (const given of [{ args: 'x' }, { args: [1] }, { other: 1 }])
      assert.throws(() => wordsFor(manifest({}), given), { code: 'E_USAGE' });
  });
});

describe('the effects of a tool', () => {
  it('depend on its permissions and inputs', () => {
    assert.deepEqual(effects({}), [true, false, false]);
    assert.deepEqual(effects({ inputs: [{ name: 'in', type: 'path', access: 'read' }] }), [
      true,
      false,
      false,
    ]);
    assert.deepEqual(effects({ inputs: [{ name: 'new', type: 'path' }] }), [false, false, false]);
    assert.deepEqual(effects({ inputs: [{ name: 'out', type: 'path', access: 'write' }] }), [
      false,
      true,
      false,
    ]);
    const host = { permissions: { network: { egress_allow: ['a.example:443'] } } };
    assert.deepEqual(effects(host), [false, true, true]);
    assert.deepEqual(effects({ permissions: { filesystem: { write: ['./x'] } } }), [true, false, false]);
    assert.deepEqual(effects({ permissions: { filesystem: { write: ['out'] } } }), [false, true, false]);
  });

  it('are taken from its own word where that contradicts nothing, and from nothing else without a sandbox', () => {
    const host = { permissions: { network: { egress_allow: ['a.example:443'] } } };
    assert.deepEqual(effects({ ...host, effects: 'reads' }), [true, false, true]);
    assert.deepEqual(effects({ ...host, effects: 'writes' }), [false, false, true]);
    assert.deepEqual(effects({ permissions: { filesystem: { write: ['out'] } }, effects: 'reads' }), [
      false,
      true,
      false,
    ]);
    assert.deepEqual(effects({}, false), [false, true, true]);
    assert.deepEqual(effects({ effects: 'reads' }, false), [true, false, true]);
    assert.deepEqual(effects({ permissions: { level: 'privileged' } }), [false, true, true]);
  });
});
