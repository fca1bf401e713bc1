import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ACOR, ROOT, TestProject } from '../support/project.ts';

/** The folder in which `npm run test:mcp-clients` has installed the programs. */
const INSTALLED = process.env['ACOR_TEST_MCP_CLIENTS'];
const skip = INSTALLED === undefined && 'needs the Inspector and mcpc: npm run test:mcp-clients';

// biome-ignore lint/suspicious/noExplicitAny: the programs print whatever the server answers
type Any = any;

interface Client {
  connect?: (project: TestProject) => void;
  close?: (project: TestProject) => void;
  /** The result of a call, as the program prints it. */
  call(project: TestProject, tool: string, given: Readonly<Record<string, string>>): Any;
  list(project: TestProject, what: 'tools' | 'prompts' | 'resources'): Any[];
  /** A call that the client gives up after some seconds, if it has such a limit. */
  giveUp?: (project: TestProject, tool: string, afterS: number) => Any;
  /** A call whose form the client fills in, if it has forms. */
  fillIn?: (project: TestProject, tool: string, form: object) => Any;
}

const SESSION = '@acor-test';
const SETTINGS = 'servers.json';
const NPM = 'node_modules/.bin';
const DRIVER = join(import.meta.dirname, 'mcp_client.py');
/** The answer to the question of asks_user. */
const FORM = { answer: 'fast' };

function start(project: TestProject, program: string, args: readonly string[]): string {
  const { stdout } = spawnSync(join(INSTALLED!, program), args, {
    cwd: project.root,
    encoding: 'utf8',
    env: {
      // Both need a newer Node.js than some systems have.
      PATH: `${join(ROOT, 'node_modules', '.bin')}:${process.env['PATH']}`,
      HOME: project.root,
      XDG_DATA_HOME: join(project.root, 'data'),
    },
  });
  return stdout;
}

const inspect = (project: TestProject, args: readonly string[]): Any =>
  JSON.parse(start(project, `${NPM}/mcp-inspector`, ['--cli', ACOR, 'mcp', '--method', ...args]));
const mcpc = (project: TestProject, args: readonly string[]): Any =>
  JSON.parse(start(project, `${NPM}/mcpc`, ['--json', SESSION, ...args]));

/** A client of Python, by the program beside this file. */
function python(library: 'mcp' | 'fastmcp', more: object = {}): Client {
  const ask = (project: TestProject, request: object): Any =>
    JSON.parse(
      start(project, 'python/bin/python', [DRIVER, library, ACOR, JSON.stringify({ ...more, ...request })]),
    );
  return {
    call: (project, tool, given) => ask(project, { tool, given }),
    list: (project, what) => ask(project, { list: what }),
    giveUp: (project, tool, afterS) => ask(project, { tool, given: {}, timeout: afterS }),
    fillIn: (project, tool, form) => ask(project, { tool, given: {}, form }),
  };
}

const CLIENTS: Readonly<Record<string, Client>> = {
  'the Inspector': {
    call: (project, tool, given) =>
      inspect(project, [
        ...['tools/call', '--tool-name', tool],
        ...Object.entries(given).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`]),
      ]),
    list: (project, what) => inspect(project, [`${what}/list`])[what],
  },
  mcpc: {
    connect: (project) => start(project, `${NPM}/mcpc`, ['connect', `${SETTINGS}:acor`, SESSION]),
    close: (project) => start(project, `${NPM}/mcpc`, ['close', SESSION]),
    call: (project, tool, given) =>
      mcpc(project, [
        'tools-call',
        tool,
        ...Object.entries(given).map(([name, value]) => `${name}:=${value}`),
      ]),
    list: (project, what) => mcpc(project, [`${what}-list`]),
  },
  'the Python SDK': python('mcp'),
  'the Python SDK with a handshake': python('mcp', { mode: 'legacy' }),
  FastMCP: python('fastmcp'),
};

for (const [name, { connect, close, call, list, giveUp, fillIn }] of Object.entries(CLIENTS))
  describe(`${name}, as it is`, { skip }, () => {
    let project: TestProject;
    before(() => {
      project = new TestProject({ tools: ['quick', 'asks', 'asks_user'] });
      project.write('tools/waits/cli.sh', '#!/bin/bash\nuntil [ -e go ]; do sleep 0.05; done\n', 0o755);
      project.write('.acor/prompts/review.md', 'Review the last run.\n');
      project.write('tools/fails/tool.yaml', 'name: fails\nversion: 1.0.0\nentry: cli.sh\n');
      project.write('tools/fails/cli.sh', '#!/bin/bash\necho no line >&2\nexit 3\n', 0o755);
      project.write(
        'tools/strict/tool.yaml',
        'name: strict\nversion: 1.0.0\nentry: cli.sh\ninputs: [{ name: title, required: true }]\n',
      );
      project.write('tools/strict/cli.sh', '#!/bin/bash\nexit 0\n', 0o755);
      project.write(SETTINGS, JSON.stringify({ mcpServers: { acor: { command: ACOR, args: ['mcp'] } } }));
      connect?.(project);
    });
    after(async () => {
      close?.(project);
      await project.supervisorsExited();
      project[Symbol.dispose]();
    });

    it('lists the tools, prompts and resources', () => {
      const names = (what: 'tools' | 'prompts') => list(project, what).map((each) => each.name);
      for (const tool of ['quick', 'asks', 'acor_wait']) assert.ok(names('tools').includes(tool), tool);
      assert.ok(names('prompts').includes('review'));
      assert.ok(list(project, 'resources').some(({ uri }) => uri === 'acor://explain'));
    });

    it('reads results, failures, and refusals before the start', () => {
      const done = call(project, 'quick', {});
      assert.equal(done.structuredContent.state, 'completed');
      const failed = call(project, 'fails', {});
      assert.deepEqual([failed.isError, failed.structuredContent.state], [true, 'failed']);
      for (const [tool, given, code] of [
        ['acor_show', { run: 'r-0000000000000000' }, 'E_RUN_NOT_FOUND'],
        ['acor_run', { tool: 'nothing' }, 'E_TOOL_NOT_FOUND'],
        ['strict', {}, 'E_USAGE'],
      ] as const) {
        const { isError, structuredContent } = call(project, tool, given);
        assert.deepEqual([isError, structuredContent.error.code], [true, code]);
      }
    });

    it('reads a question, answers it, and gets the result', () => {
      const { state, run_id: run, questions } = call(project, 'asks', {}).structuredContent;
      assert.equal(state, 'waiting_ai');
      const { action_id, options } = questions[0];
      call(project, 'acor_answer', { run, action_id, choice: options[0].id });
      assert.equal(call(project, 'acor_wait', { run }).structuredContent.state, 'completed');
    });

    it('loses no run whose call it gives up', { skip: giveUp === undefined && 'has no limit' }, () => {
      assert.match(giveUp!(project, 'waits', 2).exception, /timed out/);
      const [run] = call(project, 'acor_runs', { tool: 'waits' }).structuredContent.data.runs;
      assert.equal(run.state, 'running');
      project.write(`.runs/${run.run_id}/work/go`, '');
      assert.equal(call(project, 'acor_wait', { run: run.run_id }).structuredContent.state, 'completed');
    });

    it('fills in a form, and gets the result of the same call', {
      skip: fillIn === undefined && 'has no forms',
    }, () => {
      const { structuredContent } = fillIn!(project, 'asks_user', FORM);
      assert.equal(structuredContent.state, 'completed', JSON.stringify(structuredContent));
    });
  });
