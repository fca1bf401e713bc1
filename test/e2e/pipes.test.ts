import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Event, processesOf, readRun, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';

const PLAIN = 'version: 1.0.0\nadapter: plain\n';
const READER = `${PLAIN}stdin: records\n`;

/** Counts from 1, one number a line, for ever or to `n`. */
const COUNTER = {
  'tool.yaml': `${PLAIN}command: [seq]\ninputs: [{ name: n, type: string, positional: true }]\n`,
};
/** Reads all records; reports how many there were, and their sum. */
const SUMS = {
  'tool.yaml': 'version: 1.0.0\nentry: cli.py\nstdin: records\n',
  'cli.py': `
import json, sys, acor
records = [json.loads(line) for line in sys.stdin]
acor.emit_result(data={"count": len(records), "sum": sum(int(r["line"]) for r in records)})
`,
};

describe('a pipe', () => {
  it('passes the records of each tool to the next one, in every language and adapter', async () => {
    using project = projectWith({
      lists: {
        'tool.yaml': 'entry: cli.py\nversion: 1.0.0\n',
        'cli.py': 'import acor\nacor.emit_result(data=[{"n": 3}, {"n": 1}, {"n": 2}])\n',
      },
      sorts: { 'tool.yaml': `${READER}command: [sort]\n` },
      filters: { 'tool.yaml': `${READER}command: [grep, -v, '2']\nresources: { processes: 64 }\n` },
      in_bash: {
        'tool.yaml': 'entry: cli.sh\nversion: 1.0.0\nstdin: records\n',
        'cli.sh':
          'source "$ACOR_LIB/acor.sh"\nwhile read -r record; do emit_record n:="$(json_get n <<<"$record")" by=bash; done\nemit_result\n',
      },
      in_typescript: {
        'tool.yaml': 'entry: cli.ts\nversion: 1.0.0\nstdin: records\n',
        'cli.ts':
          "import { createInterface } from 'node:readline';\nimport { emitRecord, emitResult } from 'acor/tool';\nfor await (const line of createInterface({ input: process.stdin })) emitRecord({ ...JSON.parse(line), also: 'typescript' });\nemitResult();\n",
      },
      ends: { 'tool.yaml': `${READER}command: [cat]\n` },
    });
    const { code, data, error } = await project.envelope([
      'pipe',
      '--no-stream',
      'lists',
      'sorts',
      'filters',
      'in_bash',
      'in_typescript',
      'ends',
    ]);
    assert.equal(code, 0, JSON.stringify(error));
    assert.equal(
      data.result.data.output,
      '{"n":1,"by":"bash","also":"typescript"}\n{"n":3,"by":"bash","also":"typescript"}',
    );
    for (const { run_id } of data.result.stages) assert.equal(project.record(run_id)?.state, 'completed');
    assert.equal((await project.envelope(['verify'])).code, 0);
    // Nothing reads the records of the last tool: they are the answer.
    const { data: short } = await project.envelope(['pipe', '--no-stream', 'lists', 'in_bash']);
    assert.deepEqual(short.result.records, [
      { n: 3, by: 'bash' },
      { n: 1, by: 'bash' },
      { n: 2, by: 'bash' },
    ]);
  });

  it('passes each line of a plain program, also an empty one', async () => {
    using project = projectWith({
      prints: { 'tool.yaml': `${PLAIN}command: [printf, 'a\\n\\nb\\n\\n']\ninputs: []\n` },
      ends: { 'tool.yaml': `${READER}command: [cat]\noutput: jsonl\n` },
    });
    const { data, error } = await project.envelope(['pipe', '--no-stream', 'prints', 'ends']);
    const lines = ['a', '', 'b', ''].map((line) => ({ line }));
    assert.deepEqual(data?.result.data, lines, JSON.stringify(error));
  });

  it('streams: a tool gets a record before the tool in front of it has ended', async () => {
    using project = projectWith(
      {
        waits_for_it: {
          'tool.yaml': `${PLAIN}entry: cli.sh\n`,
          'cli.sh': 'echo one\nuntil [ -e "$TMPDIR/seen" ]; do sleep 0.05; done\necho two\n',
        },
        sees: {
          'tool.yaml': `${READER}entry: cli.sh\n`,
          'cli.sh': 'read -r first\ntouch "$TMPDIR/seen"\necho "$first"\ncat\n',
        },
      },
      WITHOUT_SANDBOX,
    );
    const { code, data } = await project.envelope(['pipe', '--no-stream', 'waits_for_it', 'sees'], {
      env: { TMPDIR: project.root },
    });
    assert.deepEqual([code, data?.result.data.output], [0, '{"line":"one"}\n{"line":"two"}']);
  });

  it('pauses a tool that is too far ahead of the next one, and resumes it', async () => {
    using project = projectWith(
      {
        counts: {
          'tool.yaml': `${PLAIN}entry: cli.sh\nheartbeat_grace_s: 2\nmax_output_size: 1000000000\n`,
          'cli.sh': 'echo first\nuntil [ -e "$TMPDIR/reading" ]; do sleep 0.05; echo; done\nseq inf\n',
        },
        dawdles: {
          'tool.yaml': `${READER}entry: cli.sh\n`,
          'cli.sh':
            'read -r first\ntouch "$TMPDIR/reading"\nuntil [ -e "$TMPDIR/go" ]; do sleep 0.05; done\nhead -n 100000 | wc -l\n',
        },
      },
      WITHOUT_SANDBOX,
    );
    const pipe = project.start(['pipe', 'counts', 'dawdles'], { env: { TMPDIR: project.root } });
    const first = String((await pipe.event('task_started')).child_run_id);
    const log = project.path('.runs', first, 'events.jsonl');
    await until(() => existsSync(project.path('reading')));
    let size = 0;
    let looks = 0;
    // It is paused for longer than it may be silent.
    await until(() => {
      const now = statSync(log).size;
      looks = now === size && now > 1 << 20 ? looks + 1 : 0;
      size = now;
      return looks > 500 || now > 32 << 20;
    });
    assert.equal(project.record(first)?.state, 'running');
    assert.ok(size < 16 << 20, `it has written ${size} bytes`);
    project.write('go', '');
    const { end, of } = readRun(await pipe.finished);
    assert.equal(end.state, 'completed');
    assert.deepEqual(of('result')[0]?.data, { output: '100000' });
    assert.ok(statSync(log).size > size);
  });

  it('does not pause a tool for one that waits for its queue slot', async () => {
    using project = projectWith(
      { counts: { 'tool.yaml': `${COUNTER['tool.yaml']}max_output_size: 100000000\n` }, sums: SUMS },
      'version: 1\nbudget: { max_runs: 1 }\n',
    );
    const { code, data, error } = await project.envelope(['pipe', '--no-stream', 'counts 100000', 'sums']);
    assert.equal(code, 0, JSON.stringify(error));
    assert.deepEqual(data.result.data, { count: 100_000, sum: 5_000_050_000 });
  });

  it('ends as soon as its last tool ends, and stops the tools before it', async () => {
    using project = projectWith({
      counts: COUNTER,
      heads: { 'tool.yaml': `${READER}command: [head, '-n2']\n` },
    });
    const { code, events, end } = await runPipe(project, ['counts inf', 'heads']);
    assert.deepEqual([code, end.state], [0, 'completed']);
    assert.deepEqual(doneOf(events, '1.counts'), ['cancelled', 'downstream ended']);
    assert.deepEqual(doneOf(events, '2.heads'), ['ok', undefined]);
    for (const run of stagesOf(events)) assert.deepEqual(processesOf(run), []);
  });

  it('ends all its tools when one fails, and reports which one and why', async () => {
    using project = projectWith({
      counts: COUNTER,
      fails: {
        'tool.yaml': 'entry: cli.py\nversion: 1.0.0\nstdin: records\n',
        'cli.py':
          'import sys, acor\nsys.stdin.readline()\nacor.emit_error("E_RATE_LIMIT", "enough", retryable=True)\nsys.exit(20)\n',
      },
      sums: SUMS,
    });
    const { code, events, end } = await runPipe(project, ['counts inf', 'fails', 'sums']);
    assert.deepEqual([code, end.state, end.code], [1, 'failed', 'E_RATE_LIMIT']);
    const error = events.find(({ type }) => type === 'runner_error');
    assert.match(String(error?.msg), /^stage 2\.fails \(r-\w+\) failed: enough$/);
    for (const stage of ['1.counts', '3.sums']) assert.equal(doneOf(events, stage)[0], 'cancelled');
    // Records that were passed on cannot be withdrawn, so there is only one attempt.
    assert.equal(project.events(stagesOf(events)[1]!).filter(({ type }) => type === 'error').length, 1);
    for (const run of stagesOf(events)) assert.deepEqual(processesOf(run), []);
  });

  it('lets no tool treat partial input as complete', async () => {
    using project = projectWith(
      {
        breaks: {
          'tool.yaml': `${PLAIN}entry: cli.sh\ninputs: [{ name: rc, type: int, positional: true }]\n`,
          'cli.sh': 'echo one\nexit $1\n',
        },
        commits: {
          'tool.yaml': `${READER}entry: cli.sh\n`,
          'cli.sh': 'cat >/dev/null\ntouch "$TMPDIR/committed"\n',
        },
      },
      WITHOUT_SANDBOX,
    );
    const env = { TMPDIR: project.root };
    assert.equal((await project.envelope(['pipe', '--no-stream', 'breaks 3', 'commits'], { env })).code, 1);
    assert.equal(existsSync(project.path('committed')), false);
    assert.equal((await project.envelope(['pipe', '--no-stream', 'breaks 0', 'commits'], { env })).code, 0);
    assert.equal(existsSync(project.path('committed')), true);
  });

  it('lets a tool wait for records for longer than it may be silent', async () => {
    const slow = 'echo 1; sleep 3; echo 2; echo 3\n';
    using project = projectWith({
      drips: { 'tool.yaml': `${PLAIN}entry: cli.sh\n`, 'cli.sh': slow },
      sums: { ...SUMS, 'tool.yaml': `${SUMS['tool.yaml']}heartbeat_grace_s: 2\n` },
      // The control: outside a pipe, ACOR ends a tool that is silent for so long.
      silent: { 'tool.yaml': `${PLAIN}entry: cli.sh\nheartbeat_grace_s: 2\n`, 'cli.sh': 'sleep 30\n' },
    });
    const { code, data } = await project.envelope(['pipe', '--no-stream', 'drips', 'sums']);
    assert.deepEqual([code, data?.result.data], [0, { count: 3, sum: 6 }]);
    assert.equal((await project.run(['silent'])).end.code, 'E_HEARTBEAT_MISSED');
  });

  it('is cancelled with all its tools', async () => {
    using project = projectWith({
      counts: COUNTER,
      reads: { 'tool.yaml': `${READER}entry: cli.sh\n`, 'cli.sh': 'sleep 300\n' },
    });
    const { data } = await project.envelope(['pipe', '--detach', 'counts inf', 'reads']);
    await until(() => stagesOf(project.events(data.run_id)).length === 2);
    await project.envelope(['cancel', data.run_id, '--reason', 'enough']);
    const ended = await project.envelope(['wait', data.run_id]);
    assert.deepEqual([ended.error?.details?.state ?? ended.data?.state], ['cancelled']);
    const runs = stagesOf(project.events(data.run_id));
    for (const run of runs) {
      assert.equal(project.record(run)?.state, 'cancelled');
      assert.deepEqual(processesOf(run), []);
    }
  });

  it('continues after its supervisor was killed: it does not repeat completed tools', async () => {
    using project = projectWith(
      {
        makes: { 'tool.yaml': `${PLAIN}entry: cli.sh\n`, 'cli.sh': 'echo made >>"$TMPDIR/effects"\nseq 3\n' },
        stores: {
          'tool.yaml': `${READER}entry: cli.sh\n`,
          'cli.sh':
            'until [ -e "$TMPDIR/go" ]; do sleep 0.05; done\nwc -l\necho stored >>"$TMPDIR/effects"\n',
        },
      },
      WITHOUT_SANDBOX,
    );
    const env = { TMPDIR: project.root };
    const pipe = project.start(['pipe', 'makes', 'stores'], { env });
    await pipe.event('task_done');
    const run = String((await pipe.event('runner_start')).run_id);
    await until(() => stagesOf(project.events(run)).length === 2);
    await project.killSupervisor(run);
    await pipe.finished;
    const resumed = project.start(['resume', run], { env });
    await resumed.event('runner_state');
    project.write('go', '');
    const { end, of } = readRun(await resumed.finished);
    assert.deepEqual([end.state, of('result')[0]?.data], ['completed', { output: '3' }]);
    assert.equal(readFileSync(project.path('effects'), 'utf8'), 'made\nstored\n');
    assert.equal(project.runIds().length, 3);
  });

  it('starts again with the tool that failed, and reads earlier records from the log', async () => {
    using project = projectWith(
      {
        makes: { 'tool.yaml': `${PLAIN}entry: cli.sh\n`, 'cli.sh': 'echo made >>"$TMPDIR/effects"\nseq 3\n' },
        needs: {
          'tool.yaml': `${READER}entry: cli.sh\n`,
          'cli.sh': 'cat >/dev/null\n[ -e "$TMPDIR/go" ] || exit 30\nwc -l <"$TMPDIR/effects"\n',
        },
        ends: { 'tool.yaml': `${READER}command: [cat]\n` },
      },
      WITHOUT_SANDBOX,
    );
    const env = { TMPDIR: project.root };
    const failed = await project.envelope(['pipe', '--no-stream', 'makes', 'needs', 'ends'], { env });
    assert.deepEqual([failed.code, failed.error.code], [1, 'E_TOOL_FAILED']);
    const { run_id } = failed.error.details;
    project.write('go', '');
    // The last tool was stopped midway, and its manifest does not allow to repeat it.
    const refused = await project.envelope(['resume', run_id, '--no-stream'], { env });
    assert.equal(refused.error.code, 'E_OUTCOME_UNKNOWN');
    const { code, data } = await project.envelope(['resume', run_id, '--no-stream', '--force'], { env });
    assert.deepEqual([code, data?.result.data], [0, { output: '{"line":"1"}' }]);
    const stage = stagesOf(project.events(run_id))[1]!;
    const alone = await project.envelope(['resume', stage], { env });
    assert.match(alone.error.message, /is a stage of pipe/);
  });

  it('waits while one of its tools asks, and accepts the answer', async () => {
    using project = projectWith({
      counts: COUNTER,
      asks: {
        'tool.yaml': 'version: 1.0.0\nentry: cli.py\nstdin: records\nactions: [keep]\n',
        'cli.py':
          'import sys, acor\nway = acor.ask("keep", options=["all", "none"])\nacor.emit_result(data={"way": way, "count": len(sys.stdin.readlines())})\n',
      },
    });
    const asked = await project.envelope(['pipe', '--no-stream', 'counts 5', 'asks']);
    assert.deepEqual([asked.code, asked.error.code], [2, 'E_ACTION_REQUIRED']);
    const { run_id } = asked.error.details;
    const given = await project.envelope(['answer', run_id, '2.asks:a-1', '--choice', 'all']);
    assert.equal(given.code, 0, JSON.stringify(given.error));
    const { data } = await project.envelope(['wait', run_id]);
    assert.deepEqual(data?.result.data, { way: 'all', count: 5 });
  });

  it('is a step of a workflow, with the data of its last tool', async () => {
    using project = projectWith({ counts: COUNTER, sums: SUMS });
    project.write(
      'totals.yaml',
      'name: totals\ninputs: { n: { type: int, required: true } }\nsteps:\n  - { name: stream, pipe: ["counts ${inputs.n}", sums] }\noutputs: { sum: "${steps.stream.data.sum}" }\n',
    );
    const { code, data, error } = await project.envelope([
      'workflow',
      'run',
      'totals.yaml',
      '--no-stream',
      '--n',
      '4',
    ]);
    assert.equal(code, 0, JSON.stringify(error));
    assert.deepEqual(data.result.data, { sum: 10 });
  });

  it('is rejected before anything starts when a tool cannot be a part of it', async () => {
    using project = projectWith({ counts: COUNTER, sums: SUMS });
    for (const [stages, code, message] of [
      [['sums'], 'E_USAGE', /at least 2 tools/],
      [['counts 3', 'counts 3'], 'E_USAGE', /stage 2\.counts of the pipe does not read records/],
      [['counts 3', 'summs'], 'E_TOOL_NOT_FOUND', /stage 2\.summs of the pipe: /],
      [['counts --nonsense 1', 'sums'], 'E_USAGE', /stage 1\.counts of the pipe: /],
      [["counts '3", 'sums'], 'E_USAGE', /a quote in it is never closed/],
      [['counts 3', ' '], 'E_USAGE', /stage 2 of the pipe cannot be read: it is empty/],
    ] as const) {
      const { error } = await project.envelope(['pipe', ...stages]);
      assert.equal(error?.code, code, JSON.stringify(error));
      assert.match(error.message, message);
      assert.notEqual(error.hint ?? '', '');
    }
    assert.deepEqual(project.runIds(), []);
    const { data } = await project.envelope(['pipe', '--dry-run', 'counts 3', 'sums']);
    assert.deepEqual(
      data.stages.map(({ task_id, records }: Record<string, unknown>) => [task_id, records]),
      [
        ['1.counts', 'lines'],
        ['2.sums', 'messages'],
      ],
    );
    assert.deepEqual(project.runIds(), []);
  });
});

type Files = Readonly<Record<string, string>>;

function projectWith(tools: Readonly<Record<string, Files>>, config?: string): TestProject {
  const project = new TestProject(config === undefined ? {} : { config });
  for (const [tool, files] of Object.entries(tools))
    for (const [file, text] of Object.entries(files)) project.write(`tools/${tool}/${file}`, text);
  return project;
}

async function runPipe(project: TestProject, stages: readonly string[]) {
  return readRun(await project.acor(['pipe', ...stages]));
}

/** The runs of a pipe's stages, in order. */
function stagesOf(events: readonly Event[]): string[] {
  return events.filter(({ type }) => type === 'task_started').map((event) => String(event.child_run_id));
}

function doneOf(events: readonly Event[], stage: string): unknown[] {
  const done = events.find(({ type, task_id }) => type === 'task_done' && task_id === stage);
  return [done?.status, done?.msg];
}
