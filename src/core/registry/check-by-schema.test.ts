import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { completeManifest, manifestFile } from '../../protocol/manifest.ts';
import { problemsBySchema } from './check-by-schema.ts';
import { type ReadInput, readToolInputs } from './read-inputs.ts';
import { uncheckedIn } from './schema-check.ts';

type Schema = Record<string, unknown>;
type Given = Schema | string[];

/** What a call is refused for, as `input rule`; the words that the tool gets when it is accepted. */
async function outcome(schema: Schema, given: Given, open = false): Promise<string[]> {
  const manifest = completeManifest(manifestFile.parse({ input_schema: schema }), 't');
  const words = Array.isArray(given) ? given : ['--input-json', JSON.stringify(given)];
  const call = readToolInputs(manifest, words, {
    cwd: '/',
    ...(open && { open: (value) => 'json' in value && value.json === '?' }),
  })!;
  const problems =
    call.problems.length > 0 ? call.problems : await problemsBySchema({ name: 't', manifest }, call.read);
  return problems.length > 0
    ? problems.map(({ input, rule }) => `${input} ${rule}`)
    : call.read.map(({ spec, values }: ReadInput) => `${spec.name}=${values.map(({ text }) => text)}`);
}

const of = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });
const one = (property: unknown, more: Schema = {}): Schema => of({ p: property }, more);
const PORT = { $defs: { port: { type: 'integer', minimum: 1, exclusiveMaximum: 10 } } };

