import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerSteps, readQuestion } from './question.ts';

function answersOffered(type: string, fallback: unknown): unknown[] {
  const question = readQuestion({ action: 'choose', action_id: 'a-1', schema: { type }, default: fallback });
  return answerSteps('r-1', question).map(({ input }) => JSON.parse(String(input['value'])));
}

describe('the answers that are offered for a question', () => {
  it('have its default when that is of the type of its schema', () => {
    const values = { null: null, array: [1], object: { a: 1 }, string: 'a', integer: 1, number: 1.5 };
    for (const [type, right] of Object.entries(values)) {
      assert.deepEqual(answersOffered(type, right), [right], type);
      const wrong = Object.values(values).filter((each) => typeof each !== 'number' && each !== right);
      for (const each of wrong) assert.deepEqual(answersOffered(type, each), [], `${type}: ${each}`);
    }
    assert.deepEqual(answersOffered('integer', 1.5), []);
  });
});
