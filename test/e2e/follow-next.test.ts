import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ERROR_CODES } from '../../src/protocol/error-codes.ts';
import { splitCommand } from '../../src/util/shell-words.ts';
import { reachedInTime } from '../support/in-time.ts';
import { loseRun } from '../support/lose-run.ts';
import { nextProject, REFUSALS } from '../support/next-project.ts';
import { ACOR, type Envelope, TestProject, until } from '../support/project.ts';

/** Only a person can take these steps, or knows what belongs into them. */
const FOR_PEOPLE = /^acor (?:approve |secret set |init )/;

/** Their answers hold the record of a run: its own command line and the commands of its log. */
const OWN_RECORDS = ['acor_show', 'acor_logs', 'acor_runs', 'acor_health', 'acor_diff'];

/**
 * An answer over MCP names calls and parameters, no command lines, but for what only a person at a terminal can do. An input of a manifest is a
 * flag of its tool on every surface.
 */
function assertNoShell(answer: string): void {
  const text = answer.replaceAll(/at a terminal: `?acor [^"`]*/gi, '');
  assert.doesNotMatch(text, /\bacor [a-z]|(?<![\w-])--(?!name\b)[a-z]/, text);
}

/** Follows each command of `next`, until one is refused. */
async function follow(project: TestProject, answer: Envelope): Promise<string[]> {
  const next: string[] = answer.meta.next ?? [];
  for (const command of next) {
    if (FOR_PEOPLE.test(command)) continue;
    const [program, ...args] = splitCommand(command)!;
    if (program !== 'acor') {
      const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: project.root });
      assert.equal(status, 0, `${command}: ${stderr}`);
      continue;
    }
    const more = /^(?:resume|workflow|run)$/.test(args[0]!) ? timeLimit(args) : [];
    const { stdout, stderr } = await project.acor([...args, ...more]);
    const last = stdout.trimEnd().split('\n').at(-1) ?? '';
    const end = last.startsWith('{') ? JSON.parse(last) : { ok: true };
    const code = end.ok === false ? end.error.code : null;
    // A run that came to be reports the code of its tool; only an answer without a run is a refusal.
    const isOfRun = end.error?.details?.run_id !== undefined && end.error.details.state !== undefined;
    assert.ok(isOfRun || !REFUSALS.includes(code), `${command} → ${last}${stderr}`);
  }
  return next;
}

function timeLimit(args: readonly string[]): string[] {
  const startsRun = args[0] === 'resume' || args[1] === 'resume' || args[0] === 'run';
  return startsRun && !args.includes('--dry-run') ? ['--timeout', '2', '--no-stream'] : [];
}

