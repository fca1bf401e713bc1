import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { MARKER_KINDS, type Marker, type MarkerPiece } from './marker.ts';
import { MAX_BLOCK_CHARS, MarkerLines, MarkerStream, parseMarkers } from './marker-stream.ts';

const markersIn = (text: string): Marker[] =>
  parseMarkers(text).flatMap((piece) => (piece.kind === 'marker' ? [piece.marker] : []));
const textIn = (text: string): string[] =>
  parseMarkers(text).flatMap((piece) => (piece.kind === 'text' ? [piece.text] : []));
const only = (text: string): Record<string, unknown> => {
  const markers = markersIn(text);
  assert.equal(markers.length, 1, JSON.stringify(markers));
  return { name: markers[0]!.name, ...markers[0]!.data };
};

describe('the markers of the protocol', () => {
  it('are read with all that their examples say', () => {
    const text = readFileSync(new URL('../../../test/fixtures/streams/markers.txt', import.meta.url), 'utf8');
    assert.deepEqual(
      markersIn(text).map(({ name, data }) => ({ name, ...data })),
      [
        { name: 'PROGRESS', msg: 'Analyzed existing LoginForm.tsx pattern' },
        {
          name: 'QUESTION',
          question: 'Should JWT tokens be stored in localStorage or sessionStorage?',
          options: [
            { number: 1, label: 'localStorage', description: 'Persists across browser sessions' },
            { number: 2, label: 'sessionStorage', description: 'Cleared when browser closes' },
          ],
          context: 'This affects logout behavior and security posture.',
        },
        {
          name: 'BLOCKED',
          reason: 'Cannot find API base URL',
          context:
            "The plan references API_BASE_URL but it's not defined in:\n- .env file\n- src/config.ts\nPlease specify the API endpoint.",
        },
        {
          name: 'TEST_RESULTS',
          text: '12 passed, 1 failed\nlogin rejects a wrong password',
          passed: 12,
          failed: 1,
        },
        {
          name: 'LINT_WARNINGS',
          text: '- a.ts:1 unused\n- b.ts:2 shadowed',
          items: ['a.ts:1 unused', 'b.ts:2 shadowed'],
        },
        { name: 'DEPENDENCY_NEEDED', text: 'axios', items: ['axios'] },
        {
          name: 'GIT_COMMIT_SUGGESTION',
          subject: 'Add sign-in',
          body: 'Tokens are kept for the session only.',
        },
        {
          name: 'FILES_MODIFIED',
          files: [
            { path: 'src/components/UserAuth.tsx', change: 'created' },
            { path: 'src/App.tsx', change: 'modified' },
            { path: 'old (copy).ts', change: 'deleted' },
          ],
        },
        { name: 'CODEX_COMPLETE', summary: 'Task completed in 8 iterations', iterations: 8 },
      ],
    );
  });

  it('stand at the start of a line, in upper case, and are known by name; all else is text', () => {
    for (const text of [
      ' [PROGRESS] x',
      '[progress] x',
      'a [PROGRESS] x',
      '[UNHEARD_OF] x',
      '[PROGRESS x',
      '- [BLOCKED]',
    ]) {
      assert.deepEqual([markersIn(text), textIn(text)], [[], [text]], text);
    }
    assert.deepEqual(only('[PROGRESS]close by'), { name: 'PROGRESS', msg: 'close by' });
    assert.deepEqual(only('[PROGRESS]'), { name: 'PROGRESS', msg: '' });
  });

  it('are text when they are malformed, with every line of theirs', () => {
    for (const text of [
      '[QUESTION]',
      '[BLOCKED]   ',
      '[FILES_MODIFIED]',
      '[FILES_MODIFIED] none',
      '[TEST_RESULTS]',
    ]) {
      const lines = [text, '', 'more', 'after'];
      if (text === '[QUESTION]') lines.splice(1, 1);
      const found = parseMarkers(lines.join('\n'));
      if (text === '[QUESTION]')
        assert.equal(markersIn(lines.join('\n')).length, 1, 'the text may stand on the next line');
      else
        assert.deepEqual(
          found.map((piece) => (piece.kind === 'text' ? piece.text : piece)),
          lines,
          text,
        );
    }
  });

  it('reach to the next marker, a blank line, or what cannot belong to them', () => {
    assert.deepEqual(
      markersIn('[BLOCKED] a\nb\n[PROGRESS] c').map(({ name, lines }) => [name, lines]),
      [
        ['BLOCKED', 2],
        ['PROGRESS', 1],
      ],
    );
    assert.deepEqual(textIn('[BLOCKED] a\nb\n\nc'), ['', 'c']);
    assert.deepEqual(textIn('[FILES_MODIFIED]\n- a.ts (created)\nThat is all.'), ['That is all.']);
    assert.deepEqual(only('[BLOCKED] a\n[see above]\nb'), {
      name: 'BLOCKED',
      reason: 'a',
      context: '[see above]\nb',
    });
  });

  it('take one paragraph after a blank line into a question, and no second one', () => {
    const { context } = only('[QUESTION] a?\nOptions:\n1. b\n\nwhy\n1. is not an option\n\nother text');
    assert.equal(context, 'why\n1. is not an option');
    assert.deepEqual(textIn('[QUESTION] a?\n\nwhy\n\nother'), ['', 'other']);
  });

  it('have their place, and where they were cut', () => {
    const [first, second] = markersIn(`x\n\n[BLOCKED] a\nb\n[PROGRESS] ${'y'.repeat(MAX_BLOCK_CHARS)}`);
    assert.deepEqual([first!.line, first!.lines, first!.cut], [3, 2, false]);
    assert.deepEqual([second!.line, second!.lines, second!.cut], [5, 1, true]);
    const endless = markersIn(`[BLOCKED] a\n${'word\n'.repeat(100_000)}`);
    assert.equal(endless[0]!.cut, true);
    assert.ok(JSON.stringify(endless[0]!.data).length < 2 * MAX_BLOCK_CHARS);
  });

  it('may be more than these', () => {
    const kinds = [
      ...MARKER_KINDS,
      { name: 'COST', reach: 'line', read: ({ head }: { head: string }) => ({ usd: Number(head) }) } as const,
    ];
    const [piece] = parseMarkers('[COST] 0.25', kinds);
    assert.deepEqual(piece?.kind === 'marker' && piece.marker.data, { usd: 0.25 });
    assert.throws(() => new MarkerLines(() => {}, [{ ...kinds[0]!, name: 'no good' }]), /cannot be named/);
  });

  it('end with their last line that is not blank; the blank lines after it are text', () => {
    const [marker] = markersIn('[QUESTION] Which?\nOptions:\n1. a\n\n\n');
    assert.deepEqual([marker!.line, marker!.lines], [1, 3]);
    assert.deepEqual(textIn('[QUESTION] Which?\nOptions:\n1. a\n\n\n'), ['', '']);
  });

  it('have a block of at most so many characters, line ends included', () => {
    const head = '[BLOCKED] x';
    const line = 'y'.repeat(1023);
    const lines = Array.from({ length: (MAX_BLOCK_CHARS - 1024) / 1024 }, () => line);
    const last = 'z'.repeat(MAX_BLOCK_CHARS - head.length - lines.length * 1024 - 1);
    const cutOf = (end: string) => markersIn([head, ...lines, end].join('\n'))[0]!.cut;
    assert.deepEqual([cutOf(last), cutOf(`${last}z`)], [false, true]);
  });
});

