import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as z from 'zod';
import { AcorClient, type Changes, HttpFailure, type OperationTypes } from '../../src/client/index.ts';
import {
  CALLABLE,
  FAILING,
  inputsOf,
  projectForEveryOperation,
  type Runs,
  startRuns,
} from '../support/every-operation.ts';
import { TestServer, TOKEN } from '../support/http-server.ts';
import { ROOT, type TestProject, until } from '../support/project.ts';

let project: TestProject;
let server: TestServer;
let client: AcorClient;
let runs: Runs;

before(async () => {
  project = projectForEveryOperation();
  server = await TestServer.start(project, ['--http-allow', 'writes', '--http-allow', 'destroys']);
  client = new AcorClient({ url: server.url, token: TOKEN });
  runs = await startRuns(project);
});
after(async () => {
  await server.stop();
  await project.supervisorsExited();
  project[Symbol.dispose]();
});

describe('the client of the HTTP API', () => {
  for (const { operation, load } of CALLABLE) {
    it(`calls ${operation}`, async () => {
      const name = operation as keyof OperationTypes;
      const op = await load();
      const answer = await client.call(name, inputsOf(runs)[name]() as never);
      const about = JSON.stringify(answer).slice(0, 2000);
      assert.equal(answer.meta.tool, operation, about);
      assert.equal(answer.ok ? undefined : answer.error.code, FAILING[operation], about);
      if (answer.ok) assert.ok(z.safeParse(op.output, answer.data).success, about);
    });
  }

  it('refuses an option that it does not have', async () => {
    const typo = { feilds: ['name'] } as never;
    assert.throws(() => new AcorClient({ url: server.url, tokn: TOKEN } as never), /has no option 'tokn'/);
    await assert.rejects(client.call('tool.list', {}, typo), /Its options: fields, limit, offset/);
    await assert.rejects(client.changes(typo).next(), /changes has no option 'feilds'/);
    await assert.rejects(client.events(runs.run, typo).next(), /events has no option 'feilds'/);
  });

  it('selects a part of an answer, and repeats a call without its effect', async () => {
    const part = await client.call('tool.list', {}, { fields: ['name'], limit: 1, offset: 1 });
    assert.ok(part.ok);
    assert.deepEqual(
      [part.data.tools.length, Object.keys(part.data.tools[0]!), part.meta.hasMore],
      [1, ['name'], true],
    );
    const start = () => client.call('run.start', { tool: 'quick', detach: true }, { idempotencyKey: 'k' });
    const [one, two] = [await start(), await start()];
    assert.ok(one.ok && two.ok && 'run_id' in one.data && 'run_id' in two.data);
    assert.equal(one.data.run_id, two.data.run_id);
  });

  it('follows a run to its end, and the changes of all runs over a restart of the server', async () => {
    const events: string[] = [];
    for await (const { type } of client.events(runs.run)) events.push(type);
    assert.equal(events.at(-1), 'runner_end');
    const own = await TestServer.start(project);
    const seen: Changes[] = [];
    const connections: boolean[] = [];
    const left = new AbortController();
    const follow = async () => {
      const changes = new AcorClient({ url: own.url, token: TOKEN }).changes({
        signal: left.signal,
        onConnection: (isConnected) => connections.push(isConnected),
      });
      for await (const each of changes) seen.push(each);
    };
    const followed = follow().catch(() => {});
    await until(() => seen.length > 0);
    own.running.child.kill('SIGKILL');
    await own.running.finished;
    const missed = String((await project.run(['quick'])).end['run_id']);
    const again = await TestServer.start(project, [], own.port);
    await until(() => seen.some(({ runs }) => runs.some(({ run_id }) => run_id === missed)));
    assert.deepEqual([connections[0], connections[1], connections.at(-1)], [true, false, true]);
    left.abort();
    await followed;
    await again.stop();
  });

  it('throws for a stream that the server refuses, and does not ask again', async () => {
    const unknown = new AcorClient({ url: server.url, token: 'not-the-token-of-it' });
    await assert.rejects(unknown.changes().next(), (error: HttpFailure) => error.status === 401);
    await assert.rejects(client.events('r-0000000000000000').next(), HttpFailure);
  });

  it('works in Node, from the package', () => {
    const script = `import { AcorClient } from ${JSON.stringify(join(ROOT, 'dist/lib/client/index.js'))};
      const client = new AcorClient({ url: ${JSON.stringify(server.url)}, token: ${JSON.stringify(TOKEN)} });
      const { data } = await client.call('run.show', { run: ${JSON.stringify(runs.run)} });
      let last;
      for await (const event of client.events(data.run_id)) last = event.type;
      console.log(JSON.stringify([data.state, last]));`;
    const node = join(ROOT, 'node_modules/.bin/node');
    const { stdout, stderr } = spawnSync(node, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.equal(stdout, '["completed","runner_end"]\n', stderr);
  });
});
