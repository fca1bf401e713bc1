import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { TestServer } from '../support/http-server.ts';
import { startHttp, TOKEN } from '../support/mcp-server.ts';
import { TestProject, until } from '../support/project.ts';

const VERSION = '2026-07-28';
const META = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});

/** The inputs of a call as JSON text, and what the refusal says. */
const CHANGED: readonly [inputs: string, said: RegExp][] = [
  ['{"whole":9007199254740993}', /'whole' must not have the number 9007199254740993, which/],
  ['{"any":9007199254740993}', /'any' must not have the number 9007199254740993, which/],
  ['{"any":1e400}', /'any' must not have the number 1e400, which/],
  [
    '{"data":{"list":[1,12345678901234567890]}}',
    /'data' must not have the number 12345678901234567890, which/,
  ],
  ['{"text":9007199254740993}', /'text' must not have the number 9007199254740993, which/],
  ['{"__proto__":{"polluted":1}}', /__proto__.*is not an input/],
];

/** The control: what JSON holds, and digits in quotes. */
const KEPT = '{"whole":5.0,"any":9007199254740992,"text":"9007199254740993","data":{"__proto__":[1.5]}}';
const OUTPUT = '--whole 5 --any 9007199254740992 --text 9007199254740993 --data {"__proto__":[1.5]}';

let project: TestProject;
before(() => {
  project = new TestProject({ tools: [] });
  project.write('tools/takes/cli.sh', '#!/bin/bash\necho "$@"\n', 0o755);
  project.write(
    'tools/takes/tool.yaml',
    `name: takes
version: 1.0.0
adapter: plain
inputs:
  - { name: whole, type: int }
  - { name: any, type: number }
  - { name: text }
  - { name: data, type: json }
`,
  );
});
after(() => project[Symbol.dispose]());

describe('inputs that JSON would change', () => {
  it('are refused by the command line', async () => {
    for (const [inputs, said] of CHANGED) {
      const { error } = await project.envelope(['run', 'takes', '--input-json', inputs]);
      assert.equal(error.code, 'E_USAGE', inputs);
      assert.match(error.message, said);
      assert.equal((error.details as { problems: object[] }).problems.length, 1);
    }
    const { data } = await project.envelope(['run', 'takes', '--no-stream', '--input-json', KEPT]);
    assert.equal(data.result.data.output, OUTPUT);
  });

  it('are refused by MCP on standard input, however the lines are cut', async () => {
    const running = project.start(['mcp']);
    const lines: string[] = [];
    let rest = '';
    running.child.stdout!.on('data', (text: string) => {
      const all = (rest + text).split('\n');
      rest = all.pop()!;
      lines.push(...all);
    });
    let id = 0;
    await refusedByMcp(async (call) => {
      const line = `${call.replace('"id":0', `"id":${++id}`)}\n`;
      running.child.stdin!.write(line.slice(0, 30 + id));
      running.child.stdin!.write(line.slice(30 + id));
      const isAnswer = (each: string) => JSON.parse(each).id === id;
      await until(() => lines.some(isAnswer));
      return lines.find(isAnswer)!;
    });
    running.child.stdin!.end();
    assert.equal((await running.finished).code, 0);
  });

  it('are refused by MCP over HTTP, in both revisions', async () => {
    const { running, port } = await startHttp(project);
    const post = (body: string, headers: Record<string, string>) => sent(port, body, headers);
    const hello =
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"wire","version":"1"}}}';
    const { session } = await post(hello, {});
    await refusedByMcp(async (call) => {
      const legacy = call.replace(`,"_meta":${META}`, '');
      return (await post(legacy, { 'Mcp-Session-Id': session! })).text;
    });
    await refusedByMcp(async (call) => {
      const name = JSON.parse(call).params.name;
      const headers = { 'MCP-Protocol-Version': VERSION, 'Mcp-Method': 'tools/call', 'Mcp-Name': name };
      return (await post(call, headers)).text;
    });
    running.child.kill();
    await running.finished;
  });

  it('are refused by the HTTP API, among the words and in the body itself', async () => {
    const server = await TestServer.start(project, ['--http-allow', 'writes']);
    for (const [inputs, said] of CHANGED) {
      const { json } = await server.call('run.start', { tool: 'takes', args: ['--input-json', inputs] });
      assert.match(json.error.message, said);
    }
    for (const [body, said] of [
      ['{"limit":9007199254740993}', /the body must not have the number 9007199254740993/],
      ['{"tool":"a","tool":"b"}', /the body must not have the key 'tool' twice/],
      ['{"__proto__":{"tool":"a"}}', /__proto__/],
    ] as const) {
      const headers = { 'Content-Type': 'application/json' };
      const { status, json } = await server.send('POST', '/api/v1/run.list', { headers, body });
      assert.equal(status, 400, body);
      assert.equal(json.error.code, 'E_USAGE');
      assert.match(json.error.message, said);
    }
    server.running.child.kill();
    await server.running.finished;
  });

  it('are refused in the steps, inputs and defaults of workflows, in YAML and JSON', async () => {
    for (const [inputs, said] of CHANGED)
      for (const [file, content] of [
        ['step.yaml', `steps:\n  - name: a\n    tool: takes\n    args: ${inputs}\n`],
        ['step.json', `{"steps":[{"name":"a","tool":"takes","args":${inputs}}]}`],
        [
          'items.yaml',
          `steps:\n  - { name: a, tool: takes, foreach: [${inputs}], args: { data: "\${item}" } }\n`,
        ],
        [
          'default.yaml',
          `inputs: { data: { type: json, default: ${inputs} } }\nsteps: [{ name: a, tool: takes }]\n`,
        ],
      ] as const) {
        project.write(`flows/${file}`, content);
        const { error } = await project.envelope(['workflow', 'run', `flows/${file}`]);
        assert.equal(error.code, 'E_WORKFLOW_INVALID', `${file} ${inputs}`);
        const number = /must not have the number [^,]+/.exec(said.source)?.[0];
        assert.match(error.message, new RegExp(number ?? "unknown key '__proto__'"), file);
      }
    project.write(
      'flows/words.yaml',
      'steps: [{ name: a, tool: takes, args: [--text, 9007199254740993] }]\n',
    );
    const { error } = await project.envelope(['workflow', 'run', 'flows/words.yaml']);
    assert.match(JSON.stringify(error), /must not have the number 9007199254740993/);
    project.write(
      'flows/takes.yaml',
      `inputs: { whole: { type: int }, any: { type: number }, data: { type: json } }
steps: [{ name: a, tool: takes, args: { whole: 5.0, any: 9007199254740992, text: "9007199254740993", data: "\${inputs.data}" } }]
outputs: { said: "\${steps.a.data.output}" }
`,
    );
    for (const [inputs, said] of CHANGED.filter(([inputs]) => !inputs.includes('text'))) {
      const refused = await project.envelope(['workflow', 'run', 'flows/takes.yaml', '--input-json', inputs]);
      assert.match(refused.error.message, said);
    }
    const words = ['--no-stream', '--input-json', '{"data":{"__proto__":[1.5]}}'];
    const { data } = await project.envelope(['workflow', 'run', 'flows/takes.yaml', ...words]);
    assert.equal(data.result.data.said, OUTPUT);
  });
});

