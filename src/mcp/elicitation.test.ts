import assert from 'node:assert/strict';
import { it } from 'node:test';
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
