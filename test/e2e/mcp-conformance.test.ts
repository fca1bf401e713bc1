import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { changeProject, conformanceProject } from '../support/conformance-project.ts';
import { startHttp, startProxy } from '../support/mcp-server.ts';
import { ROOT, type Running, type TestProject } from '../support/project.ts';
import { assertWrittenInDocs } from '../support/written-docs.ts';

const PACKAGE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance');
const SUITE = join(PACKAGE, 'dist/index.js');
/** The suite gives some answers only half a second, so a scenario that failed is run again alone. */
const TRIES = 20;

const NO_STREAM_RESUME = 'a lost stream is not resumed: acor_wait picks the run up';
const NO_HEADERS = 'the inputs of command-line tools are in no headers';

/** What does not pass among what the suite does not score: by scenario and check, what the suite says, and why. */
const UNSCORED: Readonly<Record<string, Readonly<Record<string, { says: string; why: string }>>>> = {
  '2026-07-28': {
    'http-custom-header-server-validation sep-2243-server-no-xmcp-tool': {
      says: 'server exposes no tool with x-mcp-header annotations',
      why: NO_HEADERS,
    },
    'http-custom-header-server-validation sep-2243-server-decode-base64': {
      says: 'server exposes no tool with x-mcp-header annotations',
      why: NO_HEADERS,
    },
    'http-custom-header-server-validation sep-2243-server-validate-param-match': {
      says: 'server exposes no tool with x-mcp-header annotations',
      why: NO_HEADERS,
    },
    'http-custom-header-server-validation sep-2243-server-reject-invalid-param-chars': {
      says: 'server exposes no tool with x-mcp-header annotations',
      why: NO_HEADERS,
    },
    'http-custom-header-server-validation sep-2243-server-reject-param-mismatch': {
      says: 'server exposes no tool with x-mcp-header annotations',
      why: NO_HEADERS,
    },
    'tasks-lifecycle sep-2663-tasks-get-status-failed': {
      says: 'protocol error MUST surface as failed (not "completed")',
      why: 'a run that fails is a result with `isError`: its code and its next calls must reach the model',
    },
    'tasks-mrtr-composition sep-2663-mrtr-synchronous-before-task-creation': {
      says: 'round 1 MUST be InputRequiredResult',
      why: 'a client that takes tasks finds the question in its task',
    },
    'tasks-request-headers tasks-headers-tolerate-mcp-method-on-tools-call': {
      says: 'tool result content MUST be unaffected by the Mcp-Method header',
      why: 'the suite wants the words of the tool alone as text; the text of a result also has the id of the run',
    },
    'tasks-required-task-error sep-2663-server-returns-missing-capability-when-required': {
      says: 'tools/call for failing_job returned a successful response',
      why: 'no tool needs a task: every client can wait for its run',
    },
  },
  '2025-11-25': {
    'server-sse-polling server-sse-priming-event': {
      says: 'Server did not send priming event',
      why: NO_STREAM_RESUME,
    },
    'server-sse-polling server-sse-retry-field': {
      says: 'Server did not send retry field',
      why: NO_STREAM_RESUME,
    },
  },
};

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

/** The checks of each scenario. */
type Results = Map<string, Check[]>;

