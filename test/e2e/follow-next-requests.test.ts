import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Acor } from '../../src/library.ts';
import { AcorError } from '../../src/protocol/acor-error.ts';
import { ERROR_CODES } from '../../src/protocol/error-codes.ts';
import { TestServer } from '../support/http-server.ts';
import { loseRun } from '../support/lose-run.ts';
import { nextProject, REFUSALS } from '../support/next-project.ts';
import { type TestProject, until } from '../support/project.ts';

type Input = Readonly<Record<string, unknown>>;

/** What an operation answered: its failure, if any, and the steps that lead on. */
interface Answered {
  code: string | undefined;
  details: Readonly<Record<string, unknown>>;
  data: Readonly<Record<string, unknown>>;
  steps: readonly { operation: string; input: Input }[];
}

type Calls = (operation: string, input: Input) => Promise<Answered>;

/** Operations that wait: they get a limit, because the run that they follow may not end by itself. */
const LIMITED = /^(?:run\.(?:start|resume|retry|wait)|workflow\.(?:run|resume))$/;
/** Only a person at a terminal can take these steps. */
const FOR_PEOPLE = /^(?:tool\.approve|secret\.set|project\.init)$/;

/** Situations, each as the calls that lead to it. `last` is the newest run. */
const SITUATIONS: Readonly<
  Record<string, { code: string; has?: string; calls: readonly (readonly [string, Input])[] }>
> = {
  'a missing argument': { code: 'E_USAGE', calls: [['run.start', { tool: 'reports' }]] },
  'an unknown field': { code: 'E_USAGE', calls: [['run.list', { nope: 1 }]] },
  'an unknown tool': { code: 'E_TOOL_NOT_FOUND', calls: [['run.start', { tool: 'nothing_here' }]] },
  'an unknown run': { code: 'E_RUN_NOT_FOUND', calls: [['run.show', { run: 'r-0000000000000000' }]] },
  'a missing input': {
    code: 'E_INPUT_NOT_FOUND',
    calls: [['run.start', { tool: 'reads', args: ['--file', 'no.txt'] }]],
  },
  'an input outside of the project': {
    code: 'E_PERMISSION',
    calls: [['run.start', { tool: 'reads', args: ['--file', '/etc/passwd'] }]],
  },
  'a missing variable': { code: 'E_ENV_MISSING', calls: [['run.start', { tool: 'needs' }]] },
  'a tool for another version': { code: 'E_INCOMPATIBLE', calls: [['run.start', { tool: 'newer' }]] },
  'a tool that needs approval': {
    code: 'E_APPROVAL_REQUIRED',
    calls: [['run.start', { tool: 'privileged' }]],
  },
  'a missing input of a workflow': {
    code: 'E_USAGE',
    has: 'workflow.graph',
    calls: [['workflow.run', { workflow: 'nightly' }]],
  },
  'a run of a workflow as a tool': {
    code: 'E_TOOL_NOT_FOUND',
    has: 'workflow.graph',
    calls: [['run.start', { tool: 'nightly' }]],
  },
  'a wrong workflow': {
    code: 'E_WORKFLOW_INVALID',
    has: 'workflow.validate',
    calls: [['workflow.run', { workflow: 'wrong' }]],
  },
  'an exit code': { code: 'E_TOOL_FAILED', has: 'run.logs', calls: [['run.start', { tool: 'breaks' }]] },
  'too much output': { code: 'E_OUTPUT_LIMIT', calls: [['run.start', { tool: 'floods' }]] },
  silence: {
    code: 'E_HEARTBEAT_MISSED',
    has: 'run.resume',
    calls: [['run.start', { tool: 'silent', retries: 0 }]],
  },
  'silence that may not be retried': {
    code: 'E_OUTCOME_UNKNOWN',
    has: 'run.resume',
    calls: [['run.start', { tool: 'silent', retries: 1 }]],
  },
  'a deadline': { code: 'E_DEADLINE', calls: [['run.start', { tool: 'waits', timeout: 0.3 }]] },
  'a question': { code: 'E_ACTION_REQUIRED', has: 'run.answer', calls: [['run.start', { tool: 'asks' }]] },
  'a wrong answer': {
    code: 'E_BAD_ANSWER',
    calls: [
      ['run.start', { tool: 'asks' }],
      ['run.answer', { run: 'last', choice: 'perhaps' }],
    ],
  },
  'an answer after the end': {
    code: 'E_BAD_ANSWER',
    calls: [
      ['run.start', { tool: 'ends' }],
      ['run.answer', { run: 'last', choice: 'yes' }],
    ],
  },
  'the resumption of a completed run': {
    code: 'E_USAGE',
    calls: [
      ['run.start', { tool: 'ends' }],
      ['run.resume', { run: 'last' }],
    ],
  },
  'a failed workflow': {
    code: 'E_TOOL_FAILED',
    has: 'workflow.resume',
    calls: [['workflow.run', { workflow: 'fails' }]],
  },
  'a workflow at its deadline': {
    code: 'E_DEADLINE',
    has: 'workflow.resume',
    calls: [['workflow.run', { workflow: 'late' }]],
  },
  'a failed pipe': { code: 'E_TOOL_FAILED', calls: [['workflow.pipe', { stages: ['emits', 'takes'] }]] },
};

