import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { traceVariables } from '../../../util/ids.ts';
import { traceContextOf } from './from-request.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

/** What a tool gets when the caller has these variables. */
function passedOn(TRACEPARENT: string, TRACESTATE?: string) {
  const context = traceContextOf({ TRACEPARENT, TRACESTATE });
  return { context, ...traceVariables({ ...context, spanId: 'b7ad6b7169203331' }) };
}

describe('the trace context of a caller (W3C)', () => {
  it('is continued with the flag of the caller, and with its state', () => {
    for (const flags of ['00', '01']) {
      const { context, TRACEPARENT, TRACESTATE } = passedOn(
        `00-${TRACE}-${PARENT}-${flags}`,
        'congo=t61,rojo=1',
      );
      assert.deepEqual([context.traceId, context.parentSpanId], [TRACE, PARENT]);
      assert.deepEqual(
        [TRACEPARENT, TRACESTATE],
        [`00-${TRACE}-b7ad6b7169203331-${flags}`, 'congo=t61,rojo=1'],
      );
    }
  });

  it('keeps only the sampled flag, and reads later versions by the fields that it knows', () => {
    assert.match(passedOn(`00-${TRACE}-${PARENT}-fe`).TRACEPARENT, /^00-.*-00$/);
    assert.match(passedOn(`00-${TRACE}-${PARENT}-ff`).TRACEPARENT, /^00-.*-01$/);
    assert.equal(passedOn(`cc-${TRACE}-${PARENT}-00-what-follows`).context.traceId, TRACE);
  });

  for (const invalid of [
    '',
    `ff-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `cc-${TRACE}-${PARENT}-01.more`,
    `00-${TRACE}-${PARENT}-1`,
  ])
    it(`is not used when it is invalid, nor is its state: ${invalid || '(empty)'}`, () => {
      const { context, TRACEPARENT, TRACESTATE } = passedOn(invalid, 'congo=t61');
      assert.notEqual(context.traceId, TRACE);
      assert.deepEqual([context.parentSpanId, TRACESTATE], [null, '']);
      assert.match(TRACEPARENT, /^00-[0-9a-f]{32}-b7ad6b7169203331-01$/);
    });

  it('has a state without invalid lists', () => {
    const parent = `00-${TRACE}-${PARENT}-01`;
    const many = Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(',');
    for (const invalid of [
      'no member',
      'UPPER=1',
      'a=1,a=2',
      'a=b=c',
      many,
      'a=\u00e4',
      `a=${'x'.repeat(257)}`,
    ])
      assert.equal(passedOn(parent, invalid).TRACESTATE, '', invalid);
    for (const [given, passed] of [
      ['a=1, b=2 ,,', 'a=1,b=2'],
      ['0tenant@vendor=x', '0tenant@vendor=x'],
    ] as const)
      assert.equal(passedOn(parent, given).TRACESTATE, passed);
  });

  it('has at most 512 characters of state: long members go first, then the last', () => {
    const parent = `00-${TRACE}-${PARENT}-01`;
    const long = `long=${'x'.repeat(200)}`;
    const short = Array.from({ length: 5 }, (_, at) => `k${at}=${'y'.repeat(90)}`);
    const { TRACESTATE } = passedOn(parent, [long, ...short].join(','));
    assert.equal(TRACESTATE, short.join(','));
    const more = Array.from({ length: 8 }, (_, at) => `k${at}=${'y'.repeat(90)}`);
    assert.equal(passedOn(parent, more.join(',')).TRACESTATE, more.slice(0, 5).join(','));
  });
});
