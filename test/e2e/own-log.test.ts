import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TestServer, TOKEN } from '../support/http-server.ts';
import { connectTo } from '../support/mcp-client.ts';
import { TestProject, until } from '../support/project.ts';

const SECRET = 'correct-horse-battery';

let project: TestProject;
beforeEach(() => {
  project = new TestProject({ tools: ['quick'] });
});
afterEach(async () => {
  await project.supervisorsExited();
  project[Symbol.dispose]();
});

type Line = Record<string, unknown>;

function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

function logFile(): Line[] {
  const file = project.path('own.jsonl');
  return existsSync(file) ? linesOf(readFileSync(file, 'utf8')) : [];
}

describe("ACOR's own log", () => {
  it('of a server has requests and calls with caller, time and code, and neither inputs nor tokens', async () => {
    const server = await TestServer.start(project, ['--log-level', 'debug']);
    await server.call('run.show', { run: SECRET });
    await server.get(`/api/v1/run.list?text=${SECRET}`);
    await server.get('/metrics', { Authorization: `Bearer ${SECRET}` });
    await server.get(`/?code=${SECRET}`);
    await server.stop();
    const { stderr } = await server.running.finished;
    const lines = linesOf(stderr);
    const of = (msg: string) => lines.filter((line) => line['msg'] === msg);
    assert.equal(of('listening')[0]!['port'], server.port);
    const [failed] = of('call failed').filter(({ operation }) => operation === 'run.show');
    assert.deepEqual(
      [failed!['level'], failed!['caller'], failed!['code'], failed!['surface']],
      ['warn', 'token:http client', 'E_RUN_NOT_FOUND', 'http'],
    );
    assert.equal(of('call').find(({ operation }) => operation === 'run.list')!['level'], 'debug');
    assert.deepEqual(
      of('request').map(({ path, status }) => [path, status]),
      [
        ['/api/v1/run.show', 404],
        ['/api/v1/run.list', 200],
        ['/metrics', 401],
        ['/', 200],
      ],
    );
    assert.ok(!stderr.includes(SECRET) && !lines.some((line) => JSON.stringify(line).includes(TOKEN)));
    for (const { ts, pid, level } of lines) {
      assert.match(String(ts), /^\d{4}-.*Z$/);
      assert.equal(pid, server.running.child.pid);
      assert.ok(['debug', 'info', 'warn', 'error'].includes(String(level)));
    }
  });

  it('is a file that the server, the supervisors and the MCP server of a project share, from its level on', async () => {
    const env = { ACOR_LOG: `info:${project.path('own.jsonl')}` };
    const { data } = await project.envelope(['run', 'quick', '--detach'], { env });
    await until(() => logFile().some(({ msg }) => msg === 'run ended'));
    const ended = logFile().find(({ msg }) => msg === 'run ended')!;
    assert.deepEqual([ended['run_id'], ended['state']], [data.run_id, 'completed']);
    assert.equal(ended['pid'], project.record(data.run_id)!.pid);
    const client = await connectTo(project, { env });
    await client.callTool({ name: 'acor_show', arguments: { run: 'r-none' } });
    await client.close();
    const [failed] = logFile().filter(({ surface }) => surface === 'mcp');
    assert.deepEqual(
      [failed!['msg'], failed!['operation'], failed!['code'], failed!['run_id']],
      ['call failed', 'run.show', 'E_RUN_NOT_FOUND', 'r-none'],
    );
    assert.ok(logFile().every(({ level }) => level !== 'debug'));
    assert.ok(new Set(logFile().map(({ pid }) => pid)).size >= 2);
  });

  it('is off by default, and an invalid ACOR_LOG is refused by a server', async () => {
    const server = await TestServer.start(project);
    await server.call('run.list');
    await server.stop();
    assert.deepEqual(linesOf((await server.running.finished).stderr), []);
    const { error } = await project.envelope(['serve', '--port', '0'], { env: { ACOR_LOG: 'loud' } });
    assert.deepEqual([error.code, error.message], ['E_USAGE', 'ACOR_LOG is "loud"']);
  });
});
