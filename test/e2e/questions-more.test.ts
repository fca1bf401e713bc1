import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { reachedInTime } from '../support/in-time.ts';
import { type Event, parseLines, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';

const skip = spawnSync('sh', ['-c', 'command -v python3']).status !== 0 && 'python3 is not here';

describe('questions.jsonl of a run', { skip }, () => {
  for (const [what, damage] of [
    ['damaged', (path: string) => writeFileSync(path, 'junk{\n')],
    ['removed', (path: string) => rmSync(path)],
  ] as const) {
    it(`is derived: ${what} while the run waits, it loses no question and no answer`, async () => {
      using project = new TestProject({ tools: ['asks'], config: WITHOUT_SANDBOX });
      const { data } = await project.envelope(['run', 'asks', '--detach']);
      const runId = String(data.run_id);
      await until(() => project.record(runId)?.state === 'waiting_ai');
      damage(project.path('.runs', runId, 'questions.jsonl'));
      assert.equal((await project.envelope(['decisions', '--open'])).data.decisions.length, 1);
      const answered = await project.envelope(['answer', runId, '--choice', 'fast', '--by', 'ada']);
      assert.equal(answered.ok, true, JSON.stringify(answered.error));
      await project.envelope(['wait', runId]);
      const [decision] = (await project.envelope(['decisions', runId])).data.decisions;
      assert.deepEqual([decision.answer, decision.by], ['fast', 'ada']);
    });
  }
});

/** A tool that asks a question of 2 MB by the SDK of each language. */
const LONG_QUESTIONS: Record<string, [name: string, program: string]> = {
  Python: [
    'cli.py',
    "from acor.protocol import ask\nask('pick', context={'text': 'x' * 2_000_000}, action_id='q1')\n",
  ],
  TypeScript: [
    'cli.ts',
    "import { ask } from 'acor/tool';\nawait ask('pick', { context: { text: 'x'.repeat(2_000_000) }, actionId: 'q1' });\n",
  ],
  Bash: [
    'cli.sh',
    '#!/bin/bash\nsource "$ACOR_LIB/acor.sh"\nprintf -v text "%2000000s" x\nask pick --id q1 text="$text"\n',
  ],
};

describe('an invalid question', () => {
  const question = { type: 'action_required', action_id: 'q1', action: 'pick', options: 'fast' };
  const toolThat = (project: TestProject, blocking: unknown, rest: string, more: object[] = []) => {
    const lines = [{ ...question, blocking }, ...more].map((each) => JSON.stringify(each)).join('\n');
    // By one write of cat, so that they come together.
    project.write('tools/wrong/cli.sh', `cat <<'END'\n${lines}\nEND\n${rest}\n`, 0o755);
  };

  for (const blocking of [true, 'yes'])
    it(`that blocks its tool (blocking: ${blocking}) ends the run at once, because it can get no answer`, async () => {
      using project = new TestProject({ config: WITHOUT_SANDBOX });
      toolThat(project, blocking, 'read -r answer; while :; do sleep 1; done');
      const { error, data } = await project.envelope(['run', 'wrong', '--no-stream', '--timeout', '1h']);
      assert.equal(project.record(String(data?.run_id ?? error.details.run_id))?.state, 'failed');
      assert.equal(error.code, 'E_PROTOCOL');
      assert.match(error.message, /the tool's question 'q1' is invalid: 'options' must be /);
      assert.match(error.hint, /Correct 'options' of this action_required in the tool/);
    });

  for (const [what, more, problem] of [
    [
      'whose action_id cannot name its answer',
      { action_id: 'pick one' },
      /'pick one' is invalid: 'action_id' must be 1 to 128/,
    ],
    [
      'whose schema cannot be used',
      { schema: { type: 'objekt' } },
      /'a-1' is invalid: 'schema' must be .*data\/type/,
    ],
  ] as const)
    it(`${what} and that blocks its tool ends the run at once`, async () => {
      using project = new TestProject({ config: WITHOUT_SANDBOX });
      const asked = JSON.stringify({ type: 'action_required', action: 'pick', blocking: true, ...more });
      project.write('tools/wrong/tool.yaml', 'name: wrong\nactions: [pick]\n');
      project.write(
        'tools/wrong/cli.sh',
        `echo '${asked}'\nread -r answer\nwhile :; do sleep 1; done\n`,
        0o755,
      );
      const { error } = await project.envelope(['run', 'wrong', '--no-stream', '--timeout', '1h']);
      assert.equal(error.code, 'E_PROTOCOL', JSON.stringify(error));
      assert.match(error.message, problem);
    });

  it('whose schema cannot be used is a warning where its options can be chosen', async () => {
    using project = new TestProject({ config: WITHOUT_SANDBOX });
    const asked = { type: 'action_required', action: 'pick', blocking: true, options: [{ id: 'fast' }] };
    const lines = `echo '${JSON.stringify({ ...asked, schema: { type: 'objekt' } })}'\nread -r answer\necho '{"type":"result","status":"ok"}'\n`;
    project.write('tools/wrong/tool.yaml', 'name: wrong\nactions: [pick]\n');
    project.write('tools/wrong/cli.sh', lines, 0o755);
    const { ok, meta } = await project.envelope(['run', 'wrong', '--no-stream', '--answer', 'pick=fast']);
    assert.equal(ok, true);
    assert.match(JSON.stringify(meta.warnings), /no answer matches the schema of the question/);
  });

  for (const [language, entry] of Object.entries(LONG_QUESTIONS))
    it(`above 1 MiB that blocks a tool in ${language} ends the run at once`, async () => {
      using project = new TestProject({ config: WITHOUT_SANDBOX });
      const [name, program] = entry;
      project.write(`tools/long/${name}`, program, 0o755);
      const { error } = await project.envelope(['run', 'long', '--no-stream', '--timeout', '1h']);
      assert.equal(error.code, 'E_PROTOCOL', JSON.stringify(error));
      assert.match(error.message, /question 'q1' is invalid: 'context' must be so short/);
    });

  const result = { type: 'result', status: 'ok' };
  for (const [what, blocking, rest, more] of [
    ['that does not block', false, `echo '${JSON.stringify(result)}'`, []],
    ['that comes with the last message of its tool', true, '', [result]],
  ] as const)
    it(`${what} is a warning`, async () => {
      using project = new TestProject({ config: WITHOUT_SANDBOX });
      toolThat(project, blocking, rest, [...more]);
      const { ok, data, meta } = await project.envelope(['run', 'wrong', '--no-stream']);
      assert.equal(ok, true);
      assert.equal(data.state, 'completed');
      assert.match(JSON.stringify(meta.warnings), /invalid 'action_required': 'options' must be/);
    });
});

describe('questions of every kind', { skip }, () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['asks_any', 'asks_in_bash', 'asks_in_typescript', 'asks_later'] });
    project.write(
      'tools/asks_unsafe/cli.sh',
      `cat <<'END'\n{"type":"action_required","action":"choose_way","action_id":"../../evil","blocking":true}\n{"type":"result","status":"ok"}\nEND\n`,
    );
    project.write(
      'tools/asks_unsafe/tool.yaml',
      'name: asks_unsafe\nversion: 1.0.0\nactions: [choose_way]\n',
    );
  });
  after(() => project[Symbol.dispose]());

  /** Starts a tool as an agent does: the command follows it up to its question. */
  async function askedRun(...args: string[]) {
    const { stdout, code } = await project.acor(['run', ...args]);
    const events = parseLines(stdout);
    return { events, code, runId: String(events[0]!.run_id) };
  }

  const severalAtOnce = () =>
    askedRun(
      'asks_any',
      '--at-once',
      '--questions',
      JSON.stringify([
        { action: 'first', action_id: 'q1', options: ['a', 'b'] },
        { action: 'second', action_id: 'q2', schema: { type: 'integer' } },
        { action: 'third', action_id: 'q3', timeout_s: 60 },
      ]),
    );

  const questionsIn = (runId: string) =>
    project.events(runId).filter(({ type }) => type === 'action_required');
  const resultOf = (runId: string) => project.events(runId).find(({ type }) => type === 'result')?.data;

  for (const tool of ['asks_in_bash', 'asks_in_typescript']) {
    it(`are asked and answered in the live process: ${tool}`, async () => {
      const { code, runId } = await askedRun(tool);
      assert.equal(code, 2);
      const { questions } = (await project.envelope(['show', runId])).data;
      assert.deepEqual(questions, [
        {
          action_id: 'a-1',
          action: 'choose_way',
          audience: 'user',
          blocking: true,
          msg: null,
          context: { files: 3 },
          options: [{ id: 'left', label: 'To the left' }, { id: 'right' }],
          schema: null,
          timeout_s: 60,
        },
      ]);
      const waited = await project.envelope(['wait', runId]);
      assert.deepEqual([waited.code, waited.error.code], [2, 'E_ACTION_REQUIRED']);
      assert.equal(waited.error.details.questions[0].audience, 'user');
      await project.envelope(['answer', runId, 'choose_way', '--choice', 'right']);
      const ended = await project.envelope(['wait', runId]);
      assert.deepEqual([ended.data.state, ended.data.result.data], ['completed', { way: 'right' }]);
      assert.deepEqual(ended.data.questions, []);
      assert.equal(project.events(runId).find(({ type }) => type === 'log')!.msg, 'going right');
      const [decision] = (await project.envelope(['decisions', runId])).data.decisions;
      assert.equal(decision.audience, 'user');
    });
  }

  it('are answered in any order, and the run waits until the last blocking one', async () => {
    const { runId } = await severalAtOnce();
    await until(() => questionsIn(runId).length === 3);
    const unclear = await project.envelope(['answer', runId, '--choice', 'a']);
    assert.equal(unclear.error.code, 'E_BAD_ANSWER');
    for (const named of ['q1 (first)', 'q2 (second)', 'q3 (third)'])
      assert.ok(unclear.error.message.includes(named), unclear.error.message);
    project.write('answer.json', '{"deep":[1,null]}\n');
    assert.equal((await project.envelope(['answer', runId, 'q3', '--file', 'answer.json'])).ok, true);
    assert.equal((await project.envelope(['answer', runId, 'q1', '--choice', 'b'])).ok, true);
    assert.equal(project.record(runId)!.state, 'waiting_ai');
    const left = await project.envelope(['wait', runId]);
    assert.deepEqual(
      left.error.details.questions.map(({ action_id }: { action_id: string }) => action_id),
      ['q2'],
    );
    assert.equal((await project.envelope(['answer', runId, '--value', '7'])).ok, true);
    assert.equal((await project.envelope(['wait', runId])).data.state, 'completed');
    assert.deepEqual(resultOf(runId), { first: 'b', second: 7, third: { deep: [1, null] } });
    const states = project.events(runId).filter(({ type }) => type === 'runner_state');
    assert.deepEqual(
      states.map(({ to }) => to),
      ['running', 'waiting_ai', 'running', 'completed'],
    );
  });

  it('are not answered twice, not by an invalid file, and not after the end of the run', async () => {
    const { runId } = await severalAtOnce();
    await until(() => questionsIn(runId).length === 3);
    await project.envelope(['answer', runId, 'q1', '--choice', 'a', '--by', 'the first']);
    const twice = await project.envelope(['answer', runId, 'q1', '--choice', 'b']);
    assert.deepEqual([twice.code, twice.error.code], [1, 'E_BAD_ANSWER']);
    assert.match(twice.error.message, /answered already, by the first: "a"/);
    const unfit = await project.envelope(['answer', runId, 'q2', '--value', '1.5']);
    assert.deepEqual([unfit.error.code, unfit.error.details.schema], ['E_BAD_ANSWER', { type: 'integer' }]);
    project.write('torn.json', '{"a":');
    for (const file of ['torn.json', 'nowhere.json'])
      assert.equal((await project.envelope(['answer', runId, 'q3', '--file', file])).error.code, 'E_USAGE');
    await project.acor(['cancel', runId]);
    const late = await project.envelope(['answer', runId, 'q2', '--value', '1']);
    assert.match(late.error.message, /has ended \(cancelled\)/);
    const unknown = await project.envelope(['answer', 'r-0000000000000000', 'q2', '--value', '1']);
    assert.equal(unknown.error.code, 'E_RUN_NOT_FOUND');
    assert.equal(project.events(runId).filter(({ type }) => type === 'action_answered').length, 1);
  });

  it('count as answered after their default was used', async () => {
    const questions = [
      { action: 'first', options: ['a', 'b'], default: 'b', timeout_s: 0.2 },
      { action: 'second', options: ['c'] },
    ];
    const { runId } = await askedRun('asks_any', '--questions', JSON.stringify(questions));
    await until(() => questionsIn(runId).length === 2);
    const late = await project.envelope(['answer', runId, 'first', '--choice', 'a']);
    assert.match(late.error.message, /answered already, by acor: "b"/);
    await project.envelope(['answer', runId, '--choice', 'c']);
    assert.equal((await project.envelope(['wait', runId])).data.state, 'completed');
    assert.deepEqual(resultOf(runId), { first: 'b', second: 'c' });
  });

  it('that do not block are answered while the tool continues, and it finds the answer later', async () => {
    const running = project.start(['run', 'asks_later']);
    const { run_id } = await running.event('progress');
    const runId = String(run_id);
    assert.equal(project.record(runId)!.state, 'running');
    const shown = await project.envelope(['show', runId]);
    assert.deepEqual([shown.data.questions[0].blocking, shown.data.questions[0].audience], [false, 'ai']);
    await project.envelope(['answer', runId, '--value', '"left"']);
    const { code, stdout } = await running.finished;
    assert.equal(code, 0);
    const events: Event[] = parseLines(stdout);
    assert.deepEqual(events.find(({ type }) => type === 'result')!.data, { way: 'left' });
    assert.deepEqual(
      events.filter(({ to }) => to === 'waiting_ai'),
      [],
    );
  });

  it('that do not block are not what the hint of a waiting run says to answer', async () => {
    project.write('tools/asks_both/tool.yaml', 'name: asks_both\nactions: [later, now]\n');
    project.write(
      'tools/asks_both/cli.sh',
      `for q in '"later","action_id":"l","blocking":false' '"now","action_id":"n","blocking":true'; do
  echo '{"type":"action_required","action":'"$q"',"schema":{"type":"string","minLength":3}}'
done
read -r answer
echo '{"type":"result","status":"ok"}'
`,
    );
    const { error } = await project.envelope(['run', 'asks_both', '--no-stream']);
    const { run_id: runId, questions } = error.details;
    assert.equal(error.code, 'E_ACTION_REQUIRED');
    assert.match(error.hint, new RegExp(`^Answer with: acor answer ${runId} n --value JSON, where`));
    const waited = await project.envelope(['wait', runId]);
    assert.equal(waited.error.hint, error.hint);
    // The control: both are open, and the first one does not block.
    assert.deepEqual(
      questions.map(({ action_id, blocking }: Event) => [action_id, blocking]),
      [
        ['l', false],
        ['n', true],
      ],
    );
    await project.envelope(['answer', runId, 'n', '--value', '"yes"']);
    assert.equal((await project.envelope(['wait', runId])).data.state, 'completed');
  });

  it('with an id that cannot be a file name are reported, and cannot be answered', async () => {
    const { code, events, runId } = await askedRun('asks_unsafe');
    assert.equal(code, 0);
    const warning = events.find(({ type }) => type === 'runner_warning');
    assert.deepEqual([warning!.code, warning!.field], ['E_PROTOCOL', 'action_id']);
    const { error } = await project.envelope(['answer', runId, '../../evil', '--value', '1']);
    assert.equal(error.code, 'E_BAD_ANSWER');
    for (const folder of ['', '.runs', `.runs/${runId}`, `.runs/${runId}/work`])
      assert.equal(existsSync(project.path(folder, 'evil.json')), false, folder);
  });

  it('are shown to a follower that attaches later, and in an envelope', async () => {
    const { runId, events } = await askedRun('asks_in_bash');
    const late = await project.acor(['attach', runId, '--since', String(events.length)]);
    assert.deepEqual([late.code, late.stdout], [2, '']);
    assert.match(late.stderr, /acor answer r-\S+ a-1 --choice left/);
    await project.acor(['cancel', runId]);
    const { error } = await project.envelope(['run', '--no-stream', 'asks_in_bash']);
    assert.deepEqual(
      [error.code, error.details.questions[0].action, error.details.questions[0].audience],
      ['E_ACTION_REQUIRED', 'choose_way', 'user'],
    );
    await project.acor(['cancel', error.details.run_id]);
  });

  it('name values that their schemas settle in the commands that answer, and none where only the caller knows one', async () => {
    const questions = [
      { action: 'first', schema: { type: 'boolean' } },
      { action: 'second', schema: { enum: ['x y', 2] } },
      { action: 'third' },
      { action: 'fourth', schema: { type: 'integer', minimum: 3, default: 3 } },
      { action: 'fifth', schema: { type: 'string', default: 'a b' } },
      { action: 'sixth', schema: { type: 'string', pattern: '^x$' } },
    ];
    const { runId } = await askedRun('asks_any', '--at-once', '--questions', JSON.stringify(questions));
    await until(() => questionsIn(runId).length === questions.length);
    const { next } = (await project.envelope(['wait', runId])).meta;
    assert.equal(next.at(-1), `acor attach ${runId}`);
    const answers = next.filter((command: string) => command.startsWith('acor answer '));
    const values = answers.map((command: string) => command.replace(/^acor answer r-\S+ a-\d /, '')).sort();
    assert.deepEqual(values, [
      `--value '"a b"'`,
      `--value '"x y"'`,
      '--value 2',
      '--value 3',
      '--value false',
      '--value true',
    ]);
    await project.acor(['cancel', runId]);
  });
});