describe('the conformance suite of MCP, against acor mcp --http', () => {
  let project: TestProject;
  let running: Running;
  let proxy: { url: string; server: Server };
  before(async () => {
    project = conformanceProject();
    const served = await startHttp(project, ['--max-tools', '100']);
    running = served.running;
    proxy = await startProxy(served.port, (body) => {
      const called = /"name":"(test_trigger_\w+)"/.exec(body)?.[1];
      if (called !== undefined) changeProject(project, called);
    });
  });
  after(async () => {
    running.child.kill();
    await running.finished;
    proxy.server.closeAllConnections();
    proxy.server.close();
    project[Symbol.dispose]();
  });

  it('passes all that it scores, for both revisions, and the score is in docs/mcp.md', async () => {
    const rows: string[] = [];
    for (const [revision, expected] of Object.entries(UNSCORED)) {
      const results = await resultsOf(revision, expected);
      const bad = [...results].flatMap(([scenario, checks]) => badIn(scenario, checks));
      assert.deepEqual(
        [...new Set(bad.map(({ key }) => key))].sort(),
        Object.keys(expected).sort(),
        revision,
      );
      for (const { key, says } of bad) assert.match(says, new RegExp(escaped(expected[key]!.says)));
      const scored = scoredBy(revision);
      const passed = scored.filter((scenario) => results.has(scenario) && hasPassed(results.get(scenario)!));
      assert.deepEqual(passed, scored);
      const others = [...results.keys()].filter((scenario) => !scored.includes(scenario));
      const open = others.filter((scenario) => !hasPassed(results.get(scenario)!)).length;
      rows.push(
        row(revision, `${passed.length} of ${scored.length}`, `${others.length - open} of ${others.length}`),
      );
    }
    const table = [HEADING, ...rows, '', REASONS, ...reasons()].join('\n');
    assertWrittenInDocs('mcp.md', { name: 'score', by: 'test/e2e/mcp-conformance.test.ts' }, table);
  });

  /** All that a revision requires, and what it does not score. What fails unexpectedly is run again. */
  async function resultsOf(revision: string, expected: object): Promise<Results> {
    const results = await run(revision, ['--requirements', revision]);
    assert.ok(results.size > 30, `${results.size} scenarios were run`);
    for (let tries = 1; tries < TRIES; tries++) {
      const failed = [...results].filter(([scenario, checks]) =>
        badIn(scenario, checks).some(({ key }) => !(key in expected)),
      );
      for (const [scenario] of failed)
        for (const [name, checks] of await run(revision, [
          '--spec-version',
          revision,
          '--scenario',
          scenario,
        ]))
          results.set(name, checks);
    }
    return results;
  }

  async function run(revision: string, flags: readonly string[]): Promise<Results> {
    const out = project.path('suite', revision);
    rmSync(out, { recursive: true, force: true });
    const args = [SUITE, 'server', '--url', proxy.url, ...flags, '-o', out];
    const suite = spawn(join(ROOT, 'node_modules/.bin/node'), args, { cwd: project.root, stdio: 'ignore' });
    await new Promise((resolve) => suite.once('close', resolve));
    return new Map(
      globSync('*/checks.json', { cwd: out }).map((file) => [
        basename(dirname(file)).replace(/^server-(?=.*-\d{4}-\d\d-\d\dT)|-\d{4}-\d\d-\d\dT.*$/g, ''),
        JSON.parse(readFileSync(join(out, file), 'utf8')),
      ]),
    );
  }
});

/** The failed checks of a scenario, and what the suite says of each. */
function badIn(scenario: string, checks: readonly Check[]): { key: string; says: string }[] {
  return checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, errorMessage = '' }) => ({ key: `${scenario} ${id}`, says: errorMessage }));
}

/** As the suite scores it: a warning is no failure. */
function hasPassed(checks: readonly Check[]): boolean {
  return checks.every(({ status }) => status !== 'FAILURE');
}

function scoredBy(revision: string): string[] {
  return parse(readFileSync(join(PACKAGE, 'requirements', `${revision}.yaml`), 'utf8')).server;
}

const HEADING = '| revision | scored scenarios that pass | others that pass |\n|---|---|---|';
const REASONS =
  'What does not pass among the others, in the words of the suite:\n\n| scenario | the suite says | why |\n|---|---|---|';

function row(...cells: string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function reasons(): string[] {
  const all = Object.values(UNSCORED).flatMap((expected) =>
    Object.entries(expected).map(([key, { says, why }]) => row(`\`${key.split(' ')[0]}\``, says, why)),
  );
  return [...new Set(all)];
}

function escaped(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}