/** A schema, a call that breaks it, what it is refused for, and a call that is accepted, with what the tool gets. */
const CASES: Record<string, [Schema, Given, string[], Given, string[]]> = {
  'exclusive bounds': [
    one({ type: 'number', exclusiveMinimum: 0 }),
    ['--p', '0'],
    ['p exclusiveMinimum'],
    ['--p', '0.1'],
    ['p=0.1'],
  ],
  multipleOf: [
    one({ type: 'number', multipleOf: 0.1 }),
    ['--p', '0.25'],
    ['p multipleOf'],
    ['--p', '0.3'],
    ['p=0.3'],
  ],
  not: [one({ type: 'string', not: { const: 'x' } }), ['--p', 'x'], ['p not'], ['--p', 'y'], ['p=y']],
  'const of text': [one({ const: 'fast' }), ['--p', 'slow'], ['p enum'], ['--p', 'fast'], ['p=fast']],
  'const of a number': [one({ const: 5 }), ['--p', '6'], ['p enum'], ['--p', '5'], ['p=5']],
  'anyOf of numbers': [
    one({ anyOf: [{ const: 1 }, { const: 2 }] }),
    ['--p', '3'],
    ['p anyOf'],
    ['--p', '2'],
    ['p=2'],
  ],
  'anyOf of types': [
    one({ anyOf: [{ type: 'integer' }, { const: 'auto' }] }),
    { p: 'x' },
    ['p anyOf'],
    ['--p', '5'],
    ['p=5'],
  ],
  'a nullable type': [
    one({ type: ['integer', 'null'], minimum: 5 }),
    { p: 4 },
    ['p minimum'],
    { p: null },
    ['p=null'],
  ],
  'format: date': [
    one({ type: 'string', format: 'date' }),
    ['--p', '2026-02-30'],
    ['p format'],
    ['--p', '2026-02-28'],
    ['p=2026-02-28'],
  ],
  'format: duration with choices': [
    one({ type: 'string', format: 'duration', enum: ['5m'] }),
    ['--p', '6m'],
    ['p enum'],
    ['--p', '5m'],
    ['p=300'],
  ],
  'a reference': [one({ $ref: '#/$defs/port' }, PORT), ['--p', '"x"'], ['p type'], ['--p', '9'], ['p=9']],
  'a bound behind a reference': [
    one({ $ref: '#/$defs/port' }, PORT),
    { p: 10 },
    ['p exclusiveMaximum'],
    { p: 9 },
    ['p=9'],
  ],
  'a list of references': [
    one({ type: 'array', items: { $ref: '#/$defs/port' } }, PORT),
    ['--p', '1', '--p', '10'],
    ['p exclusiveMaximum'],
    ['--p', '1', '--p', '2'],
    ['p=1,2'],
  ],
  'a list with another first item': [
    one({ type: 'array', prefixItems: [{ type: 'integer' }], items: { type: 'string' } }),
    { p: ['a'] },
    ['p type'],
    { p: [1, 'a'] },
    ['p=[1,"a"]'],
  ],
  'a minimum length of a path': [
    one({ type: 'string', format: 'path', minLength: 3 }),
    ['--p', 'ab'],
    ['p min'],
    ['--p', 'abc'],
    ['p=abc'],
  ],
  minProperties: [
    of({ a: { type: 'string' } }, { minProperties: 1 }),
    {},
    ['input_schema minProperties'],
    { a: 'x' },
    ['a=x'],
  ],
  dependentRequired: [
    of({ a: {}, b: {} }, { dependentRequired: { a: ['b'] } }),
    { a: 1 },
    ['b dependentRequired'],
    { a: 1, b: 2 },
    ['a=1', 'b=2'],
  ],
  'anyOf of the call': [
    of({ a: {}, b: {} }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    {},
    ['input_schema anyOf'],
    { b: 1 },
    ['b=1'],
  ],
  'if and then': [
    of(
      { a: { enum: ['x', 'y'] }, n: { type: 'integer' } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: { properties: { a: { const: 'x' } } }, then: { properties: { n: { minimum: 5 } } } },
    ),
    { a: 'x', n: 1 },
    ['n minimum'],
    { a: 'y', n: 1 },
    ['a=y', 'n=1'],
  ],
  'properties of alternatives': [
    {
      oneOf: [
        of({ k: { const: 'a' } }, { required: ['k'] }),
        of({ n: { type: 'integer' } }, { required: ['n'] }),
      ],
    },
    ['--k', 'a', '--n', '1'],
    ['input_schema oneOf'],
    ['--n', '1'],
    ['n=1'],
  ],
  'properties of a reference': [
    { $ref: '#/$defs/all', $defs: { all: of({ n: { type: 'integer', multipleOf: 2 } }) } },
    ['--n', '1'],
    ['n multipleOf'],
    ['--n', '2'],
    ['n=2'],
  ],
  patternProperties: [
    of({}, { patternProperties: { '^x_': { type: 'integer', multipleOf: 2 } } }),
    ['--x-a', '3'],
    ['x_a multipleOf'],
    ['--x-a', '2', '--x_b=4'],
    ['x_a=2', 'x_b=4'],
  ],
  'a name that no pattern allows': [
    of({}, { patternProperties: { '^x_': {} } }),
    { y: 1 },
    ['y unknown-input'],
    { x_a: 1 },
    ['x_a=1'],
  ],
  'additionalProperties with a schema': [
    of({ a: {} }, { additionalProperties: { type: 'integer' } }),
    ['--b', 'x'],
    ['b type'],
    ['--b', '1'],
    ['b=1'],
  ],
  'additionalProperties: false': [
    of({ a: {} }, { additionalProperties: false }),
    { b: 1 },
    ['b unknown-input'],
    { a: 1 },
    ['a=1'],
  ],
  'a name whose flag is that of another input': [
    of({ 'a-b': { type: 'integer' } }, { additionalProperties: true }),
    { a_b: 'x' },
    ['a_b unknown-input'],
    { 'a-b': 1, c: 2 },
    ['a-b=1', 'c=2'],
  ],
  'draft 7': [
    of({ a: {}, b: {} }, { $schema: 'http://json-schema.org/draft-07/schema#', dependencies: { a: ['b'] } }),
    { a: 1 },
    ['b dependencies'],
    { b: 1 },
    ['b=1'],
  ],
};

describe('a call of a tool with an input_schema', () => {
  for (const [what, [schema, bad, refused, good, words]] of Object.entries(CASES)) {
    it(`is checked by ${what}`, async () => {
      assert.deepEqual(await outcome(schema, bad), refused);
      assert.deepEqual(await outcome(schema, good), words);
    });
  }

  it('is checked without the defaults that it does not need, and the tool gets no default that breaks the schema', async () => {
    const mode = { const: 'fast', default: 'fast' };
    const port = { type: 'integer', default: 5 };
    const both = { dependentRequired: { mode: ['port'] } };
    assert.deepEqual(await outcome(of({ mode, port: { type: 'integer' } }, both), {}), ['mode=fast']);
    assert.deepEqual(await outcome(of({ mode, port }, both), { mode: 'fast' }), ['mode=fast', 'port=5']);
    assert.deepEqual(await outcome(of({ port }, { required: ['port'], minProperties: 1 }), {}), ['port=5']);
    assert.deepEqual(await outcome(of({ n: { type: 'number', exclusiveMinimum: 0, default: 0 } }), {}), [
      'n exclusiveMinimum',
    ]);
  });

  it('with a value that is still unknown is checked by the known values only', async () => {
    const schema = of({ a: { type: 'integer', multipleOf: 2 }, b: {} }, { dependentRequired: { a: ['c'] } });
    assert.deepEqual(await outcome(schema, { a: 1, b: '?' }, true), ['a multipleOf']);
    assert.deepEqual(await outcome(schema, { a: 2, b: '?' }, true), ['a=2', 'b=']);
  });

  it('is refused with what is missing, each mistake in words, and never a secret', async () => {
    const messages = async (schema: Schema, given: Schema) => {
      const manifest = completeManifest(manifestFile.parse({ input_schema: schema }), 't');
      const { read } = readToolInputs(manifest, ['--input-json', JSON.stringify(given)], { cwd: '/' })!;
      return (await problemsBySchema({ name: 't', manifest }, read)).map(
        ({ message, fix }) => `${message} | ${fix}`,
      );
    };
    const either = { anyOf: [{ required: ['a'] }, { required: ['b'] }], minProperties: 1 };
    assert.deepEqual(await messages(of({ a: { type: 'string' }, b: { type: 'integer' } }, either), {}), [
      "the inputs must match a schema in anyOf ('a' is required and is not given; or 'b' is required and is not given) | Add --a <string>. Or: Add --b <int>.",
      'at least 1 input is required, and 0 inputs are given | Add one of: --a <string>, --b <int>.',
    ]);
    const point = { type: 'object', required: ['x'], properties: { y: { type: 'integer' } } };
    assert.deepEqual(
      await messages(of({ at: point, n: { type: 'integer', multipleOf: 2 } }), { at: { y: 'far' }, n: 1 }),
      [
        '\'at\' must have required property \'x\', and is {"y":"far"} | It must match input_schema.properties.at of the tool.',
        "'at.y' must be integer | It must match input_schema.properties.at of the tool.",
        "'n' must be multiple of 2, and is 1 | It must match input_schema.properties.n of the tool.",
      ],
    );
    const secret = { type: 'object', writeOnly: true, maxProperties: 0, propertyNames: { maxLength: 2 } };
    assert.ok(!(await messages(one(secret), { p: { hunter22: 1 } })).join().includes('hunter22'));
  });

  it('throws for a schema that cannot be used', async () => {
    await assert.rejects(outcome(one({ type: 'nonsense' }), { p: 1 }), { code: 'E_MANIFEST_INVALID' });
    const endless = { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } };
    await assert.rejects(outcome(one({ $ref: '#/$defs/a' }, endless), { p: 1 }), {
      code: 'E_MANIFEST_INVALID',
    });
  });

  it('is checked by everything except the keywords and formats that are named as unchecked', async () => {
    for (const [schema] of Object.values(CASES)) assert.deepEqual(await uncheckedIn(schema), []);
    const unknown = one({ type: 'string', format: 'iri', minimumLength: 2, 'x-shown': true });
    assert.deepEqual(await uncheckedIn(unknown), ["the format 'iri'", "the keyword 'minimumLength'"]);
  });
});