describe('a deadline', { skip }, () => {
  /** A run that has been waiting for an answer until after its deadline; undefined when it did not get to its question. */
  async function waitsPastDeadline(project: TestProject, then: string, timeoutS: number) {
    const call = ['run', '--timeout', String(timeoutS), 'asks_then_works', '--then', then];
    const events = parseLines((await project.acor(call)).stdout);
    const [start] = events;
    if (!events.some(({ to }) => to === 'waiting_ai')) return undefined;
    await until(() => Date.now() > Date.parse(String(start!.ts)) + 1000 * (timeoutS + 0.2));
    return String(start!.run_id);
  }

  /** Answers such a run, and returns how it ended. What is left of its time may not be enough on a busy machine. */
  function answeredPastDeadline(project: TestProject, then: string) {
    return reachedInTime(async (limitS) => {
      const runId = await waitsPastDeadline(project, then, 3 * limitS);
      if (runId === undefined) return undefined;
      assert.equal(project.record(runId)!.state, 'waiting_ai');
      await project.envelope(['answer', runId, '--value', '"left"']);
      const { data, error } = await project.envelope(['wait', runId]);
      return error?.code === 'E_DEADLINE' ? undefined : { runId, data, timeoutS: 3 * limitS };
    });
  }

  function projectWith(environment: string): TestProject {
    const config = `version: 1\nenvironment: { cancel_grace_s: 0.3, ${environment} }\n`;
    return new TestProject({ tools: ['asks_then_works'], config });
  }

  it('passes while the tool waits (the control of the next tests)', async () => {
    using project = projectWith('waiting_stops_deadline: false');
    const runId = await reachedInTime((limitS) => waitsPastDeadline(project, 'ends', 3 * limitS));
    const { error } = await project.envelope(['wait', runId, '--until', 'ending']);
    assert.equal(error.code, 'E_DEADLINE');
  });

  it('is paused while the tool waits, if configured so, and the tool gets the new one', async () => {
    using project = projectWith('waiting_stops_deadline: true');
    const { runId, data, timeoutS } = await answeredPastDeadline(project, 'ends');
    assert.deepEqual([data.state, data.result.data], ['completed', { way: 'left' }]);
    const { left_s } = project.events(runId).find(({ type }) => type === 'log')!;
    assert.ok(Number(left_s) > 0 && Number(left_s) < timeoutS, String(left_s));
  });

  it('continues with the answer: it ends a tool that then works too long', async () => {
    using project = projectWith('waiting_stops_deadline: true');
    const runId = await reachedInTime((limitS) => waitsPastDeadline(project, 'works_forever', 3 * limitS));
    await project.envelope(['answer', runId, '--value', '"left"']);
    const { error } = await project.envelope(['wait', runId]);
    assert.equal(error.code, 'E_DEADLINE');
  });

  it('counts no wait of an earlier attempt', async () => {
    using project = projectWith('waiting_stops_deadline: true');
    const { runId, data } = await answeredPastDeadline(project, 'fails_once');
    assert.deepEqual([data.state, data.result.data], ['completed', { way: 'left' }]);
    const { data: shown } = await project.envelope(['show', runId]);
    assert.equal(shown.attempt, 2);
  });
});
