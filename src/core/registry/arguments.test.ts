import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { completeManifest, manifestFile } from '../../protocol/manifest.ts';
import { loadConfig } from '../config/load.ts';
import { callLine, usageLine } from './argument-problem.ts';
import { grantRoots, type ResolveOptions, resolveArguments, resolveCheckedArguments } from './arguments.ts';
import { inputsOf } from './input-schema.ts';
import type { ToolEntry } from './tool-entry.ts';

let project: ProjectFolder;
let outside: ProjectFolder;
beforeEach(() => {
  project = projectFolder({ 'in.json': '{}', 'data/a.txt': '', '.acor/config.yaml': '' });
  outside = projectFolder({ secret: 'x' });
});
afterEach(() => {
  project.remove();
  outside.remove();
});

describe('the arguments of a tool with inputs', () => {
  const inputs = [
    { name: 'name', required: true },
    { name: 'batch_size', type: 'int', default: 100, flag: '-n', min: 1, max: 500 },
    { name: 'verbose', type: 'bool' },
    { name: 'color', type: 'bool', default: true },
    { name: 'tag', multiple: true },
  ];
  const args = (...given: string[]) => resolve({ inputs }, given).args;

  it('are rewritten in the order of the manifest, with the defaults', () => {
    assert.deepEqual(args('--tag', 'x', '--name=me', '--tag', 'y'), [
      '--name',
      'me',
      '-n',
      '100',
      '--color',
      '--tag',
      'x',
      '--tag',
      'y',
    ]);
  });

  it('may be given by every spelling of a flag', () => {
    for (const given of [
      ['-n5'],
      ['-n', '5'],
      ['-n=5'],
      ['--batch-size', '5'],
      ['--batch-size=5'],
      ['--batch_size', '5'],
    ]) {
      assert.deepEqual(args('--name', 'me', ...given).slice(2, 4), ['-n', '5'], given.join(' '));
    }
  });

  it('may be given by a short spelling, and the tool gets the long one', () => {
    const short = [
      { name: 'max_count', type: 'int', short: '-m' },
      { name: 'quiet', type: 'bool', short: '-q' },
    ];
    for (const given of [['-m5'], ['-m', '5'], ['-m=5']])
      assert.deepEqual(resolve({ inputs: short }, ['-q', ...given]).args, ['--max-count', '5', '--quiet']);
  });

  it('may be short switches in one word, of which the last may take a value', () => {
    const short = [
      { name: 'raw', type: 'bool', short: '-r' },
      { name: 'compact', type: 'bool', flag: '-c' },
      { name: 'indent', type: 'int', short: '-n' },
    ];
    const words = (...given: string[]) => resolve({ inputs: short }, given).args;
    assert.deepEqual(words('-rc'), ['--raw', '-c']);
    for (const given of [['-rcn5'], ['-rcn', '5'], ['-rcn=5']])
      assert.deepEqual(words(...given), ['--raw', '-c', '--indent', '5'], given.join(' '));
    assert.deepEqual(problems(refused({ inputs: short }, ['-rx'])), [['-rx', 'unknown-flag']]);
  });

  it('are refused with each problem in words: the first may follow from another', () => {
    const error = refused(
      {
        inputs: [
          { name: 'source', positional: true },
          { name: 'target', required: true },
          { name: 'times', type: 'int' },
        ],
      },
      ['s', 't', '--times', 'x'],
    );
    assert.match(error.message, /unexpected argument 't'; 'target' is required[^;]*; 'times'[^;]*$/);
    const many = refused({ inputs: [] }, ['1', '2', '3', '4', '5', '6']);
    assert.match(many.message, /unexpected argument '4' \(and 2 more\)$/);
  });

  it('are refused with limits in the unit of the input', () => {
    const refusalOf = (spec: object, text: string) =>
      refused({ inputs: [{ name: 'x', ...spec }] }, ['--x', text]).message;
    assert.match(refusalOf({ type: 'string', min: 1 }, ''), /at least 1 character long/);
    assert.match(refusalOf({ type: 'duration', max: 10 }, '5m'), /at most 10 seconds/);
    assert.match(refusalOf({ type: 'int', max: 10 }, '50'), /at most 10(?! )/);
  });

  it('take a truth value as --x, --no-x and --x=true or false', () => {
    const flags = (...given: string[]) => args('--name', 'me', ...given).slice(4);
    assert.deepEqual(flags('--verbose'), ['--verbose', '--color']);
    assert.deepEqual(flags('--verbose=true', '--color=false'), ['--verbose', '--no-color']);
    assert.deepEqual(flags('--no-verbose', '--no-color'), ['--no-color']);
    assert.deepEqual(flags('--no-color=false'), ['--color']);
  });

  it('are one word each where the tool takes them joined, secret ones too', () => {
    const joined = [
      { name: 'color', joined: true, multiple: true },
      { name: 'level', type: 'int', flag: '-l', joined: true },
      { name: 'name', flag: '-name', joined: true, secret: true },
      { name: 'cache', type: 'bool', default: true, joined: true },
    ];
    const given = ['--color', 'a', '--color=b', '-l', '5', '-name', 'long secret', '--no-cache'];
    const { args: words, secretArgs } = resolve({ inputs: joined }, given);
    assert.deepEqual(words, ['--color=a', '--color=b', '-l5', '-name=long secret', '--cache=false']);
    assert.deepEqual(secretArgs, [3]);
  });

  it('are refused when they are empty and the tool takes them joined to a single letter, which has no form', () => {
    const inputs = [
      { name: 'z', flag: '-z', joined: true },
      { name: 'f', joined: true },
      { name: 'all', type: 'bool', flag: '-a', joined: true },
    ];
    const error = refused({ inputs }, ['-z', '', '--f', 'q']);
    assert.deepEqual(problems(error), [['z', 'empty']]);
    assert.match(error.message, /'z' is empty: the tool gets -z and the value as one word/);
    assert.deepEqual(resolve({ inputs }, ['--f', '', '-z', '0', '-a']).args, ['-z0', '--f=', '-a']);
    const apart = [{ name: 'z', flag: '-z' }];
    assert.deepEqual(resolve({ inputs: apart }, ['-z', '']).args, ['-z', '']);
  });

  it('are also returned as values', () => {
    assert.deepEqual(resolve({ inputs }, ['--name', 'me', '--tag', 'x']).values, {
      name: 'me',
      batch_size: 100,
      color: true,
      tag: ['x'],
    });
  });

  it('may begin with a dash where a value is due', () => {
    assert.deepEqual(args('--name', '-5').slice(0, 2), ['--name', '-5']);
  });

  it('are refused with all mistakes at once, the nearest flag, and how the tool is called', () => {
    const error = refused({ inputs }, ['--nam', 'me', '-n', '900', '--tag', 'a', 'stray']);
    assert.equal(error.code, 'E_USAGE');
    assert.deepEqual(problems(error), [
      ['--nam', 'unknown-flag'],
      ['stray', 'unexpected'],
      ['name', 'required'],
      ['batch_size', 'max'],
    ]);
    assert.match(error.message, /did you mean --name\?/);
    assert.match(
      error.hint!,
      /Usage: tool --name <string> \[-n <int>\] \[--verbose\] \[--color\] \[--tag <string> …\]/,
    );
  });

  it('are refused when a flag lacks its value, or is given twice', () => {
    assert.deepEqual(problems(refused({ inputs }, ['--name', '--verbose'])), [
      ['name', 'value'],
      ['name', 'required'],
    ]);
    assert.deepEqual(problems(refused({ inputs }, ['--name', 'a', '--name', 'b'])), [
      ['name', 'given-twice'],
    ]);
  });

  it('are none for a tool that takes none', () => {
    assert.deepEqual(resolve({ inputs: [] }, []).args, []);
    assert.deepEqual(problems(refused({ inputs: [] }, ['x'])), [['x', 'unexpected']]);
  });
});

