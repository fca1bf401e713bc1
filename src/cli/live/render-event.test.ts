import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Screen } from '../../compose/screen.ts';
import { renderEvent } from './render-event.ts';

const screen: Screen = { width: 80, color: false, unicode: true, live: false };
const shown = (event: Record<string, unknown>) => renderEvent(event, screen)?.text;

describe('a line of a tool at a terminal', () => {
  it('is what the tool wrote, also where it is not the protocol', () => {
    for (const msg of ['non-json stdout', 'json without a type'])
      assert.equal(shown({ type: 'runner_log', level: 'warn', msg, line: 'counting' }), '│ counting');
    assert.equal(
      shown({ type: 'runner_log', level: 'warn', msg: 'line too long', line: 'x' }),
      '│ line too long: x',
    );
  });

  it('that was rewritten with carriage returns is its last state', () => {
    for (const [type, field] of [
      ['diagnostic', 'line'],
      ['log', 'msg'],
    ] as const)
      assert.equal(shown({ type, level: 'info', [field]: ' 10%\r 40%\r100%\r' }), '│ 100%');
    assert.equal(shown({ type: 'diagnostic', line: 'windows\r' }), '│ windows');
  });
});
