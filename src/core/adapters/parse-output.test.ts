import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { outputSpec } from '../../protocol/manifest-output.ts';
import { parseOutput } from './parse-output.ts';

/** What the manifest declares, as its file writes it. */
function parse(declared: unknown, text: string) {
  return parseOutput(outputSpec.parse(declared), linesOf(text));
}

/** The lines of a text. A line feed ends a line, so a text that ends with one has no empty last line. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function dataOf(declared: unknown, text: string): unknown {
  const parsed = parse(declared, text);
  assert.ok('data' in parsed, JSON.stringify(parsed));
  return parsed.data;
}

function problemOf(declared: unknown, text: string): string {
  const parsed = parse(declared, text);
  assert.ok('problem' in parsed, JSON.stringify(parsed));
  return parsed.problem;
}

describe('an output with a declared form', () => {
  it('is a JSON document, or a value on each line', () => {
    assert.deepEqual(dataOf('json', '{"a":\n 1}\n'), { a: 1 });
    assert.deepEqual(dataOf('jsonl', '{"a":1}\n\n[2]\n'), [{ a: 1 }, [2]]);
    assert.match(problemOf('json', 'Hello'), /^it is not valid JSON/);
    assert.match(problemOf('jsonl', '{"a":1}\nHello'), /^line 2: it is not valid JSON/);
  });

  it('has a warning for a number that became another one', () => {
    for (const [declared, text] of [
      ['json', '{"a":[\n1234567890123456789]}'],
      ['jsonl', '{"a":1}\n{"a":1234567890123456789}\n{"a":1e400}'],
    ] as const) {
      const parsed = parse(declared, text);
      assert.ok('data' in parsed);
      assert.equal(parsed.warnings.length, 1);
      assert.match(parsed.warnings[0]!, /the number 1234567890123456789, which became another one/);
    }
    const exact = parse('json', '{"a":9007199254740992,"b":0.30000000000000004,"c":"1234567890123456789"}');
    assert.deepEqual('data' in exact && exact.warnings, [], 'the control');
    assert.deepEqual(dataOf({ format: 'csv', types: { a: 'number' } }, 'a\n1234567890123456789\n2'), [
      { a: null },
      { a: 2 },
    ]);
  });

  it('is a list of lines, also of empty ones', () => {
    assert.deepEqual(dataOf('lines', 'a b\n\n c\r\n \n\r\n'), ['a b', '', ' c', ' ', '']);
    assert.deepEqual(dataOf('lines', 'a\n\nb'), ['a', '', 'b']);
    assert.deepEqual(dataOf('lines', '\n'), ['']);
    assert.deepEqual(dataOf('lines', ''), []);
  });

  it('is a csv with quoted separators, quotes and line feeds', () => {
    assert.deepEqual(dataOf('csv', 'id,text\r\n1,"a, ""b""\nc"\r\n2,\r\n'), [
      { id: '1', text: 'a, "b"\nc' },
      { id: '2', text: '' },
    ]);
    assert.deepEqual(dataOf({ format: 'csv', separator: ';', columns: ['id', 'text'] }, '1;x\n2\n'), [
      { id: '1', text: 'x' },
      { id: '2', text: null },
    ]);
    assert.deepEqual(dataOf({ format: 'csv', columns: ['key'], header: true }, 'id\n1\n'), [{ key: '1' }]);
    assert.match(problemOf('csv', 'id\n"1\n2'), /^line 2: a quote is not closed/);
    assert.match(
      problemOf({ format: 'csv', skip: 1 }, 'Report\nid\n1,2\n'),
      /^line 3: 2 values for 1 columns/,
    );
  });

  it('does not lose a column whose name is there twice without a word', () => {
    const warnings = (declared: unknown, text: string) => {
      const parsed = parse(declared, text);
      return 'data' in parsed ? parsed.warnings : [parsed.problem];
    };
    const twice = 'id,name,id\n1,x,2\n';
    assert.deepEqual(dataOf('csv', twice), [{ id: '2', name: 'x' }]);
    assert.match(warnings('csv', twice).join(), /two columns have the name 'id'.*columns and header: true/);
    assert.match(warnings('table', 'A   A\n1   2\n').join(), /two columns have the name 'A'/);
    const columns = ['id', 'name', 'of'];
    assert.deepEqual(dataOf({ format: 'csv', columns, header: true }, twice), [
      { id: '1', name: 'x', of: '2' },
    ]);
    assert.deepEqual(warnings({ format: 'csv', columns, header: true }, twice), []);
  });

  it('may begin with a byte order mark, which is no part of it', () => {
    assert.deepEqual(dataOf({ format: 'csv', types: { a: 'int' } }, '\uFEFFa,b\n1,2\n'), [{ a: 1, b: '2' }]);
    assert.deepEqual(dataOf('json', '\uFEFF{"a":1}\n'), { a: 1 });
    assert.deepEqual(dataOf('lines', '\uFEFFa\n\uFEFFb\n'), ['a', '\uFEFFb']);
    assert.deepEqual(dataOf({ format: 'json', empty: [] }, '\uFEFF'), []);
  });

  it('is a line of named columns, the last of which takes the rest', () => {
    const columns = ['hash', 'subject'];
    assert.deepEqual(dataOf({ format: 'columns', columns }, 'a1  Fix "it" now\nb2\n'), [
      { hash: 'a1', subject: 'Fix "it" now' },
      { hash: 'b2', subject: null },
    ]);
    assert.deepEqual(dataOf({ format: 'columns', columns, separator: '\t' }, 'a1\t\tx\n\tb'), [
      { hash: 'a1', subject: '\tx' },
      { hash: '', subject: 'b' },
    ]);
  });

  it('is a table under a header, with names and values that have spaces', () => {
    const df = `Filesystem      Size  Used Avail Use% Mounted on
/dev/sda1        98G   37G   57G  40% /
tmpfs           7.8G     0  7.8G   0% /a b
`;
    assert.deepEqual(dataOf('table', df), [
      { Filesystem: '/dev/sda1', Size: '98G', Used: '37G', Avail: '57G', 'Use%': '40%', 'Mounted on': '/' },
      { Filesystem: 'tmpfs', Size: '7.8G', Used: '0', Avail: '7.8G', 'Use%': '0%', 'Mounted on': '/a b' },
    ]);
    const ps = `CONTAINER ID   STATUS       NAMES
f00ba4f00ba4   Up 2 days    web
c0ffeec0ffee                db one
`;
    assert.deepEqual(dataOf({ format: 'table', columns: ['id', 'status', 'names'] }, ps), [
      { id: 'f00ba4f00ba4', status: 'Up 2 days', names: 'web' },
      { id: 'c0ffeec0ffee', status: '', names: 'db one' },
    ]);
    assert.match(problemOf({ format: 'table', columns: ['id'] }, ps), /has 3 columns, and 1 are named/);
    assert.deepEqual(dataOf('table', ''), []);
  });

  it('is one record of names and values, or one for each paragraph', () => {
    const text = 'Package: git\nDescription: fast\n and small\n\nPackage: jq\nTag: a\nTag: b\n';
    assert.deepEqual(dataOf('paragraphs', text), [
      { Package: 'git', Description: 'fast\nand small' },
      { Package: 'jq', Tag: 'a\nb' },
    ]);
    assert.deepEqual(dataOf({ format: 'pairs', separator: '=' }, 'A=1=2\nB=\n'), { A: '1=2', B: '' });
    assert.match(problemOf('pairs', 'a: 1\nHello\n'), /^line 2: no ':' between a name and a value: Hello/);
  });

  it('takes memory for its lines and data alone, however short its paragraphs are', () => {
    const program = `
      import { parseOutput } from '${import.meta.dirname}/parse-output.ts';
      const lines = Array.from({ length: 2_000_000 }, (_, at) => (at % 2 === 0 ? 'a:' : ''));
      const output = { format: 'paragraphs', skip: 0, types: {} };
      const before = process.memoryUsage().rss;
      const { data } = parseOutput(output, lines);
      const { maxRSS } = process.resourceUsage();
      console.log(JSON.stringify({ count: data.length, bytesOfEach: (maxRSS * 1024 - before) / data.length }));`;
    const { count, bytesOfEach } = JSON.parse(execFileSync(process.execPath, ['-e', program]).toString());
    assert.equal(count, 1_000_000);
    assert.ok(bytesOfEach < 250, `${bytesOfEach} bytes for each paragraph`);
  });

  it('may be a table of a million lines', () => {
    const data = dataOf('table', `A B\n${'1 2\n'.repeat(1_000_000)}`) as unknown[];
    assert.equal(data.length, 1_000_000);
    assert.deepEqual(data.at(-1), { A: '1', B: '2' });
  });

  it('gives values their types, and says which value has another one', () => {
    const types = { size: 'int', load: 'number', up: 'bool' };
    const parsed = parse({ format: 'csv', types }, 'size,load,up\n12,0.5,yes\n-,x,\n?,y,no\n');
    assert.deepEqual(parsed, {
      data: [
        { size: 12, load: 0.5, up: true },
        { size: null, load: null, up: null },
        { size: null, load: null, up: false },
      ],
      warnings: [
        "'size' is not of type int, and is null: '-'",
        "'load' is not of type number, and is null: 'x'",
      ],
    });
  });

  it('has declared data when the program writes nothing', () => {
    assert.deepEqual(dataOf({ format: 'json', empty: [] }, ''), []);
    assert.match(problemOf('json', ''), /^it is not valid JSON/);
    assert.deepEqual(dataOf('csv', ''), []);
    assert.deepEqual(dataOf('pairs', ''), {});
  });

  it('refuses a header whose names times the lines would fill the memory', () => {
    const wide = Array.from({ length: 3000 }, (_, at) => `n${at}`).join(',');
    assert.match(problemOf('csv', `${wide}\n${'1\n'.repeat(3000)}`), /more than 5000000 values/);
  });
});