describe('the types of inputs', () => {
  const value = (type: string, text: string, more: object = {}) =>
    resolve({ inputs: [{ name: 'x', type, ...more }] }, ['--x', text]);
  const refusal = (type: string, text: string, more: object = {}) =>
    problems(refused({ inputs: [{ name: 'x', type, ...more }] }, ['--x', text]))[0]?.[1];

  it('accept what fits, and pass it on in one form', () => {
    const cases: [string, string, string, unknown][] = [
      ['string', '', '', ''],
      ['int', '+007', '7', 7],
      ['number', '1e3', '1e3', 1000],
      ['duration', '5m', '300', 300],
      ['duration', '250ms', '0.25', 0.25],
      ['json', '{ "a" : [1] }', '{"a":[1]}', { a: [1] }],
      ['url', 'https://example.com/x', 'https://example.com/x', 'https://example.com/x'],
    ];
    for (const [type, text, word, data] of cases) {
      const { args, values } = value(type, text);
      assert.deepEqual([args, values], [['--x', word], { x: data }], `${type} ${text}`);
    }
  });

  it('refuse what does not', () => {
    const cases: [string, string][] = [
      ['int', '1.5'],
      ['int', '0x10'],
      ['int', '99999999999999999999'],
      ['number', 'NaN'],
      ['number', 'Infinity'],
      ['number', ''],
      ['duration', 'soon'],
      ['json', '{a:1}'],
      ['url', 'no url'],
    ];
    for (const [type, text] of cases) assert.equal(refusal(type, text), 'type', `${type} ${text}`);
  });

  it('hold enum, bounds and pattern', () => {
    assert.equal(refusal('string', 'c', { enum: ['a', 'b'] }), 'enum');
    assert.equal(refusal('int', '3', { enum: [1, 2] }), 'enum');
    assert.deepEqual(value('int', '2', { enum: [1, 2] }).values, { x: 2 });
    for (const [text, seconds] of [
      ['5s', 5],
      ['60', 60],
      ['1m', 60],
    ] as const)
      assert.deepEqual(value('duration', text, { enum: ['5s', '1m'] }).values, { x: seconds });
    assert.equal(refusal('duration', '2m', { enum: ['5s', '1m'] }), 'enum');
    assert.equal(refusal('int', '0', { min: 1 }), 'min');
    assert.equal(refusal('string', 'abc', { max: 2 }), 'max');
    assert.equal(refusal('duration', '2h', { max: 3600 }), 'max');
    assert.equal(refusal('string', 'abc', { pattern: '^[0-9]+$' }), 'pattern');
  });

  it('never hold a NUL byte', () => {
    assert.equal(refusal('string', 'a\0b'), 'nul');
    assert.equal(refusal('path', 'a\0b'), 'nul');
  });
});

