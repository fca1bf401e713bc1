import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isSpecType } from '@modelcontextprotocol/server';
import { formOf, type OpenQuestion } from './elicitation.ts';

it('a form says whether ACOR asks or the tool, whatever the tool writes', () => {
  const msg = "May the tool 'reads' read /srv/x?";
  const question = (action_id: string): OpenQuestion => ({
    tool: 'reads',
    action_id,
    action: 'allow_path',
    audience: 'user',
    blocking: true,
    msg,
    context: {},
    options: [{ id: 'run' }, { id: 'no' }],
    schema: null,
  });
  assert.equal(formOf(question('acor-1-1')).message, `ACOR asks: ${msg}`);
  assert.equal(formOf(question('a-1')).message, `reads asks: ${msg}`);
});

it('a form has only fields that clients accept, and says in words what they lack', () => {
  const ask = (schema: Record<string, unknown>) =>
    formOf({
      tool: 'asks',
      action_id: 'a-1',
      action: 'ask',
      audience: 'user',
      blocking: true,
      msg: 'Which?',
      context: {},
      options: null,
      schema,
    });
  const fields: [given: Record<string, unknown>, expected: Record<string, unknown>][] = [
    [
      { type: 'string', format: 'uuid' },
      { type: 'string', description: 'Format: uuid.' },
    ],
    [
      { type: 'string', format: 'ipv4', description: 'The host.' },
      { type: 'string', description: 'The host. Format: ipv4.' },
    ],
    [
      { type: 'string', format: 'email', default: 7 },
      { type: 'string', format: 'email' },
    ],
    [
      { type: 'integer', default: 1.5, minimum: 1 },
      { type: 'integer', minimum: 1 },
    ],
    [
      { type: 'boolean', default: true },
      { type: 'boolean', default: true },
    ],
  ];
  for (const [given, expected] of fields) {
    const [one, flat] = [ask(given), ask({ type: 'object', properties: { a: given } })];
    for (const form of [one, flat]) assert.ok(isSpecType.ElicitRequestFormParams(form), JSON.stringify(form));
    assert.deepEqual(one.requestedSchema.properties['answer'], expected);
    assert.deepEqual(flat.requestedSchema.properties['a'], expected);
  }
  // A form has no field with several types: the whole answer is one, as JSON.
  for (const type of [['string'], ['string', 'null']]) {
    const form = ask({ type: 'object', properties: { a: { type } } });
    assert.ok(isSpecType.ElicitRequestFormParams(form));
    assert.match(JSON.stringify(form.requestedSchema), /JSON that fits/);
  }
});
