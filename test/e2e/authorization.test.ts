import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import { runCli } from '../../src/compose/app.ts';
import { RunWatch } from '../../src/mcp/events/run-watch.ts';
import { Host } from '../../src/mcp/host.ts';
import { KeptTools } from '../../src/mcp/kept-tools.ts';
import { mcpServer } from '../../src/mcp/mcp-server.ts';
import { OWN_TOOLS } from '../../src/mcp/own-tools.ts';
import { RUN_TOOLS } from '../../src/mcp/run-tools.ts';
import type { Authorize } from '../../src/operations/acor-app.ts';
import { acorCli } from '../../src/operations/acor-cli.ts';
import { ROUTES } from '../../src/operations/index.ts';
import { splitCommand } from '../../src/util/shell-words.ts';
import { TestProject } from '../support/project.ts';

type Asked = { kind: string; name: string; operation: string };

/** A policy that denies everything, and the calls that it received. */
function denying(): { asked: Asked[]; authorize: Authorize } {
  const asked: Asked[] = [];
  return {
    asked,
    authorize: ({ kind, name }, operation) => {
      asked.push({ kind, name, operation: operation.name });
      return { allowed: false, why: 'denied', hint: 'Ask Ann.' };
    },
  };
}

let project: TestProject;
before(() => {
  project = new TestProject({ tools: ['quick'] });
});
after(() => project[Symbol.dispose]());

async function command(args: readonly string[], authorize: Authorize, env: Record<string, string> = {}) {
  const [out, err] = [project.path('out'), project.path('err')];
  const [stdoutFd, stderrFd] = [openSync(out, 'w'), openSync(err, 'w')];
  try {
    const exit = await runCli(acorCli({ authorize }), [...args], {
      stdoutFd,
      stderrFd,
      stdoutIsTTY: false,
      stdinIsTTY: false,
      columns: undefined,
      env: { PATH: process.env.PATH, HOME: project.root, ...env },
      cwd: project.root,
      signal: new AbortController().signal,
      readStdin: async () => '',
    });
    return { exit, answer: JSON.parse(readFileSync(out, 'utf8')) };
  } finally {
    closeSync(stdoutFd);
    closeSync(stderrFd);
  }
}

describe('a policy that denies everything', () => {
  for (const { command: words, load } of ROUTES) {
    it(`refuses 'acor ${words}' before it begins, and is evaluated once`, async () => {
      const op = await load();
      const { asked, authorize } = denying();
      const before = readdirSync(project.root).sort();
      const { exit, answer } = await command([...splitCommand(op.example)!.slice(1)], authorize, {
        AI_AGENT: 'tester',
      });
      assert.deepEqual(
        [answer.ok, answer.error.code, answer.error.hint, exit],
        [false, 'E_PERMISSION', 'Ask Ann.', 1],
      );
      assert.match(answer.error.message, new RegExp(`agent 'tester' may not call ${op.name}: denied`));
      assert.deepEqual(asked, [{ kind: 'agent', name: 'tester', operation: op.name }]);
      assert.deepEqual(readdirSync(project.root).sort(), [...new Set([...before, 'err', 'out'])].sort());
    });
  }

  it('gets the local user as principal when there is no agent', async () => {
    const { asked, authorize } = denying();
    await command(['version'], authorize);
    assert.equal(asked[0]!.kind, 'local-user');
  });

  it('denies every tool of the MCP server, and its lists', async () => {
    const { asked, authorize } = denying();
    const host = new Host({
      cwd: project.root,
      env: { PATH: process.env.PATH, HOME: project.root },
      authorize,
    });
    const states = createRequestStateCodec<never>({ key: new Uint8Array(32), ttlSeconds: 60 });
    const forConnection = { era: 'legacy' as const, cancelsByLeaving: false, subscribed: new Map() };
    const server = await mcpServer(
      { host, states, declined: new Map(), kept: new KeptTools(), watch: new RunWatch(), maxTools: 25 },
      forConnection,
    );
    const client = new Client({ name: 'denied-client', version: '1' });
    const [mine, its] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(its), client.connect(mine)]);
    const run = 'r-0123456789abcdef';
    const inputs: Record<string, Record<string, unknown>> = {
      acor_apply: { run },
      acor_diff: { run },
      acor_discard: { run },
      acor_undo: { run },
      acor_artifact_read: { run, artifact: '1' },
      acor_cancel: { run },
      acor_describe: { tool: 'quick' },
      acor_logs: { run },
      acor_show: { run },
      acor_answer: { run, choice: 'yes' },
      acor_resume: { run },
      acor_run: { tool: 'quick' },
      acor_wait: { run },
      quick: {},
    };
    for (const name of [...OWN_TOOLS, ...RUN_TOOLS].map((each) => each.name).concat('quick' as never)) {
      asked.length = 0;
      const answer = await client.callTool({ name, arguments: inputs[name] ?? {} });
      assert.equal(answer.isError, true, name);
      const { error } = answer.structuredContent as { error: { code: string } };
      assert.equal(error.code, 'E_PERMISSION', `${name}: ${JSON.stringify(answer)}`);
      assert.ok(
        asked.every(({ kind, name: by }) => kind === 'agent' && by === 'denied-client'),
        JSON.stringify(asked),
      );
    }
    await assert.rejects(client.listTools(), /E_PERMISSION/);
    await assert.rejects(client.listResources(), /may not call run\.list/);
    await assert.rejects(client.readResource({ uri: `acor://runs/${run}` }), /E_PERMISSION/);
    await assert.rejects(
      client.subscribeResource({ uri: 'docs://rules.md' }),
      /may not call resource\.subscribe/,
    );
    await client.close();
    assert.equal(readdirSync(project.root).includes('.runs'), false);
  });
});

it('a policy that allows only reading denies planning a run of a tool, and allows showing one', async () => {
  const authorize: Authorize = (_, { effect }) =>
    effect === 'reads' ? { allowed: true } : { allowed: false, why: 'reading only' };
  assert.equal((await command(['list'], authorize)).answer.ok, true);
  const { answer } = await command(['run', 'quick', '--dry-run'], authorize);
  assert.match(answer.error.message, /reading only/);
});