describe('positional inputs', () => {
  const inputs = [
    { name: 'first', positional: true, required: true },
    { name: 'rest', positional: true, multiple: true },
    { name: 'n', type: 'int' },
  ];

  it('are taken in order, the last one taking what is left', () => {
    assert.deepEqual(resolve({ inputs }, ['a', '--n', '1', 'b', 'c']).args, ['--n', '1', 'a', 'b', 'c']);
    assert.deepEqual(resolve({ inputs }, ['a', 'b', 'c']).values, { first: 'a', rest: ['b', 'c'] });
  });

  it('may be given by name', () => {
    assert.deepEqual(resolve({ inputs }, ['--first', 'a', 'b']).args, ['a', 'b']);
  });

  it('end the flags with --, for ACOR and for the tool', () => {
    assert.deepEqual(resolve({ inputs }, ['a', '--', '--n', '5']).args, ['--', 'a', '--n', '5']);
  });

  it('may be negative numbers', () => {
    assert.deepEqual(resolve({ inputs }, ['-5']).values, { first: '-5' });
  });
});

describe('--input-json', () => {
  const inputs = [
    { name: 'size', type: 'int' },
    { name: 'tags', multiple: true },
    { name: 'options', type: 'json' },
  ];
  const json = JSON.stringify({ size: 5, tags: ['a', 'b'], options: { x: 1 } });
  const words = ['--size', '5', '--tags', 'a', '--tags', 'b', '--options', '{"x":1}'];

  it('is taken from the command line, a file and stdin', () => {
    project.write('values.json', json);
    assert.deepEqual(resolve({ inputs }, ['--input-json', json]).args, words);
    assert.deepEqual(resolve({ inputs }, ['--input-json=@values.json'], { readsFiles: true }).args, words);
    assert.deepEqual(resolve({ inputs }, ['--input-json', '-'], { readStdin: () => json }).args, words);
  });

  it('gives way to flags', () => {
    assert.deepEqual(resolve({ inputs }, ['--size', '6', '--tags', 'c', '--input-json', json]).values, {
      size: 6,
      tags: ['c'],
      options: { x: 1 },
    });
  });

  it('is strict about types, and names what it does not know', () => {
    const error = refused({ inputs }, ['--input-json', '{"size":"5","tag":["a"]}']);
    assert.deepEqual(problems(error), [
      ['tag', 'unknown-input'],
      ['size', 'type'],
    ]);
    assert.match(error.message, /did you mean 'tags'\?/);
  });

  it('is rejected when it is not a JSON object, or cannot be read', () => {
    const needing = [...inputs, { name: 'needed', required: true }];
    for (const source of ['[1]', '{', '@none.json', '-', 'null']) {
      const error = refused({ inputs: needing }, ['--input-json', source], { readsFiles: true });
      assert.deepEqual(problems(error), [['input-json', 'input-json']], source);
    }
  });

  it('names a file only for a caller that may have one read', () => {
    project.write('values.json', json);
    const error = refused({ inputs }, ['--input-json', '@values.json']);
    assert.match(error.message, /names no file: give the JSON object itself/);
    assert.deepEqual(resolve({ inputs }, ['--input-json', '@values.json'], { readsFiles: true }).args, words);
  });

  it('has each key once, at any depth', () => {
    for (const [source, key] of [
      ['{"size":1,"size":2}', 'size'],
      ['{"size":1,"s\\u0069ze":2}', 'size'],
      ['{"options":{"list":[{"deep":1},{"deep":1,"other":{},"deep":2}]}}', 'deep'],
    ] as const)
      assert.match(
        refused({ inputs }, ['--input-json', source]).message,
        new RegExp(`--input-json must not have the key '${key}' twice$`),
      );
    assert.match(
      refused({ inputs }, ['--options', '{"a":1,"a":2}']).message,
      /'options' must not have the key 'a' twice/,
    );
    const same = '{"size":1,"options":{"size":2,"a":{"a":"\\"a\\":"},"b":[{"a":1},{"a":2}]}}';
    assert.equal(resolve({ inputs }, ['--input-json', same]).values['size'], 1);
  });

  it('refuses a number that a program cannot hold as the value of its input, whatever its type, as a flag does', () => {
    const needing = ['string', 'int', 'number', 'json', 'duration'].map((type) => ({
      name: 'value',
      type,
      required: true,
    }));
    for (const input of needing)
      for (const number of ['9007199254740993', '-9007199254740993.0', '1e400', '1e-400']) {
        const error = refused({ inputs: [input] }, ['--input-json', `{"value":${number}}`]);
        assert.deepEqual(problems(error), [['value', 'type']], `${input.type} ${number}`);
        assert.match(
          error.message,
          new RegExp(`'value' must not have the number ${number}, which .*is ${number}$`),
        );
        assert.match(error.hint!, /^Give a number from -9007199254740991 to 9007199254740991\./);
        if (input.type === 'string' || input.type === 'duration') continue;
        assert.equal(refused({ inputs: [input] }, ['--value', number]).hint, error.hint, number);
      }
    // Each of them can be held, but may stand for another whole number.
    const whole = { inputs: [{ name: 'value', type: 'int' }] };
    for (const words of [
      ['--value', '9007199254740992'],
      ['--input-json', '{"value":9007199254740992}'],
    ])
      assert.match(refused(whole, words).message, /must not have the number 9007199254740992/);
  });

  it('has whole numbers as JSON Schema does, as a flag has', () => {
    const whole = { inputs: [{ name: 'value', type: 'int' }] };
    for (const number of ['5', '5.0', '5e0', '0.5e1', '50e-1'])
      for (const words of [
        ['--value', number],
        ['--input-json', `{"value":${number}}`],
      ])
        assert.deepEqual(resolve(whole, words).args, ['--value', '5'], number);
    for (const words of [
      ['--value', '5.5'],
      ['--input-json', '{"value":5.5}'],
    ])
      assert.match(refused(whole, words).message, /'value' must be a whole number/);
  });

  it('does not take __proto__ for anything but the name of an input that there is not', () => {
    const open = { type: 'object', properties: {}, additionalProperties: true };
    for (const manifest of [{ inputs }, { input_schema: open }])
      assert.deepEqual(problems(refused(manifest, ['--input-json', '{"__proto__":{"polluted":1}}'])), [
        ['__proto__', 'unknown-input'],
      ]);
    const { args } = resolve({ inputs }, ['--input-json', '{"options":{"__proto__":{"polluted":1}}}']);
    assert.deepEqual(args, ['--options', '{"__proto__":{"polluted":1}}']);
    assert.equal(({} as { polluted?: number }).polluted, undefined);
  });
});

