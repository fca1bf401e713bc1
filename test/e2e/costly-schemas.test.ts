import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { TestServer } from '../support/http-server.ts';
import { connectTo } from '../support/mcp-client.ts';
import { TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

const LINES = 'name: NAME\nversion: 1.0.0\nadapter: plain\n';

/** A tree whose alternatives look alike until their last key, so that each level doubles the work. */
const TREE = JSON.stringify({
  type: 'object',
  properties: { tree: { $ref: '#/$defs/node' } },
  $defs: {
    node: {
      anyOf: [
        { type: 'null' },
        ...['and', 'or'].map((name) => ({
          type: 'object',
          properties: { of: { $ref: '#/$defs/node' }, name: { const: name } },
          required: ['of', 'name'],
        })),
      ],
    },
  },
});

function tree(depth: number, name: string): unknown {
  let node: unknown = null;
  for (let level = 0; level < depth; level++) node = { of: node, name };
  return node;
}

const COSTLY = { tree: tree(40, 'xor') };
const CHEAP = { tree: tree(6, 'and') };
/** A search with backtracking tries 2 to the power of 5,000 ways. */
const NO_WORD = `${'a'.repeat(5_000)}b`;

const TOOLS: Record<string, string> = {
  trees: `input_schema: ${TREE}\n`,
  words: "inputs: [{ name: word, pattern: '^(a+)+$' }]\n",
  patterns: `input_schema: ${JSON.stringify({ properties: { word: { type: 'string', pattern: '^(a+)+$' } } })}\n`,
};

const project = new TestProject({ config: WITHOUT_SANDBOX });
for (const [name, keys] of Object.entries(TOOLS)) {
  project.write(`tools/${name}/tool.yaml`, LINES.replace('NAME', name) + keys);
  project.write(`tools/${name}/cli.sh`, '#!/bin/bash\necho done\n', 0o755);
}
project.write(
  'workflows/outer.yaml',
  "name: outer\ninputs: { word: { pattern: '^(a+)+$' } }\nsteps: [{ name: s, tool: words, args: { word: '${inputs.word}' } }]\n",
);
project.write(
  'workflows/inner.yaml',
  `name: inner\nsteps: [{ name: s, tool: words, args: { word: ${NO_WORD} } }]\n`,
);
after(() => project[Symbol.dispose]());

/** Schemas and patterns that make every check endless, each below a key of a manifest, and where `acor validate` finds them. */
const ENDLESS: Record<string, [string, RegExp]> = {
  cycle: [
    'input_schema:\n  $defs:\n    a: { allOf: [$ref: "#/$defs/b"] }\n    b: { allOf: [$ref: "#/$defs/a"] }\n',
    /tool\.yaml:7:24: 'input_schema' .*: the reference at #\/\$defs\/b\/allOf\/0\/\$ref leads back to/,
  ],
  doubles: [
    `output_schema:\n  $defs:\n    l30: {}\n${Array.from({ length: 30 }, (_, level) => {
      const next = `$ref: "#/$defs/l${level + 1}"`;
      return `    l${level}: { anyOf: [${next}, ${next}] }\n`;
    }).join('')}`,
    /tool\.yaml:22:10: 'output_schema' .*: the schema at #\/\$defs\/l15 checks one value by more than 100000 schemas/,
  ],
  repeats: [
    "inputs: [{ name: word, pattern: '^((a+)+)\\1$' }]\n",
    /tool\.yaml:4:33: .*may take time without an end/,
  ],
};

describe('a manifest whose checks would have no end', () => {
  it('is reported with its place, and not run', async () => {
    using own = new TestProject({ config: WITHOUT_SANDBOX });
    for (const [name, [keys]] of Object.entries(ENDLESS)) {
      own.write(`tools/${name}/tool.yaml`, LINES.replace('NAME', name) + keys);
      own.write(`tools/${name}/cli.sh`, '#!/bin/bash\necho done\n', 0o755);
    }
    const { error } = await own.envelope(['validate']);
    const found = (error!.details!['findings'] as Record<string, unknown>[]).map(
      ({ file, line, col, message }) => `${file}:${line}:${col}: ${message}`,
    );
    for (const [name, [, wanted]] of Object.entries(ENDLESS)) {
      assert.ok(
        found.some((each) => wanted.test(each)),
        `${name}: ${found.filter((each) => each.includes(`/${name}/`)).join('\n')}`,
      );
      assert.equal((await own.envelope(['run', name])).error?.code, 'E_MANIFEST_INVALID');
    }
  });
});

describe('a call whose check would have no end', () => {
  it('is refused on the command line, and a call that matches runs', async () => {
    const run = (tool: string, ...words: string[]) =>
      project.envelope(['run', tool, '--no-stream', ...words]);
    project.write('costly.json', JSON.stringify(COSTLY));
    for (const source of [JSON.stringify(COSTLY), '@costly.json']) {
      const { error } = await run('trees', '--input-json', source);
      assert.equal(error?.code, 'E_USAGE');
      assert.match(error.message, /had not ended after 0.5 s of processor time/);
    }
    assert.equal((await run('trees', '--input-json', JSON.stringify(CHEAP))).ok, true);
    for (const tool of ['words', 'patterns']) {
      for (const words of [[`--word=${NO_WORD}`], ['--input-json', JSON.stringify({ word: NO_WORD })]])
        assert.match((await run(tool, ...words)).error!.message, /'word' must match \^\(a\+\)\+\$/);
      assert.equal((await run(tool, `--word=${'a'.repeat(5_000)}`)).ok, true);
    }
  });

  it('is refused in a workflow, for its own inputs and for those of its steps', async () => {
    const run = (name: string, ...words: string[]) =>
      project.envelope(['workflow', 'run', name, '--no-stream', ...words]);
    const refused = await run('outer', `--word=${NO_WORD}`);
    assert.match(refused.error!.message, /^outer: 'word' must match \^\(a\+\)\+\$/);
    assert.match((await run('inner')).error!.message, /must match \^\(a\+\)\+\$/);
    assert.equal((await run('outer', '--word=aaaaaaaaaa')).ok, true);
  });

  it('is refused by a server, which serves its other callers and ends by its signal', async () => {
    const server = await TestServer.start(project, ['--http-allow', 'writes', '--http-allow', 'destroys']);
    const [costly, word, cheap] = await Promise.all([
      server.call('run.start', { tool: 'trees', args: ['--input-json', JSON.stringify(COSTLY)] }),
      server.call('run.start', { tool: 'words', args: ['--word', NO_WORD] }),
      server.call('run.start', { tool: 'trees', args: ['--input-json', JSON.stringify(CHEAP)] }),
    ]);
    assert.match(costly.json.error!.message, /had not ended after 0.5 s/);
    assert.match(word.json.error!.message, /'word' must match/);
    assert.equal(cheap.json.ok, true, cheap.text);
    await server.stop();
  });

  it('is refused by MCP, which answers the next call', async () => {
    const client = await connectTo(project);
    const [costly, word, cheap] = await Promise.all([
      client.callTool({ name: 'trees', arguments: COSTLY }),
      client.callTool({ name: 'words', arguments: { word: NO_WORD } }),
      client.callTool({ name: 'trees', arguments: CHEAP }),
    ]);
    assert.match(JSON.stringify(costly), /had not ended after 0.5 s/);
    assert.match(JSON.stringify(word), /'word' must match/);
    assert.notEqual(cheap.isError, true, JSON.stringify(cheap));
    await client.close();
  });
});