/** Sends the calls of MCP, and checks the refusals. */
async function refusedByMcp(send: (call: string) => Promise<string>): Promise<void> {
  const calls = (inputs: string) => [
    `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"takes","arguments":${inputs},"_meta":${META}}}`,
    `{"jsonrpc":"2.0","id":0,"method":"tools\\/call","params":{"name":"acor_run","arguments":{"tool":"takes","arguments":${inputs}},"_meta":${META}}}`,
  ];
  for (const [inputs, said] of CHANGED)
    for (const call of calls(inputs)) {
      const answer = await send(call);
      assert.match(answer, said);
      assert.match(answer, /E_USAGE/);
    }
  for (const call of calls(KEPT)) {
    const answer = await send(call);
    assert.ok(answer.includes(JSON.stringify(OUTPUT).slice(1, -1)), answer);
  }
}

function sent(port: number, body: string, more: Record<string, string>) {
  const headers = {
    Authorization: `Bearer ${TOKEN}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...more,
  };
  return new Promise<{ text: string; session: string | undefined }>((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('error', reject);
      answer.on('end', () => resolve({ text, session: answer.headers['mcp-session-id']?.toString() }));
    });
    call.on('error', reject);
    call.end(body);
  });
}

describe('the result of a tool with a number that a program cannot hold', () => {
  it('has a warning that names the number', async () => {
    const line = (id: string) => `{"type":"result","status":"ok","data":{"id":${id}}}`;
    project.write('tools/numbers/cli.sh', `#!/bin/bash\necho '${line('1234567890123456789')}'\n`, 0o755);
    project.write('tools/exact/cli.sh', `#!/bin/bash\necho '${line('"1234567890123456789"')}'\n`, 0o755);
    project.write('tools/whole/cli.sh', '#!/bin/bash\necho \'{"id":1E400}\'\n', 0o755);
    project.write('tools/whole/tool.yaml', 'name: whole\nversion: 1.0.0\nadapter: plain\noutput: json\n');
    for (const [tool, number] of [
      ['numbers', '1234567890123456789'],
      ['whole', '1E400'],
    ]) {
      const { ok, meta } = await project.envelope(['run', tool!, '--no-stream']);
      assert.ok(ok);
      assert.match(meta.warnings.join('\n'), new RegExp(`the number ${number}, which became another one`));
    }
    const { data, meta } = await project.envelope(['run', 'exact', '--no-stream']);
    assert.deepEqual([data.result.data.id, meta.warnings], ['1234567890123456789', undefined], 'the control');
  });
});