describe('a JSON Schema in place of inputs', () => {
  const input_schema = {
    type: 'object',
    required: ['file'],
    properties: {
      file: { type: 'string', format: 'path' },
      count: { type: 'integer', minimum: 1, default: 2 },
      names: { type: 'array', items: { type: 'string' } },
      nested: { type: 'object' },
    },
  };

  it('gives the same flags and the same checks', () => {
    const resolved = resolve({ input_schema }, ['--file', 'in.json', '--names', 'a', '--nested', '{"b": 1}']);
    assert.deepEqual(resolved.args, [
      '--file',
      project.at('in.json'),
      '--count',
      '2',
      '--names',
      'a',
      '--nested',
      '{"b":1}',
    ]);
    assert.deepEqual(problems(refused({ input_schema }, ['--count', '0'])), [
      ['file', 'required'],
      ['count', 'min'],
    ]);
  });

  it('may leave out the type of choices, which is that of all of them', () => {
    const input_schema = {
      type: 'object',
      properties: { mode: { enum: ['a', 'b'] }, level: { enum: [1, 2] }, any: { enum: ['a', 1] } },
    };
    const { args } = resolve({ input_schema }, ['--mode', 'a', '--level', '2', '--any', '"a"']);
    assert.deepEqual(args, ['--mode', 'a', '--level', '2', '--any', '"a"']);
    assert.deepEqual(problems(refused({ input_schema }, ['--mode', 'c', '--level', '1.5'])), [
      ['mode', 'enum'],
      ['level', 'type'],
    ]);
  });

  it('have the flags of what a pointer, an anchor, an id or a dynamic reference names', () => {
    const input_schema = {
      type: 'object',
      $dynamicAnchor: 'whole',
      properties: {
        pointed: { $ref: '#/$defs/size' },
        anchored: { $ref: '#size' },
        named: { $ref: 'other' },
        inside: { $ref: 'other#deep' },
        dynamic: { $dynamicRef: '#kind' },
        whole: { $dynamicRef: '#whole' },
        elsewhere: { $ref: 'https://example.org/x' },
      },
      allOf: [{ $ref: '#more' }],
      $defs: {
        size: { $anchor: 'size', type: 'integer', maximum: 5 },
        other: { $id: 'other', $ref: '#/$defs/in', $defs: { in: { $anchor: 'deep', type: 'boolean' } } },
        kind: { $dynamicAnchor: 'kind', type: 'string' },
        more: { $anchor: 'more', properties: { extra: { type: 'number' } }, required: ['extra'] },
      },
    };
    const inputs = inputsOf(completeManifest(manifestFile.parse({ input_schema }), 't')) ?? [];
    assert.deepEqual(Object.fromEntries(inputs.map(({ name, type }) => [name, type])), {
      pointed: 'int',
      anchored: 'int',
      named: 'bool',
      inside: 'bool',
      dynamic: 'string',
      whole: 'json',
      elsewhere: 'json',
      extra: 'number',
    });
    assert.equal(inputs.find(({ name }) => name === 'anchored')?.max, 5);
    assert.equal(inputs.find(({ name }) => name === 'extra')?.required, true);
  });

  it('are shown as they can be written where one of them is null or a truth value', () => {
    const properties = {
      any: { enum: [1, 'a', null] },
      maybe: { type: ['string', 'null'], enum: ['x', null] },
      flags: { enum: ['auto', true, false] },
      none: { const: null },
    };
    const input_schema = { type: 'object', properties };
    const inputs = inputsOf(completeManifest(manifestFile.parse({ input_schema }), 't'));
    assert.equal(
      usageLine('t', inputs),
      't [--any <1|"a"|null>] [--maybe <"x"|null>] [--flags <"auto"|true|false>] [--none <null>]',
    );
    assert.equal(
      callLine('t', inputs),
      't {"any":<1|"a"|null?>,"maybe":<"x"|null?>,"flags":<"auto"|true|false?>,"none":<null?>}',
    );
    for (const [flag, value] of [
      ['--any', 'null'],
      ['--any', '1'],
      ['--maybe', '"x"'],
      ['--flags', 'true'],
      ['--none', 'null'],
    ] as const)
      assert.deepEqual(resolve({ input_schema }, [flag, value]).args, [flag, value]);
    assert.throws(() => resolve({ input_schema }, ['--any', '2']), /1, "a", null/);
  });

  it('are shown as they can be written where texts and numbers are mixed', () => {
    const input_schema = { type: 'object', properties: { any: { enum: ['1', 1, 'a'] } } };
    const inputs = inputsOf(completeManifest(manifestFile.parse({ input_schema }), 't'));
    assert.equal(usageLine('t', inputs), 't [--any <"1"|1|"a">]');
    assert.equal(callLine('t', inputs), 't {"any":<"1"|1|"a"?>}');
    for (const any of ['"1"', '1', '"a"'])
      assert.deepEqual(resolve({ input_schema }, ['--any', any]).args, ['--any', any]);
  });
});

