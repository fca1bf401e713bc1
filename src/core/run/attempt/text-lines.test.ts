import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TextLines } from './text-lines.ts';

const OWN = 10_000;
const FULL = 65_536;

describe('the lines of a flood of text', () => {
  it('have an event each up to the ten thousandth, and share one after it', () => {
    const { lines, stored } = linesAfter(OWN - 1);
    lines.add('log', 'the last of its own', stored.push);
    assert.equal(stored.texts.at(-1), 'the last of its own');
    lines.add('log', 'one', stored.push);
    lines.add('log', 'two', stored.push);
    assert.equal(stored.texts.length, OWN);
    lines.flush();
    assert.deepEqual(stored.texts.slice(OWN), ['one\ntwo']);
  });

  it('share no event with lines of another kind', () => {
    const { lines, stored } = linesAfter(OWN);
    lines.add('log', 'one', stored.push);
    lines.add('diagnostic', 'two', stored.push);
    lines.flush();
    assert.deepEqual(stored.texts.slice(OWN), ['one', 'two']);
  });

  it('are stored as soon as they are long enough', () => {
    const { lines, stored } = linesAfter(OWN);
    const half = 'x'.repeat(FULL / 2 - 1);
    for (const line of [half, half, 'next']) lines.add('log', line, stored.push);
    lines.flush();
    assert.deepEqual(stored.texts.slice(OWN), [`${half}\n${half}`, 'next']);
  });

  it('have an event each, however many, when another run reads them as records', () => {
    const { lines, stored } = linesAfter(OWN + 1, { joins: false });
    assert.equal(stored.texts.length, OWN + 1);
    lines.flush();
    assert.equal(stored.texts.length, OWN + 1);
  });
});

function linesAfter(count: number, options = { joins: true }) {
  const lines = new TextLines(options);
  const texts: string[] = [];
  const push = (text: string) => {
    texts.push(text);
  };
  for (let line = 0; line < count; line++) lines.add('log', `line ${line}`, push);
  return { lines, stored: { texts, push } };
}
