import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { displayWidth } from './display-width.ts';
import { renderAnswer, renderValue, renderWhole } from './render.ts';
import type { Screen } from './screen.ts';
import { renderTable } from './table.ts';

const screen: Screen = { width: 40, color: false, unicode: true, live: false };

describe('rendering for a person', () => {
  it('draws records as a table that fits the width, wide characters counted right', () => {
    const rows = [
      { id: 'r-1', title: '漢字', size: 5 },
      { id: 'r-22', title: 'a title that is much longer than there is room for', size: 1234 },
    ];
    assert.equal(
      renderValue(rows, screen),
      [
        'id    title                         size',
        'r-1   漢字                             5',
        'r-22  a title that is much longer…  1234',
      ].join('\n'),
    );
    for (const line of renderValue(rows, { ...screen, width: 30 }).split('\n'))
      assert.ok(displayWidth(line) <= 30, line);
  });

  it('continues a text of the last column on further lines, and styles a cell without moving the others', () => {
    const rows = [
      { id: 'r-1', state: 'bad', text: 'words that are longer than 漢字 there is room for' },
      { id: 'r-2', state: 'good', text: 'short' },
    ];
    const look = (column: string, text: string) => (column === 'state' && text === 'bad' ? 'red' : undefined);
    assert.equal(
      renderTable(rows, { ...screen, width: 34, color: true }, ['id'], look),
      [
        '\x1b[1mid   state  text\x1b[22m',
        'r-1  \x1b[31mbad  \x1b[39m  words that are longer',
        '            than 漢字 there is',
        '            room for',
        'r-2  good   short',
      ].join('\n'),
    );
  });

  it('draws one record after the other where a table has no room', () => {
    const text = renderValue([{ first: 'a', second: 'bbbbbbbbbb', third: 'cccccccccc' }, { first: 'x' }], {
      ...screen,
      width: 20,
    });
    assert.equal(text, 'first   a\nsecond  bbbbbbbbbb\nthird   cccccccccc\n\nfirst  x');
  });

  it('draws a record as keys and values, its lists of records indented', () => {
    const text = renderValue(
      { name: 'x', tags: ['a', 'b'], empty: [], rows: [{ id: 1 }], text: 'one\ntwo' },
      screen,
    );
    assert.equal(text, 'name   x\ntags   a, b\nempty\nrows\n  id\n   1\ntext   one\n       two');
  });

  it('draws nested data whole: small records in a cell, lists in lists behind a mark, all else below its key', () => {
    const drawn = (value: unknown) => renderWhole(value, screen).split('\n');
    assert.deepEqual(drawn([{ name: 'a', owner: { id: 1, mail: 'a@b' } }]), [
      'name  owner',
      'a     id: 1, mail: a@b',
    ]);
    assert.deepEqual(drawn({ users: [{ name: 'Ada', roles: [{ id: 1 }, { id: 2 }] }], total: 1 }), [
      'users',
      '  name  Ada',
      '  roles',
      '    id',
      '     1',
      '     2',
      'total  1',
    ]);
    assert.deepEqual(
      drawn([
        [1, 2],
        [3, 4],
      ]),
      ['1, 2', '3, 4'],
    );
    assert.deepEqual(drawn(['a', { b: 1, c: [2] }, [1, { d: null }]]), [
      '- a',
      '- b  1',
      '  c  2',
      '- - 1',
      '  - d  null',
    ]);
    assert.deepEqual(drawn({ none: [], nothing: null, blank: '' }), [
      'none     (none)',
      'nothing  null',
      'blank',
    ]);
    const deep = Array.from({ length: 50 }).reduce<unknown>((inner) => ({ in: [inner] }), 'end');
    assert.match(drawn(deep).at(-1)!, /^ +(?:in +)?[{[]"?/);
  });

  it('says what is not shown and what to do next, and prints nothing unsafe', () => {
    const meta = { tool: 't', elapsed: 1, count: 1, total: 9, hasMore: true, next: ['app show \x1b[31m1'] };
    const text = renderAnswer([{ id: '\x1b[2Jx' }], meta, screen, undefined);
    assert.equal(text, 'id\nx\n1 of 9 shown; there are more: --limit N --offset N\nNext\n  app show 1\n');
  });

  it('does not say that there are none where only the page has none', () => {
    const meta = { tool: 't', elapsed: 1, count: 0, total: 3, hasMore: true };
    const note = '0 of 3 shown; there are more: --limit N --offset N\n';
    const render = () => 'There are none.';
    assert.equal(renderAnswer({ notes: [], open: true }, meta, screen, render), note);
    assert.equal(renderAnswer([], meta, screen, render), note);
    assert.equal(
      renderAnswer({ notes: [], of: { id: 1 } }, meta, screen, render),
      `There are none.\n${note}`,
    );
    assert.equal(
      renderAnswer({ notes: [] }, { tool: 't', elapsed: 1, count: 0 }, screen, render),
      'There are none.\n',
    );
  });

  it('sets what to do next apart from paragraphs, as a paragraph of its own', () => {
    const meta = { tool: 't', elapsed: 1, next: ['app show 1'] };
    const render = () => 'one\n\ntwo\n';
    assert.equal(renderAnswer({}, meta, screen, render), 'one\n\ntwo\n\nNext\n  app show 1\n');
  });

  it('hands an operation’s own rendering data that is safe already', () => {
    const render = (data: unknown) => `<${(data as { id: string }).id}>`;
    assert.equal(renderAnswer({ id: 'a\x07' }, { tool: 't', elapsed: 1 }, screen, render), '<a\\x07>\n');
  });
});