describe('the arguments of a tool with a JSON Schema', () => {
  const input_schema = {
    type: 'object',
    properties: {
      file: { type: 'string', format: 'path' },
      ratio: { type: 'number', exclusiveMinimum: 0 },
      port: { $ref: '#/$defs/port' },
    },
    dependentRequired: { ratio: ['port'] },
    patternProperties: { '^x_': { type: 'integer' } },
    $defs: { port: { type: 'integer' } },
  };
  const checked = (given: string[]) => resolveCheckedArguments(tool({ input_schema }), given, options());

  it('are refused as those of any other tool, with all that the schema does not allow', async () => {
    await assert.rejects(checked(['--file', 'in.json', '--ratio', '0']), (error: AcorError) => {
      assert.equal(error.code, 'E_USAGE');
      assert.deepEqual(problems(error), [
        ['ratio', 'exclusiveMinimum'],
        ['port', 'dependentRequired'],
      ]);
      assert.match(
        error.hint!,
        /input_schema\.properties\.ratio of the tool\. Usage: tool \[--file <path>\] \[--ratio <number>\]/,
      );
      return true;
    });
  });

  it('have the types of the schema, also those of inputs that only a pattern allows', async () => {
    const { args, inputs } = await checked(['--file', 'in.json', '--port', '5', '--x-a', '1']);
    const file = project.at('in.json');
    assert.deepEqual(args, ['--file', file, '--port', '5', '--x-a', '1']);
    assert.deepEqual(inputs, { file, port: 5, x_a: 1 });
  });
});

