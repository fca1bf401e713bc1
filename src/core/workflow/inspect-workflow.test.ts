import assert from 'node:assert/strict';
import { it } from 'node:test';
import { invalidWorkflow } from './inspect-workflow.ts';

it('an invalid workflow is an error with its first problem and the way to all of them', () => {
  const problem = { file: '/f.yaml', line: 2, column: 3, rule: 'x', message: 'wrong', fix: 'Fix it.' };
  const all = { operation: 'workflow.validate', input: { workflows: ['flow'] } };
  const one = invalidWorkflow([problem], 'flow');
  assert.deepEqual(
    [one.code, one.message, one.hint],
    ['E_WORKFLOW_INVALID', '/f.yaml:2:3: wrong', 'Fix it.'],
  );
  assert.partialDeepStrictEqual(one.next, [all]);
  const step = { operation: 'tool.list', input: {}, why: 'See the tools.' } as const;
  const two = invalidWorkflow([{ ...problem, next: [step] }, problem], 'flow');
  assert.match(two.message, /wrong \(and 1 more\)$/);
  assert.partialDeepStrictEqual(two.next, [step, all]);
  assert.deepEqual(two.details, { problems: [problem, problem] });
  assert.equal(invalidWorkflow([], 'flow').message, 'flow');
});
