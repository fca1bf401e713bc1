import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { LaunchRequest } from '../../src/core/ports/run-launcher.ts';
import type { RunRequest } from '../../src/core/run/run-request.ts';
import { startRun } from '../../src/core/run/start-run.ts';
import { launchRequestOf } from '../../src/core/workflow/launch-request.ts';
import { prepareOrchestration } from '../../src/core/workflow/prepare-orchestration.ts';
import { inlineLauncher, servicesInMemory } from '../support/services-in-memory.ts';
import { WorkflowProject } from '../support/workflow-project.ts';

type Call = Pick<RunRequest, 'kind' | 'tool' | 'args'>;

const CONFIG = `version: 1
security: { isolation: 'off' }
environment: { timeout_s: '\${TIMEOUT_OF_TEST:-60}', base_allowlist: [PATH, HOME, LISTED_BY_CONFIG] }
`;

const ASKED_BY_TOOL = { NEEDED_BY_TEST: 'needed', ALLOWED_BY_TEST: 'allowed' };
const ASKED_BY_PROJECT = {
  TIMEOUT_OF_TEST: '50',
  LISTED_BY_CONFIG: 'listed',
  ACOR_ENVIRONMENT_CANCEL_GRACE_S: '0.3',
};
const ASKED_BY_SUPERVISOR = {
  XDG_DATA_HOME: '/nonexistent/data',
  TRACEPARENT: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01',
};
const UNASKED = { AWS_SECRET_ACCESS_KEY: 'canary', ACOR_MCP_TOKEN: 'canary', ALLOWED: 'canary' };

describe('the environment in a launch request', () => {
  let project: WorkflowProject;
  let services: Awaited<ReturnType<typeof servicesInMemory>>;
  let flow: string;
  before(async () => {
    project = new WorkflowProject(['needs_env', 'quick']);
    project.write('.acor/config.yaml', CONFIG);
    project.write(
      'tools/needs_env/tool.yaml',
      'name: needs_env\nversion: 1.0.0\ndescription: Needs variables.\nenv: { require: [NEEDED_BY_TEST], allow: [ALLOWED_BY_TEST] }\n',
    );
    const inner = { version: 1, name: 'inner', steps: [{ name: 'one', tool: 'needs_env' }] };
    const outer = {
      version: 1,
      name: 'outer',
      steps: [
        { name: 'plain', tool: 'quick' },
        { name: 'sub', workflow: project.workflow(inner, 'inner.json') },
      ],
    };
    flow = project.workflow(outer, 'outer.json');
    services = await servicesInMemory(project);
  });
  after(() => project[Symbol.dispose]());

  const request = (call: Call): RunRequest => ({
    ...call,
    cwd: project.root,
    env: {
      PATH: process.env['PATH'],
      ...ASKED_BY_TOOL,
      ...ASKED_BY_PROJECT,
      ...ASKED_BY_SUPERVISOR,
      ...UNASKED,
    },
  });
  const tool: Call = { kind: 'tool', tool: 'needs_env', args: [] };
  const WITHOUT_TOOL = { PATH: process.env['PATH'], ...ASKED_BY_PROJECT, ...ASKED_BY_SUPERVISOR };

  it('has the variables that the tool, the project and the supervisor ask for, and no other', async () => {
    const { env } = await launchRequestOf(services, request(tool));
    assert.deepEqual(env, { ...WITHOUT_TOOL, ...ASKED_BY_TOOL });
    const other = await launchRequestOf(services, request({ ...tool, tool: 'quick' }));
    assert.deepEqual(other.env, WITHOUT_TOOL);
  });

  it('has those of every tool that a pipe or a workflow runs', async () => {
    const calls: Call[] = [
      { kind: 'pipe', tool: 'pipe:quick|needs_env', args: ['quick', 'needs_env'] },
      { kind: 'workflow', tool: `workflow:${flow}`, args: [] },
    ];
    for (const call of calls) {
      const { env } = await launchRequestOf(services, request(call));
      assert.deepEqual(env, { ...WITHOUT_TOOL, ...ASKED_BY_TOOL }, call.kind);
    }
  });

  it('of a child has nothing that its workflow did not ask for', async () => {
    const launched: LaunchRequest[] = [];
    const inline = inlineLauncher(services);
    const launcher = {
      ...inline,
      start(child: LaunchRequest) {
        launched.push(child);
        return inline.start(child);
      },
    };
    const recording = {
      ...services,
      prepareOrchestration: (own: typeof services, asked: RunRequest) =>
        prepareOrchestration(own, asked, launcher),
    } as typeof services;
    const run = await startRun(
      recording,
      request({ kind: 'workflow', tool: `workflow:${project.path('inner.json')}`, args: [] }),
    );
    assert.equal((await run.ended).state, 'completed');
    assert.equal(launched.length, 1);
    const { TRACEPARENT, TRACESTATE, ...env } = launched[0]!.env;
    assert.match(TRACEPARENT!, /^00-0123456789abcdef0123456789abcdef-/);
    // Empty, so that the one of the caller is not inherited.
    assert.equal(TRACESTATE, '');
    const { TRACEPARENT: _, ...rest } = WITHOUT_TOOL;
    assert.deepEqual(env, { ...rest, ...ASKED_BY_TOOL });
  });
});