describe('secret inputs', () => {
  const inputs = [{ name: 'user' }, { name: 'token', secret: true, pattern: '^t-' }];

  it('are masked where values are shown, and marked among the words', () => {
    const { args, secretArgs, values } = resolve({ inputs }, ['--token', 't-1', '--user', 'me']);
    assert.deepEqual(args, ['--user', 'me', '--token', 't-1']);
    assert.deepEqual(secretArgs, [3]);
    assert.deepEqual(values, { user: 'me', token: '[secret]' });
  });

  it('are not shown when they are refused', () => {
    const error = refused({ inputs }, ['--token', 'hunter2']);
    assert.ok(!JSON.stringify([error.message, error.hint, error.details]).includes('hunter2'));
  });
});

describe('a path argument', () => {
  const grant = (access: string | undefined, path: string, more: Partial<ResolveOptions> = {}) =>
    resolve({ inputs: [{ name: 'p', type: 'path', ...(access && { access }) }] }, ['--p', path], more);
  const refusal = (access: string | undefined, path: string, more: Partial<ResolveOptions> = {}) =>
    refused({ inputs: [{ name: 'p', type: 'path', ...(access && { access }) }] }, ['--p', path], more);

  it('that exists is granted for reading', () => {
    for (const access of [undefined, 'read']) {
      const { args, grants, staged } = grant(access, './data/../in.json');
      assert.deepEqual(args, ['--p', project.at('in.json')]);
      assert.deepEqual([grants, staged], [[{ path: project.at('in.json'), access: 'read', input: 'p' }], []]);
    }
  });

  it('that exists is granted for writing where the input says so', () => {
    assert.deepEqual(grant('write', 'data').grants, [
      { path: project.at('data'), access: 'write', input: 'p' },
    ]);
  });

  it('that does not exist yet is staged', () => {
    for (const access of [undefined, 'write']) {
      const { args, grants, staged, values } = grant(access, 'new/out.json');
      const output = {
        input: 'p',
        target: project.at('new/out.json'),
        staged: project.at('.staged/p/out.json'),
      };
      assert.deepEqual([args, grants, staged], [['--p', output.staged], [], [output]]);
      assert.deepEqual(values, { p: output.target });
    }
  });

  it('that is to be read and does not exist is E_INPUT_NOT_FOUND', () => {
    const error = refusal('read', 'none.json');
    assert.equal(error.code, 'E_INPUT_NOT_FOUND');
    assert.match(error.hint!, new RegExp(project.at('none.json')));
  });

  it('outside the roots is refused, whether it exists or not', () => {
    for (const path of [outside.at('secret'), outside.at('new')]) {
      const error = refusal(undefined, path);
      assert.equal(error.code, 'E_PERMISSION', path);
      assert.match(error.hint!, /security\.grant_roots/);
    }
    // The control: with its folder among the roots, the same path is granted.
    assert.equal(
      grant(undefined, outside.at('secret'), { roots: [project.root, outside.root] }).grants.length,
      1,
    );
  });

  it('that climbs out of the roots is refused', () => {
    assert.equal(refusal(undefined, `../${outside.root.split('/').at(-1)}/secret`).code, 'E_PERMISSION');
    assert.equal(refusal('write', '../not-there').code, 'E_PERMISSION');
    assert.equal(refusal('write', 'nowhere/../../not-there').code, 'E_PERMISSION');
  });

  it('that leads out of the roots by a symlink is refused', () => {
    project.link('innocent', outside.at('secret'));
    project.link('dir', outside.root);
    project.link('dangling', outside.at('new'));
    for (const path of ['innocent', 'dir/secret', 'dir/new', 'dangling', 'data/../dir/secret']) {
      assert.equal(refusal(undefined, path).code, 'E_PERMISSION', path);
    }
    // The control: a symlink that stays inside is followed, and its target is granted.
    project.link('good', 'in.json');
    assert.equal(grant(undefined, 'good').grants[0]?.path, project.at('in.json'));
  });

  it('is resolved against the folder of the caller', () => {
    assert.equal(
      grant(undefined, 'a.txt', { cwd: project.at('data') }).grants[0]?.path,
      project.at('data/a.txt'),
    );
  });

  it('is never writable where ACOR keeps its own files, nor where these are held', () => {
    for (const path of ['.acor/config.yaml', '.acor/new.yaml', '.acor', '.']) {
      const error = refusal('write', path);
      assert.equal(error.code, 'E_PERMISSION', path);
    }
    assert.equal(grant('read', '.acor/config.yaml').grants.length, 1);
  });

  it('that is empty, leads through a file, or in a circle is a mistake of use', () => {
    project.link('x', 'y');
    project.link('y', 'x');
    for (const path of ['', 'in.json/x', 'x']) assert.equal(refusal(undefined, path).code, 'E_USAGE', path);
  });

  it('may be one of several outputs, each in a place of its own', () => {
    const inputs = [{ name: 'o', type: 'path', multiple: true, access: 'write' }];
    const { staged } = resolve({ inputs }, ['--o', 'a/x', '--o', 'b/x']);
    assert.equal(new Set(staged.map((each) => each.staged)).size, 2);
    assert.deepEqual(problems(refused({ inputs }, ['--o', 'a/x', '--o', 'a/../a/x'])), [
      ['o', 'same-output'],
    ]);
  });

  it('may not replace the file that the call reads', () => {
    const inputs = [
      { name: 'file', type: 'path', access: 'read' },
      { name: 'output', type: 'path', access: 'write' },
    ];
    const call = (output: string) => ['--file', 'in.json', '--output', output];
    assert.deepEqual(problems(refused({ inputs }, call('data/../in.json'))), [['output', 'same-output']]);
    assert.equal(resolve({ inputs }, call('other.json')).staged.length, 1, 'the control: another path');
  });

  it('is refused beside the others that are wrong', () => {
    const inputs = [
      { name: 'a', type: 'path', access: 'read' },
      { name: 'b', type: 'path' },
    ];
    const error = refused({ inputs }, ['--a', 'none', '--b', outside.root]);
    assert.equal(error.code, 'E_INPUT_NOT_FOUND');
    assert.deepEqual(problems(error), [
      ['a', 'exists'],
      ['b', 'grant-roots'],
    ]);
  });
});