const WORDS = [
  ...MARKER_KINDS.map(({ name }) => `[${name}]`),
  ...['[PROGRESS] ', '[QUESTION] Which?', '[BLOCKED] by ünïcödé', '[NOPE] x', ' [BLOCKED]'],
  ...['\n', '\n', '\n', '\r\n', '\r\n\r\n', '\n\n', '\r', '\n \n', '\n\t\r\n'],
  ...[
    'Options:',
    '1. a - b',
    '2) c',
    '- a/b.ts (created)',
    '- x',
    '* y (deleted)',
    '𝄞🎼',
    '\ufeff',
    'é',
    '€',
    ' ',
    'text',
    '\0',
  ],
];

/** The bytes cut into parts at random places. */
function partsOf(bytes: Uint8Array, random: SeededRandom): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random.below(random.pick([1, 3, 40]));
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return parts;
}

function streamed(parts: readonly Uint8Array[]): MarkerPiece[] {
  const pieces: MarkerPiece[] = [];
  const stream = new MarkerStream((piece) => pieces.push(piece));
  for (const part of parts) stream.push(part);
  stream.end();
  return pieces;
}

it('a text that comes in parts is read as the whole one, however it is parted, and no line is lost or reported twice', () => {
  for (let seed = 1; seed <= 4000; seed++) {
    const random = new SeededRandom(seed);
    const text = Array.from({ length: 1 + random.below(40) }, () => random.pick(WORDS)).join('');
    const whole = parseMarkers(text);
    const bytes = new TextEncoder().encode(text);
    for (let round = 0; round < 3; round++)
      assert.deepEqual(streamed(partsOf(bytes, random)), whole, `seed ${seed}: ${JSON.stringify(text)}`);
    const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
    if (text.endsWith('\n')) lines.pop();
    let next = 1;
    for (const piece of whole) {
      const { line, lines: count } = piece.kind === 'marker' ? piece.marker : { line: piece.line, lines: 1 };
      assert.equal(line, next, `seed ${seed}: ${JSON.stringify(text)}`);
      if (piece.kind === 'text') assert.equal(piece.text, lines[line - 1], `seed ${seed}`);
      else assert.ok(lines[line - 1]!.startsWith(`[${piece.marker.name}]`), `seed ${seed}`);
      next += count;
    }
    assert.equal(next, lines.length + 1, `seed ${seed}: ${JSON.stringify(text)}`);
  }
});
