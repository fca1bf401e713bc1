import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RecordForm } from '../../ports/run-launcher.ts';
import { RecordReader } from './record-feed.ts';

describe('the records of a run', () => {
  it('are the lines of a plain program: objects as they are, other text as a line', () => {
    const said = ['{"id": 1, "a":[2]}', 'text', '42', '[1]', '{"torn":', ' {"id":2}', 'null'];
    const events = said.map((msg) => ({ type: 'log', level: 'info', msg }));
    assert.deepEqual(read('lines', [...events, { type: 'result', data: { output: 'text' } }]), [
      '{"id": 1, "a":[2]}',
      '{"line":"text"}',
      '{"line":"42"}',
      '{"line":"[1]"}',
      '{"line":"{\\"torn\\":"}',
      ' {"id":2}',
      '{"line":"null"}',
    ]);
  });

  it('say so when a line was too long to be kept whole', () => {
    assert.deepEqual(read('lines', [{ type: 'log', msg: '{"a":1}', cut: true }]), [
      '{"line":"{\\"a\\":1}","cut":true}',
    ]);
  });

  it('are what other tools hand on in messages, and nothing that the runner or a person says', () => {
    const events = [
      { type: 'runner_log', record: { forged: 1 } },
      { type: 'log', msg: 'a remark' },
      { type: 'log', msg: 'record', record: { id: 1 } },
      { type: 'log', msg: 'record', record: [2] },
      { type: 'progress', record: { id: 3 } },
      { type: 'result', data: [{ id: 4 }] },
    ];
    assert.deepEqual(read('messages', events), ['{"id":1}']);
  });

  it('are the data of the result where none were handed on', () => {
    const of = (data: unknown) => read('messages', [{ type: 'result', data }]);
    assert.deepEqual(of([{ id: 1 }, 'x', null, [2]]), [
      '{"id":1}',
      '{"value":"x"}',
      '{"value":null}',
      '{"value":[2]}',
    ]);
    assert.deepEqual(of({ id: 1 }), ['{"id":1}']);
    assert.deepEqual(of(7), ['{"value":7}']);
    assert.deepEqual(of(null), []);
    assert.deepEqual(read('messages', [{ type: 'result' }]), []);
  });

  it('are what it emits alone, also when that is nothing, where its manifest says so', () => {
    const events = [
      { type: 'log', record: { id: 1 } },
      { type: 'result', data: { count: 1 } },
    ];
    assert.deepEqual(read('records', events), ['{"id":1}']);
    assert.deepEqual(read('records', events.slice(1)), []);
  });

  it('may be so many in one result that they fill a line of the log', () => {
    assert.equal(read('messages', [{ type: 'result', data: Array(300_000).fill({}) }]).length, 300_000);
  });
});

/** Event by event, as they may come. */
function read(form: RecordForm, events: readonly object[]): string[] {
  const reader = new RecordReader(form);
  const text = events
    .map((event) => reader.read(Buffer.from(`${JSON.stringify(event)}\n`)).toString())
    .join('');
  return text.split('\n').slice(0, -1);
}