describe('the arguments of a tool without inputs', () => {
  it('pass as they are, but existing paths under the roots are made absolute and granted', () => {
    const given = ['in.json', '--data=data', '-x', 'plain', outside.at('secret'), '--', '-', 'none.json', ''];
    const { args, grants } = resolve({}, given);
    assert.deepEqual(args, [
      project.at('in.json'),
      `--data=${project.at('data')}`,
      '-x',
      'plain',
      outside.at('secret'),
      '--',
      '-',
      'none.json',
      '',
    ]);
    assert.deepEqual(grants, [
      { path: project.at('in.json'), access: 'read', input: '#1' },
      { path: project.at('data'), access: 'read', input: '#2' },
    ]);
  });

  it('are not granted through a symlink that leads out', () => {
    project.link('innocent', outside.at('secret'));
    const { args, grants } = resolve({}, ['innocent']);
    assert.deepEqual([args, grants], [['innocent'], []]);
  });

  it('do not hold a NUL byte', () => {
    assert.equal(refused({}, ['a\0b']).code, 'E_USAGE');
  });
});

describe('the roots of grants', () => {
  it('are the project, the working directory, the system’s temp folder and those configured, all real', async () => {
    project.folder('.acor');
    project.link('shared', outside.root);
    const cwd = project.folder('deep');
    const overrides = { 'security.grant_roots': ['shared', '/srv/data'] };
    const config = await loadConfig({ cwd, env: { HOME: '/no-home' }, overrides, acceptLinks: true });
    const roots = grantRoots(config, cwd);
    for (const root of [project.root, cwd, outside.root, '/srv/data']) assert.ok(roots.includes(root), root);
    assert.equal(roots.length, 5);
  });
});

function tool(file: unknown): ToolEntry {
  const manifest = completeManifest(manifestFile.parse(file), 'tool');
  return {
    name: 'tool',
    dir: project.root,
    entry: null,
    command: ['true'],
    language: 'executable',
    adapter: manifest.adapter,
    manifest,
    manifestPath: null,
    problems: [],
  };
}

function options(): ResolveOptions {
  return {
    cwd: project.root,
    roots: [project.root],
    protectedRoots: [project.at('.acor'), project.at('.runs')],
    stagingDir: project.at('.staged'),
  };
}

function resolve(file: unknown, given: string[], more: Partial<ResolveOptions> = {}) {
  return resolveArguments(tool(file), given, { ...options(), ...more });
}

function refused(file: unknown, given: string[], more: Partial<ResolveOptions> = {}): AcorError {
  try {
    resolve(file, given, more);
  } catch (error) {
    assert.ok(error instanceof AcorError, String(error));
    return error;
  }
  return assert.fail('it was accepted');
}

function problems(error: AcorError): [string, string][] {
  const all = error.details?.['problems'] as { input: string; rule: string }[];
  return all.map(({ input, rule }) => [input, rule]);
}
