import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Acor } from '../../src/library.ts';
import { TestServer } from '../support/http-server.ts';
import { startHttp, TOKEN } from '../support/mcp-server.ts';
import { type Running, TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

const ANNOUNCED = '2025-06-18';
const DEEP = 100_000;
const TOO_DEEP = /must not be nested deeper than 1000 levels/;

const project = new TestProject({ config: WITHOUT_SANDBOX });
const TOOLS = {
  plain: 'inputs: [{ name: v, type: json }]',
  schema: 'input_schema: { properties: { v: {} } }',
};
for (const [name, inputs] of Object.entries(TOOLS)) {
  project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nadapter: plain\n${inputs}\n`);
  project.write(`tools/${name}/cli.sh`, '#!/bin/bash\necho done\n', 0o755);
}
after(() => project[Symbol.dispose]());

function list(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

function inputs(depth: number): string {
  return `{"v":${list(depth)}}`;
}

function toolCall(id: number, depth: number): string {
  const params = `{"name":"plain","arguments":${inputs(depth)}}`;
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;
}

function initialize(): string {
  const params = {
    protocolVersion: ANNOUNCED,
    capabilities: {},
    clientInfo: { name: 'tester', version: '1.0.0' },
  };
  return JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
}

/** The first answer to a request on standard output. */
function answerTo(id: number, { child }: Running): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout!.on('data', (chunk) => {
      text += chunk;
      const line = text.split('\n').find((each) => each.endsWith('}') && each.includes(`"id":${id}`));
      if (line !== undefined) resolve(line);
    });
  });
}

describe('a value that is nested too deep', () => {
  it('is refused on the command line, from each source, and a less deep one is taken', async () => {
    project.write('deep.json', inputs(DEEP));
    for (const tool of Object.keys(TOOLS)) {
      const run = (words: string[], stdin?: string) =>
        project.envelope(['run', tool, '--no-stream', ...words], stdin === undefined ? {} : { stdin });
      for (const answer of [
        await run(['--input-json', '@deep.json']),
        await run(['--input-json', '-'], inputs(DEEP)),
        await run(['--input-json', inputs(20_000)]),
        await run(['--v', list(20_000)]),
      ]) {
        assert.equal(answer.error?.code, 'E_USAGE');
        assert.match(answer.error.message, TOO_DEEP);
      }
      assert.equal((await run(['--v', list(500)])).ok, true);
      assert.equal((await run(['--input-json', inputs(500)])).ok, true);
    }
  });

  it('is refused by the HTTP API, in the body, in an argument and with an idempotency key', async () => {
    const server = await TestServer.start(project, ['--http-allow', 'writes', '--http-allow', 'destroys']);
    const send = (operation: string, body: string, headers: Record<string, string> = {}) =>
      server.send('POST', `/api/v1/${operation}`, {
        headers: { 'Content-Type': 'application/json', ...headers },
        body,
      });
    const args = (depth: number) => JSON.stringify({ tool: 'plain', args: ['--input-json', inputs(depth)] });
    for (const answer of [
      await send('run.start', `{"tool":"plain","args":${list(DEEP)}}`),
      await send('run.answer', `{"run":"last","value":${list(DEEP)}}`, { 'Idempotency-Key': 'one' }),
      await send('run.start', args(DEEP)),
    ]) {
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.json.error!.message, TOO_DEEP);
    }
    assert.equal((await send('run.start', args(500))).json.ok, true);
    await server.stop();
  });

  it('is refused by MCP on standard input, which goes on', async () => {
    const running = project.start(['mcp']);
    const ask = (id: number, line: string) => {
      const answer = answerTo(id, running);
      running.child.stdin!.write(`${line}\n`);
      return answer;
    };
    await ask(0, initialize());
    running.child.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    assert.match(await ask(1, toolCall(1, DEEP)), TOO_DEEP);
    assert.match(await ask(2, toolCall(2, 500)), /completed/);
    running.child.stdin!.end();
    await running.finished;
  });

  it('is refused by MCP over HTTP, which goes on', async () => {
    const { running, url } = await startHttp(project);
    const post = async (body: string, session?: string | null) =>
      fetch(url, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${TOKEN}`,
          Accept: 'application/json, text/event-stream',
          'Content-Type': 'application/json',
          'Mcp-Protocol-Version': ANNOUNCED,
          ...(session && { 'Mcp-Session-Id': session }),
        },
        body,
      });
    const session = (await post(initialize())).headers.get('mcp-session-id');
    assert.match(await (await post(toolCall(1, DEEP), session)).text(), TOO_DEEP);
    assert.match(await (await post(toolCall(2, 500), session)).text(), /completed/);
    running.child.kill();
    await running.finished;
  });

  it('is refused by the library, in inputs and in an answer', async () => {
    const acor = new Acor({ cwd: project.root });
    const v = JSON.parse(list(DEEP));
    await assert.rejects(async () => acor.run('plain', { v }), TOO_DEEP);
    await assert.rejects(async () => acor.run('plain', { v: 1 }, { answers: { a: v } }), TOO_DEEP);
  });
});
