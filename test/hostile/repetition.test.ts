import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cellText } from '../../src/compose/table.ts';
import { safeData, safeLine } from '../../src/compose/terminal-text.ts';
import { readHelp } from '../../src/core/authoring/adopt/read-help.ts';
import { setInJson } from '../../src/core/authoring/agents/edit-json.ts';
import { saidDenials } from '../../src/core/policy/said-denials.ts';
import { readProxyRequest } from '../../src/core/sandbox/egress/proxy.ts';
import { ALWAYS_REFUSED_CALLS, REFUSED_CALLS } from '../../src/core/sandbox/seccomp/system-calls.ts';
import { Redaction } from '../../src/core/secrets/redaction.ts';
import { eventsOfTypes } from '../../src/core/store-files/marked-lines.ts';
import { LineReader } from '../../src/protocol/jsonl.ts';
import { leastLevel } from '../../src/protocol/manifest-permissions.ts';
import { parseMapPath } from '../../src/protocol/map-path.ts';
import { parseMarkers } from '../../src/protocol/markers/marker-stream.ts';
import { HotScanner } from '../../src/protocol/v1/hot-scanner.ts';
import { FilePattern } from '../../src/util/file-pattern.ts';

/** In a text of this length a step that is quadratic takes half a minute for each beginning that it meets, so that the test ends by its limit; a linear one takes milliseconds. */
const CHARACTERS = 1 << 17;
/** For a step that a quadratic search repeats at the speed of memory. */
const LONG_LINE = 1 << 24;

/** What is repeated. */
const UNITS = [
  ...' \t\n\r-*.,:;=/\\\'"`[](){}<>|#a0_%&',
  ...[
    '- ',
    ' -',
    '1. ',
    'a ',
    ' a',
    '"error"',
    '\\"',
    '[{',
    '{"a":',
    '1.1',
    '*/',
    '/*',
    '//',
    'a@',
    '\x1b[',
    '\u2028',
  ],
];
/** What stands before and after it: whatever makes a pattern begin, and then not match. */
const BEGINNINGS = ['', '-', '1.a', '("', '{"type":"', 'X: '];
const ENDS = ['', '\u2028x'];

const secrets = new Redaction([{ name: 'TOKEN', bytes: Buffer.from('s3cret-value') }]);

/** Each reads what a tool, or a file that comes with a tool, may contain. */
const READERS: Record<string, (text: string) => unknown> = {
  'the marker of a question': (text) => parseMarkers(`[QUESTION] Which?\n${text}\n1. ${text}\n`),
  'the marker of files': (text) => parseMarkers(`[FILES_MODIFIED]\n${text}\n- ${text}\n`),
  'the marker of a blocked task': (text) => parseMarkers(`[BLOCKED]\n${text}\n`),
  'the markers of tests, warnings and commits': (text) =>
    ['TEST_RESULTS', 'LINT_WARNINGS', 'GIT_COMMIT_SUGGESTION', 'CODEX_COMPLETE'].map((name) =>
      parseMarkers(`[${name}] ${text}\n${text}\n`),
    ),
  'the head of a request to the proxy': (text) =>
    readProxyRequest(`GET http://a.example/ HTTP/1.1\r\nX: ${latin1(text)}x\r\nHost: ${latin1(text)}`),
  'the first line of a request to the proxy': (text) =>
    readProxyRequest(`GET http://${latin1(text)} HTTP/1.1`),
  'denials in the last output': (text) =>
    saidDenials(`${text}\nOperation not permitted ${text.slice(0, 1900)}`, [
      ...REFUSED_CALLS,
      ...ALWAYS_REFUSED_CALLS,
    ]),
  'denials in two hundred lines': (text) =>
    saidDenials(`Operation not permitted ${text.replaceAll('\n', ' ').slice(0, 1900)}\n`.repeat(200), [
      ...REFUSED_CALLS,
    ]),
  'the events that a workflow records': (text) => [
    ...eventsOfTypes(
      Buffer.from(`${JSON.stringify({ type: 'log', msg: text })}\n`),
      new Set(['error', 'progress']),
    ),
    ...eventsOfTypes(
      Buffer.from(`{"type":"log","record":[${'"error",'.repeat(100_000)}0]}\n`),
      new Set(['error']),
    ),
  ],
  'the lines of a stream': (text) => {
    const scanner = new HotScanner('r-0123456789abcdef');
    const reader = new LineReader((bytes, start, end) => scanner.scan(bytes, start, end), CHARACTERS);
    reader.push(Buffer.from(text));
    reader.end();
  },
  'secrets in a line that comes in small pieces': (text) => {
    const stream = secrets.stream({ json: true });
    const bytes = Buffer.from(`{"type":"log","msg":${JSON.stringify(text.slice(0, CHARACTERS / 4))}}\n`);
    for (let at = 0; at < bytes.length; at += 16) stream.push(bytes.subarray(at, at + 16));
    return stream.end();
  },
  'a cell of a table': (text) => cellText(text, { unicode: true }),
  'a text for a terminal': (text) => [safeLine(text), safeData({ text })],
  'the permissions of a manifest': (text) =>
    leastLevel({
      filesystem: { read: [text], write: [] },
      network: { egress_allow: [] },
      commands: [],
    } as never),
  'a help text': (text) => readHelp(`Usage: r ${part(text)}\n  --b=${part(text)}\n`, ['r']),
  'a pattern of files': (text) => FilePattern.ofPaths(`${part(text)}z`).test(text.slice(0, 255)),
  'a path of a manifest': (text) => parseMapPath(`$.${text}`),
  'the settings of an agent': (text) => setInJson(`{"a": 1 /${text.slice(0, 4096)}\n}`, ['b'], 2),
};

/** For what takes long for each character: long enough that a quadratic step reaches the limit of the test in all cases together. */
function part(text: string): string {
  return text.slice(0, CHARACTERS / 4);
}

describe('a text of a hundred thousand repetitions', () => {
  for (const [name, read] of Object.entries(READERS)) {
    it(`is read in time linear in its length: ${name}`, () => {
      for (const unit of UNITS)
        for (const beginning of BEGINNINGS)
          for (const end of name.startsWith('secrets') ? [''] : ENDS)
            read(beginning + unit.repeat(CHARACTERS / unit.length) + end);
    });
  }

  it('in one line that is full of secrets is redacted in linear time', () => {
    const line = Buffer.from(`{"type":"log","msg":"${'s3cret-value'.repeat(LONG_LINE / 12)}"}\n`);
    assert.doesNotMatch(secrets.line(line).toString(), /s3cret/);
  });

  it('with a secret in each of its small pieces is redacted in linear time', () => {
    const stream = secrets.stream({ json: true });
    const piece = Buffer.from('s3cret-value , ');
    stream.push(Buffer.from('{"type":"log","msg":"'));
    for (let at = 0; at < CHARACTERS; at += piece.length) stream.push(piece);
    const out = Buffer.concat([
      Buffer.from(stream.push(Buffer.from('"}\n'))),
      Buffer.from(stream.end()),
    ]).toString();
    assert.doesNotMatch(out, /s3cret/);
  });
});

function latin1(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replaceAll(/[\r\n]/g, ' ');
}