describe('every command of next is accepted', () => {
  let project: TestProject;
  before(() => {
    project = nextProject();
  });
  after(() => project[Symbol.dispose]());

  const envelope = (...args: string[]) => project.envelope(args);
  const lastRun = () => project.runIds().at(-1)!;

  /** Starts a run in the background, and waits until its tool is at work. */
  async function atWork(...args: string[]): Promise<string> {
    const before = project.runIds();
    const { data } = await envelope(...args, '--detach');
    await until(() =>
      project
        .runIds()
        .some((id) => !before.includes(id) && existsSync(join(project.runsDir, id, 'work', 'here'))),
    );
    return data.run_id;
  }

  async function lost(...args: string[]): Promise<string> {
    const runId = await atWork(...args);
    await project.killSupervisor(runId);
    loseRun(project.runsDir, runId);
    return runId;
  }

  for (const code of Object.keys(ERROR_CODES))
    it(`after a tool has reported ${code}`, async () => {
      const answer = await envelope('run', 'reports', '--code', code, '--no-stream');
      assert.equal(answer.error.code, code);
      await follow(project, answer);
      await follow(project, await envelope('show', answer.error.details.run_id));
    });

  const cases: Readonly<
    Record<string, { code: string; has?: RegExp; hasNot?: RegExp; answer(): Promise<Envelope> }>
  > = {
    'a missing argument': { code: 'E_USAGE', answer: () => envelope('run', 'reports') },
    'an unknown flag': { code: 'E_USAGE', answer: () => envelope('runs', '--nope') },
    'an unknown command': { code: 'E_USAGE', has: /^acor explain$/m, answer: () => envelope('frobnicate') },
    'no command at all': { code: 'E_USAGE', has: /^acor explain$/m, answer: () => envelope() },
    'a command that is a tool': { code: 'E_USAGE', has: /^acor run ends/m, answer: () => envelope('ends') },
    'an unknown tool': { code: 'E_TOOL_NOT_FOUND', answer: () => envelope('run', 'nothing_here') },
    'an unknown run': { code: 'E_RUN_NOT_FOUND', answer: () => envelope('show', 'r-0000000000000000') },
    'a missing input': {
      code: 'E_INPUT_NOT_FOUND',
      answer: () => envelope('run', 'reads', '--file', 'no.txt'),
    },
    'an input outside of the project': {
      code: 'E_PERMISSION',
      answer: () => envelope('run', 'reads', '--file', '/etc/passwd'),
    },
    'a missing variable': { code: 'E_ENV_MISSING', answer: () => envelope('run', 'needs') },
    'a tool for another version': { code: 'E_INCOMPATIBLE', answer: () => envelope('run', 'newer') },
    'a tool that needs approval': {
      code: 'E_APPROVAL_REQUIRED',
      answer: () => envelope('run', 'privileged'),
    },
    'a refused approval': {
      code: 'E_APPROVAL_REQUIRED',
      has: /^acor describe privileged$/m,
      hasNot: /acor approve/,
      answer: () => envelope('approve', 'privileged'),
    },
    'a missing input of a workflow': {
      code: 'E_USAGE',
      has: /^acor workflow graph nightly$/m,
      answer: () => envelope('workflow', 'run', 'nightly'),
    },
    'a run of a workflow as a tool': {
      code: 'E_TOOL_NOT_FOUND',
      has: /^acor workflow graph nightly$/m,
      answer: async () => {
        const answer = await envelope('run', 'nightly', '--date', 'today');
        assert.match(answer.error.hint, /'nightly' is a workflow/);
        return answer;
      },
    },
    'a run of a workflow as a tool, without its inputs': {
      code: 'E_TOOL_NOT_FOUND',
      has: /^acor workflow graph nightly$/m,
      hasNot: /workflow run/,
      answer: async () => {
        const answer = await envelope('run', 'nightly');
        assert.match(answer.error.hint, /'date' is required.* Usage: workflow run nightly --date /);
        return answer;
      },
    },
    'a wrong workflow': {
      code: 'E_WORKFLOW_INVALID',
      has: /validate/,
      answer: () => envelope('workflow', 'run', 'wrong'),
    },
    'an exit code': { code: 'E_TOOL_FAILED', answer: () => envelope('run', 'breaks', '--no-stream') },
    'too much output': { code: 'E_OUTPUT_LIMIT', answer: () => envelope('run', 'floods', '--no-stream') },
    silence: {
      code: 'E_HEARTBEAT_MISSED',
      has: /--force/,
      answer: () => envelope('run', 'silent', '--retries', '0', '--no-stream'),
    },
    'silence of a tool that may be repeated': {
      code: 'E_HEARTBEAT_MISSED',
      hasNot: /--force/,
      answer: () => envelope('run', 'silent_safe', '--retries', '0', '--no-stream'),
    },
    'silence that may not be retried': {
      code: 'E_OUTCOME_UNKNOWN',
      has: /^acor logs .*\nacor resume r-\S+ --force/,
      answer: () => envelope('run', 'silent', '--retries', '1', '--no-stream'),
    },
    'a deadline': {
      code: 'E_DEADLINE',
      answer: () => envelope('run', 'waits', '--timeout', '0.3', '--no-stream'),
    },
    'a question': { code: 'E_ACTION_REQUIRED', answer: () => envelope('run', 'asks', '--no-stream') },
    'a wrong answer': {
      code: 'E_BAD_ANSWER',
      answer: async () => {
        await envelope('run', 'asks', '--no-stream');
        return envelope('answer', lastRun(), '--choice', 'perhaps');
      },
    },
    'an answer after the end': {
      code: 'E_BAD_ANSWER',
      answer: async () => {
        await project.acor(['run', 'ends', '--no-stream']);
        return envelope('answer', lastRun(), '--choice', 'yes');
      },
    },
    'an answer to a run that has lost its supervisor while it asks': {
      code: 'E_RUNNER_LOST',
      has: /^acor resume r-\S+ --force$/m,
      answer: async () => {
        const { data } = await envelope('run', 'asks', '--detach');
        await until(() => project.record(data.run_id)?.state === 'waiting_ai');
        await project.killSupervisor(data.run_id);
        loseRun(project.runsDir, data.run_id);
        return envelope('answer', data.run_id, '--choice', 'yes');
      },
    },
    'a name that is too long for a file': {
      code: 'E_TOOL_NOT_FOUND',
      answer: () => envelope('run', 'a'.repeat(256)),
    },
    'a path with a name that is too long': {
      code: 'E_TOOL_NOT_FOUND',
      answer: () => envelope('run', `./${'a'.repeat(256)}`),
    },
    'a path that leads through a file': {
      code: 'E_TOOL_NOT_FOUND',
      answer: () => envelope('run', './tools/ends/tool.yaml/x'),
    },
    'a path of a program with a name that is too long': {
      code: 'E_TOOL_NOT_FOUND',
      answer: () => envelope('exec', `./${'a'.repeat(256)}`),
    },
    'a path to adopt with a name that is too long': {
      code: 'E_RUNTIME_MISSING',
      answer: () => envelope('adopt', `./${'a'.repeat(256)}`),
    },
    'the resumption of a completed run': {
      code: 'E_USAGE',
      hasNot: /resume|retry/,
      answer: async () => {
        await project.acor(['run', 'ends', '--no-stream']);
        return envelope('resume', lastRun());
      },
    },
    'a failed workflow': {
      code: 'E_TOOL_FAILED',
      has: /workflow resume/,
      answer: () => envelope('workflow', 'run', 'fails', '--no-stream'),
    },
    'a workflow at its deadline': {
      code: 'E_DEADLINE',
      has: /workflow resume/,
      answer: () => envelope('workflow', 'run', 'late', '--no-stream'),
    },
    'a failed pipe': {
      code: 'E_TOOL_FAILED',
      answer: () => envelope('pipe', 'emits', 'takes', '--no-stream'),
    },
    'a failed stage of a pipe': {
      code: 'E_USAGE',
      answer: async () => {
        await project.acor(['pipe', 'emits', 'takes', '--no-stream']);
        return envelope('resume', lastRun());
      },
    },
  };

  for (const [what, { code, has, hasNot, answer }] of Object.entries(cases))
    it(`after ${what}`, async () => {
      const given = await answer();
      assert.equal(given.error?.code, code, JSON.stringify(given));
      const next = (await follow(project, given)).join('\n');
      if (has !== undefined) assert.match(next, has);
      if (hasNot !== undefined) assert.doesNotMatch(next, hasNot);
      const runId = given.error.details?.run_id;
      if (runId !== undefined) await follow(project, await envelope('show', runId));
    });

  for (const [tool, step] of [
    ['waits', undefined],
    ['keeps', /^acor resume r-\S+ --force$/m],
  ] as const)
    it(`after a cancel of '${tool}'`, async () => {
      const runId = await atWork('run', tool);
      await follow(project, await envelope('cancel', runId));
      await envelope('wait', runId);
      const shown = await envelope('show', runId);
      assert.equal(shown.data.state, 'cancelled');
      if (step === undefined) assert.doesNotMatch(shown.meta.next.join('\n'), /resume/);
      else assert.match(shown.meta.next.join('\n'), step);
      await follow(project, shown);
    });

  for (const [tool, step] of [
    ['waits', /^acor resume r-\S+$/m],
    ['keeps', /^acor resume r-\S+ --force$/m],
  ] as const)
    for (const recovers of [false, true])
      it(`after the supervisor of '${tool}' was lost${recovers ? ' and another process has recovered it' : ''}`, async () => {
        const runId = await lost('run', tool);
        if (recovers) await envelope('health', '--fix');
        const shown = await envelope('show', runId);
        assert.equal(shown.data.code, 'E_RUNNER_LOST');
        assert.match(shown.meta.next.join('\n'), step);
        assert.equal(/--force/.test(shown.data.hint ?? ''), tool === 'keeps', shown.data.hint);
        await follow(project, shown);
      });

  it('after a question without an answer', async () => {
    const { data } = await envelope('run', 'asks_briefly', '--detach');
    await until(() => project.record(data.run_id)?.state === 'failed');
    const shown = await envelope('show', data.run_id);
    assert.equal(shown.data.code, 'E_ACTION_TIMEOUT');
    await follow(project, shown);
  });

  it('after the cancel of a workflow, and of one that was lost', async () => {
    const runId = await atWork('workflow', 'run', 'waits');
    await envelope('cancel', runId);
    await envelope('wait', runId);
    const shown = await envelope('show', runId);
    assert.match(shown.meta.next.join('\n'), /^acor workflow resume r-\S+$/m);
    await follow(project, shown);
    const gone = await lost('workflow', 'run', 'waits');
    await follow(project, await envelope('show', gone));
    const again = await lost('workflow', 'run', 'waits');
    await follow(project, await envelope('cancel', again));
    await follow(project, await envelope('show', again));
  });

  it('after a step was ended at the deadline of its workflow, which is what its code says', async () => {
    const done = await reachedInTime(async (limitS) => {
      const late = ['workflow', 'run', 'late', '--timeout', String(limitS), '--no-stream'];
      const { error } = await envelope(...late);
      assert.equal(error.code, 'E_DEADLINE');
      return project.events(error.details.run_id).find(({ type }) => type === 'task_done');
    });
    assert.deepEqual([done['status'], done['code']], ['cancelled', 'E_DEADLINE']);
  });

  it('after a manifest, and then the configuration, is broken', async () => {
    using other = nextProject();
    appendFileSync(other.path('tools/ends/tool.yaml'), '\nbogus: 1\n');
    const manifest = await other.envelope(['run', 'ends']);
    assert.equal(manifest.error.code, 'E_MANIFEST_INVALID');
    assert.match((await follow(other, manifest)).join(), /validate/);
    appendFileSync(other.path('.acor/config.yaml'), 'bogus: 1\n');
    const config = await other.envelope(['list']);
    assert.equal(config.error.code, 'E_CONFIG_INVALID');
    const [command] = config.meta.next;
    assert.equal(command, 'acor validate');
    assert.equal((await other.envelope(['validate'])).error.details.findings.length > 0, true);
  });

  it('but global flags are accepted behind the name of a workflow', async () => {
    const call = ['workflow', 'run', 'nightly', '--date', 'today', '--dry-run'];
    const text = await project.acor([...call, '--format', 'text']);
    assert.deepEqual([text.code, text.stdout.startsWith('{')], [0, false], text.stdout + text.stderr);
    const elsewhere = ['--json', '--cwd', project.root];
    const { stdout } = await project.acor([...call, ...elsewhere], { cwd: '/' });
    assert.deepEqual(JSON.parse(stdout).data?.inputs, { date: 'today' }, stdout);
  });

  it('after a trust was refused, and does not name it again', async () => {
    using other = new TestProject({ config: 'version: 1\nsecurity: { isolation: off }\n', isTrusted: false });
    const refused = await other.envelope(['trust']);
    assert.equal(refused.error?.code, 'E_APPROVAL_REQUIRED', JSON.stringify(refused));
    assert.deepEqual(await follow(other, refused), ['acor trust --list']);
  });

  it('after a run has lost its record', async () => {
    await project.acor(['run', 'ends', '--no-stream']);
    const runId = lastRun();
    rmSync(join(project.runsDir, runId, 'metadata.json'));
    const answer = await envelope('show', runId);
    assert.equal(answer.ok, false);
    await follow(project, answer);
    assert.ok(!(answer.meta.next ?? []).includes(`acor show ${runId}`), JSON.stringify(answer));
    rmSync(join(project.runsDir, runId), { recursive: true });
  });

  it('after a line of a log was damaged', async () => {
    await project.acor(['run', 'ends', '--no-stream']);
    const runId = lastRun();
    const path = join(project.runsDir, runId, 'events.jsonl');
    const kept = readFileSync(path, 'utf8');
    writeFileSync(path, kept.replace(/^\{.*"type":"result".*$/m, '{"type":"result", no JSON'));
    for (const args of [
      ['logs', runId],
      ['show', runId],
    ]) {
      const answer = await envelope(...args);
      assert.equal(answer.error?.code, 'E_INTEGRITY', JSON.stringify(answer));
      assert.match(answer.error.message, /damaged/);
      await follow(project, answer);
    }
    const verified = await envelope('verify', runId);
    assert.deepEqual([verified.code, verified.error.code, verified.meta.next], [1, 'E_INTEGRITY', undefined]);
    writeFileSync(path, kept);
  });

  it('from the fixes of health', async () => {
    const { data } = await envelope('health');
    for (const { name, fix } of data.checks)
      if (typeof fix === 'string' && fix.startsWith('acor '))
        assert.notEqual(fix, 'acor health', `the fix of ${name}`);
  });
});

describe('every call of next over MCP is accepted', () => {
  let project: TestProject;
  let client: Client;
  before(async () => {
    project = nextProject();
    client = new Client({ name: 'tester', version: '1.0.0' }, {});
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: project.root,
      XDG_DATA_HOME: join(project.root, 'data'),
    };
    await client.connect(
      new StdioClientTransport({ command: ACOR, args: ['mcp'], cwd: project.root, env, stderr: 'ignore' }),
    );
  });
  after(async () => {
    await client.close();
    project[Symbol.dispose]();
  });

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the result holds
  async function call(name: string, given: object): Promise<any> {
    const { structuredContent, isError, content } = await client.callTool({ name, arguments: { ...given } });
    if (!OWN_RECORDS.includes(name))
      assertNoShell(`${JSON.stringify(structuredContent)}\n${JSON.stringify(content)}`);
    return { ...(structuredContent as object), isError };
  }

  async function followCalls(from: string, given: object): Promise<{ code: string | undefined }> {
    const { tools } = await client.listTools();
    const answer = await call(from, given);
    for (const { tool, arguments: input } of answer.next ?? []) {
      if (tool === undefined) continue;
      const listed = tools.find(({ name }) => name === tool);
      assert.ok(listed !== undefined, `${tool} is not offered`);
      const limited = tool === 'acor_resume' || tool === 'acor_wait' ? { ...input, timeout: 2 } : input;
      const { isError, error, run_id } = await call(tool, limited);
      assert.ok(
        !isError || run_id !== undefined || !REFUSALS.includes(error.code),
        `${tool} ${JSON.stringify(input)} → ${JSON.stringify(error)}`,
      );
    }
    return { code: answer.error?.code };
  }

  for (const code of Object.keys(ERROR_CODES))
    it(`after a tool has reported ${code}`, async () => {
      assert.equal((await followCalls('reports', { code })).code, code);
    });

  for (const [tool, given, code] of [
    ['reports', {}, 'E_USAGE'],
    ['breaks', {}, 'E_TOOL_FAILED'],
    ['silent', {}, 'E_HEARTBEAT_MISSED'],
    ['reads', { file: 'no.txt' }, 'E_INPUT_NOT_FOUND'],
    ['reads', { file: '/etc/passwd' }, 'E_PERMISSION'],
    ['needs', {}, 'E_ENV_MISSING'],
    ['privileged', {}, 'E_APPROVAL_REQUIRED'],
    ['asks', {}, undefined],
    ['acor_show', { run: 'r-0000000000000000' }, 'E_RUN_NOT_FOUND'],
    ['acor_run', { tool: 'nothing_here' }, 'E_TOOL_NOT_FOUND'],
    ['acor_runs', { nope: 1 }, 'E_USAGE'],
  ] as const)
    it(`after ${tool} ${JSON.stringify(given)}`, async () => {
      assert.equal((await followCalls(tool, given)).code, code);
    });

  for (const topic of [
    undefined,
    'decisions',
    'errors',
    'manifests',
    'practices',
    'protocol',
    'runs',
    'security',
    'tools',
    'tool:reports',
  ])
    it(`in the explanation of ${topic ?? 'the project'}`, async () => {
      const { data } = await call('acor_explain', { topic, include_examples: undefined });
      assert.ok(data.sections.length > 0);
      assert.doesNotMatch(JSON.stringify(data), /stdout is one line|Exit code/);
    });

  for (const [tool, given] of [
    ['acor_search', { query: 'x' }],
    ['acor_describe', {}],
    ['acor_describe', { tool: 'reports' }],
    ['acor_runs', { state: 'bogus' }],
    ['acor_run', { tool: 'reports', arguments: { cod: 1 } }],
    ['acor_run', { tool: 'nightly' }],
    ['acor_run', { tool: 'waits', timeout: 0.3 }],
    ['acor_answer', { run: 'r-0000000000000000', choice: 'x' }],
    ['acor_resume', { run: 'r-0000000000000000' }],
    ['acor_explain', { topic: 'nothing' }],
  ] as const)
    it(`in the answer of ${tool} to ${JSON.stringify(given)}`, async () => {
      await call(tool, given);
    });

  it('and speaks of the inputs of a tool, not of flags', async () => {
    const { error } = await call('reports', {});
    assert.doesNotMatch(JSON.stringify(error), /--code/);
  });
});