/** The same for each surface that programs call: what its answers offer must be accepted by the same surface. */
function followsAll(called: () => { project: TestProject; call: Calls }): void {
  const answer = (operation: string, input: Input) => called().call(operation, input);

  async function follow(from: Answered): Promise<string[]> {
    for (const { operation, input } of from.steps) {
      if (FOR_PEOPLE.test(operation)) continue;
      const isLimited = LIMITED.test(operation) && input['dry_run'] !== true;
      const { code, details } = await answer(operation, { ...input, ...(isLimited && { timeout: 0.5 }) });
      // A run that came to be reports the code of its tool; only an answer without a run is a refusal.
      const isOfRun = details['run_id'] !== undefined && details['state'] !== undefined;
      assert.ok(
        isOfRun || code === undefined || !REFUSALS.includes(code),
        `${operation} ${JSON.stringify(input)} → ${code} ${JSON.stringify(details)}`,
      );
    }
    return from.steps.map(({ operation }) => operation);
  }

  async function followShown(run: unknown): Promise<string[]> {
    return follow(await answer('run.show', { run }));
  }

  for (const code of Object.keys(ERROR_CODES))
    it(`after a tool has reported ${code}`, async () => {
      const ended = await answer('run.start', { tool: 'reports', args: ['--code', code] });
      assert.equal(ended.code, code);
      await follow(ended);
      await followShown(ended.details['run_id']);
    });

  for (const [what, { code, has, calls }] of Object.entries(SITUATIONS))
    it(`after ${what}`, async () => {
      let last: Answered | undefined;
      for (const [operation, input] of calls) last = await answer(operation, input);
      assert.equal(last!.code, code, JSON.stringify(last));
      const operations = await follow(last!);
      if (has !== undefined) assert.ok(operations.includes(has), `${operations} lack ${has}`);
      if (last!.details['run_id'] !== undefined) await followShown(last!.details['run_id']);
    });

  it('after a cancel, and after the supervisor was lost', async () => {
    const { project } = called();
    const atWork = async () => {
      const { data } = await answer('run.start', { tool: 'keeps', detach: true });
      const run = data['run_id'] as string;
      await until(() => existsSync(join(project.runsDir, run, 'work', 'here')));
      return run;
    };
    const cancelled = await atWork();
    await follow(await answer('run.cancel', { run: cancelled }));
    await answer('run.wait', { run: cancelled, until: 'ending' });
    assert.ok((await followShown(cancelled)).includes('run.resume'));
    const lost = await atWork();
    await project.killSupervisor(lost);
    loseRun(project.runsDir, lost);
    assert.ok((await followShown(lost)).includes('run.resume'));
  });
}

describe('every request of next over HTTP is accepted', () => {
  const project = nextProject();
  let server: TestServer;
  before(async () => {
    server = await TestServer.start(project, ['--http-allow', 'writes', '--http-allow', 'destroys']);
  });
  after(async () => {
    await server.stop();
    project[Symbol.dispose]();
  });

  followsAll(() => ({
    project,
    call: async (operation, input) => {
      const { json } = await server.call(operation, input);
      const steps = (json.meta.next ?? []).filter(({ method }: { method?: string }) => method !== undefined);
      return {
        code: json.error?.code,
        details: json.error?.details ?? {},
        data: json.data ?? {},
        steps: steps.map(({ path, body }: { path: string; body: Input }) => ({
          operation: path.replace('/api/v1/', ''),
          input: body,
        })),
      };
    },
  }));
});

describe('every step of next in the library is accepted', () => {
  const project = nextProject();
  after(() => project[Symbol.dispose]());
  const acor = new Acor({ cwd: project.root, env: project.environment() });

  followsAll(() => ({
    project,
    call: async (operation, input) => {
      // Steps are data, so their operation is known only at run time.
      const call = acor.call.bind(acor) as (
        name: string,
        given: Input,
      ) => Promise<{ data: object; meta: Meta }>;
      try {
        const { data, meta } = await call(operation, input);
        return { code: undefined, details: {}, data: { ...data }, steps: operationsOf(meta.next) };
      } catch (error) {
        if (!(error instanceof AcorError)) throw error;
        const { code, details = {}, next } = error;
        return { code, details, data: {}, steps: operationsOf(next) };
      }
    },
  }));
});

interface Meta {
  next?: AcorError['next'];
}

function operationsOf(next: AcorError['next'] = []): Answered['steps'] {
  return next.flatMap((step) =>
    'operation' in step ? [{ operation: step.operation, input: step.input ?? {} }] : [],
  );
}
