import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { splitCommand } from '../../src/util/shell-words.ts';
import { parseLines, ROOT, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const STREAMS = join(ROOT, 'test', 'fixtures', 'streams');

/** Plays a recorded stream in each tool, as the real program would write it. */
const PLAY =
  'play() { while IFS= read -r line; do printf \'%s\\n\' "$line"; done < "${BASH_SOURCE%/*}/streams/$1"; }\n';
/** Does not exit, and ignores every signal except SIGKILL. */
const STAY = "trap '' TERM INT HUP\nwhile :; do :; done";

let project: TestProject;
before(() => {
  project = new TestProject();
});
after(() => project[Symbol.dispose]());

/** Makes a tool of a script, in which `play` plays a stream; it returns the tool's name. */
function tool(name: string, adapter: string, script: string, manifest = '', where = project): string {
  where.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nadapter: ${adapter}\n${manifest}`);
  where.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${PLAY}${script}\n`, 0o755);
  cpSync(STREAMS, where.path('tools', name, 'streams'), { recursive: true });
  return name;
}

const messages = (events: readonly Record<string, unknown>[]) => events.map(({ msg }) => msg);

function sessionOf(runId: unknown): { stage: string; version: number; data: object } {
  return JSON.parse(
    readFileSync(join(project.runsDir, String(runId), 'work/.checkpoints/session.json'), 'utf8'),
  );
}

describe('the stream of codex', () => {
  it('becomes events and a result, checked against the disk', async () => {
    const name = tool('codex_good', 'codex', 'printf x > form.ts\nplay codex.jsonl');
    // The minimal sandbox has no mkdir: the file is where the path of the stream is rewritten to.
    const stream = project.path('tools', name, 'streams', 'codex.jsonl');
    project.write(
      `tools/${name}/streams/codex.jsonl`,
      readFileSync(stream, 'utf8').replaceAll('src/form.ts', 'form.ts'),
    );
    const run = await project.run([name]);
    assert.deepEqual([run.end.state, run.code], ['completed', 0]);
    const [start] = run.of('start');
    const [result] = run.of('result');
    const thread = '0199a213-81c0-7800-8aa1-bbab2a035a53';
    assert.equal(start!.session_id, thread);
    assert.deepEqual(sessionOf(run.end.run_id).data, { agent: 'codex', session_id: thread });
    assert.equal(result!.session_id, thread);
    assert.deepEqual(result!.metrics, {
      input_tokens: 24763,
      cache_read_tokens: 24448,
      cache_write_tokens: 0,
      output_tokens: 122,
      reasoning_tokens: 64,
    });
    const { output, files } = result!.data as { output: string; files: object[] };
    assert.match(output, /All done\.$/);
    assert.deepEqual(files, [
      { path: 'form.ts', change: 'created', holds: true },
      { path: 'src/old.ts', change: 'deleted', holds: false },
      { path: 'src/never.ts', change: 'modified', holds: false },
      { path: '../../escape.txt', change: 'created', holds: false },
    ]);
    assert.deepEqual(
      run.of('artifact').map(({ path, size }) => [String(path).slice(-13), size]),
      [['/work/form.ts', 1]],
    );
    const warnings = run.of('runner_warning');
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['src/old.ts', 'src/never.ts', '../../escape.txt'],
    );
    assert.match(String(warnings[0]!.msg), /no such file before/);
    assert.match(String(warnings[1]!.msg), /no such file/);
    assert.match(String(warnings[2]!.msg), /outside/);

    assert.deepEqual(messages(run.of('progress')), [
      'bash -lc ls',
      '1/2 done; next: Test it',
      'form.ts, src/old.ts, src/never.ts',
      'src/refused.ts',
      'acor.demo_analyze',
      'Form written',
    ]);
    assert.ok(run.of('progress').every((event) => !('pct' in event)));
    const [question] = run.of('action_required');
    assert.deepEqual(
      [question!.msg, question!.context, question!.blocking],
      ['Which colour?', { text: 'The design does not say.' }, false],
    );
    assert.deepEqual(question!.options, [
      { id: '1', label: 'red', description: 'Loud' },
      { id: '2', label: 'blue' },
    ]);
    const logs = run.of('log');
    const kept = logs.filter(({ event }) => event !== undefined).map(({ event }) => event);
    assert.deepEqual(kept, [
      { type: 'item.completed', item: { id: 'item_7', type: 'hologram', shape: 'round' } },
      { type: 'session.dreamt', about: 'sheep' },
    ]);
    assert.deepEqual(
      logs.filter(({ level }) => level === 'warn').map(({ msg }) => String(msg).slice(0, 15)),
      ['Reconnecting...', 'Reconnecting...', 'Model metadata '],
    );
  });

  it('reports a failed turn, a truncated turn, and an exit without a final message', async () => {
    const failed = await project.run([tool('codex_failed', 'codex', 'play codex-failed.jsonl; exit 1')]);
    assert.deepEqual([failed.end.state, failed.end.code], ['failed', 'E_TOOL_FAILED']);
    assert.equal(failed.of('error')[0]!.msg, 'stream disconnected before completion');
    assert.equal(failed.of('result').length, 0);

    const begun =
      'echo \'{"type":"thread.started","thread_id":"t"}\'; echo \'{"type":"error","message":"no quota"}\'';
    const cut = await project.run([tool('codex_cut', 'codex', begun)]);
    assert.deepEqual([cut.end.state, cut.end.code], ['failed', 'E_NO_RESULT']);
    assert.match(String(cut.of('error')[0]!.msg), /without its last word: no quota/);
    const crashed = await project.run([tool('codex_crashed', 'codex', `${begun}; exit 7`)]);
    assert.deepEqual([crashed.end.code, crashed.end.rc], ['E_TOOL_FAILED', 7]);
    assert.match(String(crashed.of('error')[0]!.msg), /exit code 7: no quota/);
  });

  it('ends its run when the program does not exit after its final message', async () => {
    const name = tool('codex_stays', 'codex', `play codex.jsonl\n${STAY}`, 'timeout_s: 60\n');
    const { end, of } = await project.run([name]);
    assert.deepEqual([end.state, end.code, end.signal, end.survivors], ['completed', null, 'SIGKILL', []]);
    assert.equal(of('result').length, 1);
    assert.ok(
      messages(of('runner_warning')).includes(
        'the program did not exit after its last message; the runner stopped it',
      ),
    );
  });

  it('fails when the program exits with an error after a successful final message, and keeps both', async () => {
    const { end, of } = await project.run([tool('codex_two', 'codex', 'play codex.jsonl; exit 3')]);
    assert.deepEqual([end.state, end.code, end.rc, of('result').length], ['failed', 'E_TOOL_FAILED', 3, 1]);
  });

  it('ends as blocked when the agent says so, and a later progress message withdraws that', async () => {
    const say = (text: string) =>
      `echo '${JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text } })}'`;
    const done = `echo '{"type":"turn.completed","usage":{}}'`;
    const blocked = await project.run([
      tool('codex_blocked', 'codex', `${say('[BLOCKED] No API URL\nIn none of:\n- .env')}; ${done}`),
    ]);
    assert.deepEqual([blocked.end.state, blocked.end.code], ['failed', 'E_ACTION_REQUIRED']);
    const [question] = blocked.of('action_required');
    assert.deepEqual([question!.blocking, question!.context], [true, { text: 'In none of:\n- .env' }]);
    assert.equal(blocked.of('error')[0]!.action_id, question!.action_id);
    const going = await project.run([
      tool('codex_going', 'codex', `${say('[BLOCKED] x')}; ${say('[PROGRESS] Found it')}; ${done}`),
    ]);
    assert.equal(going.end.state, 'completed');
  });

  it('reports the tokens of all its turns: Codex itself reports totals', async () => {
    const turn = (input: number, output: number) =>
      `echo '${JSON.stringify({ type: 'turn.completed', usage: { input_tokens: input, output_tokens: output } })}'`;
    const run = await project.run([tool('codex_turns', 'codex', `${turn(1000, 20)}; ${turn(1300, 24)}`)]);
    const [result] = run.of('result');
    const { input_tokens, output_tokens } = result!.metrics as Record<string, number>;
    assert.deepEqual([input_tokens, output_tokens], [1300, 24]);
  });

  it('is continued by the next attempt, which resumes its session', async () => {
    const script =
      'read -r kept < "$CHECKPOINT_DIR/session.json" && { printf "%s" "$kept" >&2; play codex.jsonl; exit; }\nplay codex-failed.jsonl; exit 1';
    const name = tool('codex_again', 'codex', script);
    const first = await project.run([name]);
    assert.equal(first.end.state, 'failed');
    const again = await project.acor(['resume', String(first.end.run_id)]);
    const events = parseLines(again.stdout);
    assert.equal(events.at(-1)!.state, 'completed', again.stdout);
    const [heard] = events.filter(({ type }) => type === 'diagnostic');
    assert.equal(JSON.parse(String(heard!.line)).data.session_id, '0199a213-81c0-7800-8aa1-bbab2a035a54');
  });

  it('stores no session through a link that a tool has created', async () => {
    using open = new TestProject({ config: WITHOUT_SANDBOX });
    mkdirSync(open.path('outside'));
    const script = `rm -rf "$CHECKPOINT_DIR" && ln -s '${open.path('outside')}' "$CHECKPOINT_DIR"\nplay codex.jsonl`;
    const run = await open.run([tool('codex_links', 'codex', script, '', open)]);
    assert.equal(existsSync(open.path('outside/session.json')), false);
    assert.ok(
      messages(run.of('runner_warning')).some((msg) =>
        /session of codex could not be saved/.test(String(msg)),
      ),
    );
  });
});

describe('the stream of claude', () => {
  const SESSION = '5f9c6d0e-8b0b-4a55-9d8e-5f0c2f3d7a11';

  it('becomes events and a result with its cost', async () => {
    const run = await project.run([tool('claude_good', 'claude', 'play claude.jsonl')]);
    assert.deepEqual([run.end.state, run.of('start')[0]!.session_id], ['completed', SESSION]);
    const [result] = run.of('result');
    assert.deepEqual(result!.metrics, {
      model: 'claude-test',
      input_tokens: 12,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 34,
      reasoning_tokens: 0,
      cost_usd: 0.0003,
      turns: 4,
      duration_s: 0.613,
    });
    assert.deepEqual(result!.data, { output: 'All done.', terminal_reason: 'completed' });
    assert.deepEqual(messages(run.of('progress')), ['Looking', 'ls']);
    assert.deepEqual(
      run.of('heartbeat').map(({ step }) => step),
      ['stream_event', 'tool_progress'],
    );
    const kept = run
      .of('log')
      .flatMap(({ event }) => (event === undefined ? [] : [(event as { type: string }).type]));
    assert.deepEqual(kept, ['system', 'thinking', 'system', 'a_type_of_tomorrow']);
    assert.deepEqual(run.of('runner_warning'), []);
  });

  it('fails when it calls an error a success', async () => {
    const { end, of } = await project.run([tool('claude_lies', 'claude', 'play claude-lies.jsonl')]);
    assert.deepEqual([end.state, end.code, end.rc], ['failed', 'E_TOOL_FAILED', 0]);
    const [error] = of('error');
    assert.equal(error!.msg, 'API Error: 529 overloaded');
    assert.deepEqual(error!.data, { terminal_reason: 'api_error', subtype: 'success', is_error: true });
    assert.equal(of('result').length, 0);
  });

  const QUESTION = {
    question: 'Which?',
    header: 'Choice',
    options: [{ label: 'A', description: 'The first' }, { label: 'B' }],
    multiSelect: false,
  };
  const request = (id: string, fields: object) =>
    `echo '${JSON.stringify({ type: 'control_request', request_id: id, request: fields })}'; read -r heard; printf '%s\\n' "$heard" >&2`;
  const asksForTool = (tool_name: string, input: object, more: object = {}) => ({
    subtype: 'can_use_tool',
    tool_name,
    input,
    ...more,
  });
  const ENDS =
    'echo \'{"type":"result","subtype":"success","is_error":false,"result":"ok"}\'\nwhile read -r line; do :; done; exit 0';
  const heardBy = (events: readonly Record<string, unknown>[]) =>
    events.map(({ line }) => JSON.parse(String(line)).response);

  it('may ask, and gets the answers on its standard input until its final message', async () => {
    const questions = [
      request(
        'ask-1',
        asksForTool('AskUserQuestion', { questions: [QUESTION] }, { requires_user_interaction: true }),
      ),
      request('ask-2', asksForTool('Bash', { command: 'rm -rf x' })),
      request('ask-3', {
        subtype: 'elicitation',
        mcp_server_name: 'acor',
        message: 'Your name?',
        mode: 'form',
        requested_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      }),
      request(
        'ask-4',
        asksForTool('AskUserQuestion', {
          questions: [QUESTION, { ...QUESTION, question: 'Which more?', multiSelect: true }],
        }),
      ),
      request('ask-5', { subtype: 'hook_callback' }),
    ];
    const name = tool(
      'claude_asks',
      'claude',
      `${questions.join('\n')}\n${ENDS}`,
      'actions: [AskUserQuestion, can_use_tool, elicitation]\n',
    );
    const answers = project.write(
      'answers.json',
      JSON.stringify({
        'ask-2': { deny: 'Use git clean.' },
        elicitation: { name: 'Ada' },
        'ask-4': { 'Which?': 'something else', 'Which more?': ['A', 'B'] },
      }),
    );
    // The first question is answered while the run waits for it.
    const asked = await project.acor(['run', name, '--answers', answers]);
    assert.equal(asked.code, 2, asked.stdout + asked.stderr);
    const [question] = parseLines(asked.stdout).filter(({ type }) => type === 'action_required');
    assert.deepEqual(
      [question!.action_id, question!.action, question!.audience, question!.msg, question!.blocking],
      ['ask-1', 'AskUserQuestion', 'user', 'Which?', true],
    );
    assert.deepEqual(question!.options, [
      { id: 'A', label: 'A', description: 'The first' },
      { id: 'B', label: 'B' },
    ]);
    const runId = String(question!.run_id);
    assert.equal((await project.envelope(['answer', runId, 'ask-1', '--choice', 'A'])).ok, true);
    assert.equal((await project.envelope(['wait', runId])).data.state, 'completed');
    const events = project.events(runId);
    const heard = heardBy(events.filter(({ type }) => type === 'diagnostic'));
    const allowed = (questions: object[], given: object) => ({
      behavior: 'allow',
      updatedInput: { questions, answers: given },
    });
    assert.deepEqual(heard, [
      { subtype: 'success', request_id: 'ask-1', response: allowed([QUESTION], { 'Which?': 'A' }) },
      { subtype: 'success', request_id: 'ask-2', response: { behavior: 'deny', message: 'Use git clean.' } },
      { subtype: 'success', request_id: 'ask-3', response: { action: 'accept', content: { name: 'Ada' } } },
      {
        subtype: 'success',
        request_id: 'ask-4',
        response: allowed([QUESTION, { ...QUESTION, question: 'Which more?', multiSelect: true }], {
          'Which?': 'something else',
          'Which more?': 'A, B',
        }),
      },
      { subtype: 'error', request_id: 'ask-5', error: "ACOR does not answer 'hook_callback'" },
    ]);
    // ACOR closed its input, so it could exit by itself.
    assert.deepEqual(
      events.filter(({ type }) => type === 'runner_warning'),
      [],
    );
  });
});

/** A value of any kind, including those that break code which trusts its input. */
function anything(random: SeededRandom, depth = 0): unknown {
  const plain = [
    '',
    'x',
    '[PROGRESS] y',
    '[FILES_MODIFIED]\n- . (created)\n- a\0b (deleted)',
    0,
    -1.5,
    true,
    null,
    'success',
    'tool_result',
  ];
  if (random.chance(0.2)) return { toString: 1, valueOf: 1 };
  if (depth > 3 || random.chance(0.5)) return random.pick(plain);
  if (random.chance(0.3)) return Array.from({ length: random.below(3) }, () => anything(random, depth + 1));
  const names = [
    'type',
    'text',
    'toString',
    'content',
    'message',
    'path',
    'kind',
    'label',
    'questions',
    'options',
    'constructor',
  ];
  return Object.fromEntries(
    names.flatMap((name) => (random.chance(0.4) ? [[name, anything(random, depth + 1)]] : [])),
  );
}

/** Replaces some values by anything; the types stay, so that the adapter reads the rest. */
function spoil(holder: Record<string, unknown>, random: SeededRandom): void {
  for (const [name, value] of Object.entries(holder)) {
    if (name === 'type') continue;
    if (random.chance(0.3)) holder[name] = anything(random);
    else if (typeof value === 'object' && value !== null) spoil(value as Record<string, unknown>, random);
  }
}

it('with random values does not break the run in any adapter', async () => {
  for (const [adapter, recorded] of [
    ['codex', 'codex.jsonl'],
    ['claude', 'claude.jsonl'],
    ['gemini', 'gemini.jsonl'],
    ['jsonl-map', 'codex.jsonl'],
  ] as const) {
    const random = new SeededRandom(adapter.length);
    const lines = readFileSync(join(STREAMS, recorded), 'utf8').trim().split('\n');
    const hostile = Array.from({ length: 600 }, () => {
      const event = JSON.parse(random.pick(lines));
      spoil(event, random);
      if (adapter === 'claude' && random.chance(0.1))
        return {
          type: 'control_request',
          request_id: anything(random),
          request: {
            subtype: random.pick(['elicitation', 'can_use_tool']),
            tool_name: 'AskUserQuestion',
            input: random.chance(0.5)
              ? anything(random)
              : { questions: [{ question: anything(random), options: [{ label: anything(random) }] }] },
            requested_schema: anything(random),
          },
        };
      return event;
    });
    const map =
      adapter === 'jsonl-map'
        ? 'map: [{ when: { type: item.completed }, to: artifact, fields: { path: $.item.text, change: $.item.status } }, { to: progress, fields: { msg: $.item, pct: "$.item.id * 2" } }]\n'
        : '';
    const name = tool(`hostile_${adapter}`, adapter, 'play hostile.jsonl', map);
    project.write(
      `tools/${name}/streams/hostile.jsonl`,
      hostile.map((each) => JSON.stringify(each)).join('\n'),
    );
    const { end, events } = await project.run([name]);
    assert.notEqual(end.code, 'E_STORAGE', adapter);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
      adapter,
    );
    assert.deepEqual(project.events(String(end.run_id)), events, adapter);
    assert.equal((await project.envelope(['verify', String(end.run_id)])).code, 0, adapter);
    assert.ok(Number(end.events) > 200, `${adapter}: ${end.events} events`);
  }
});

describe('the stream of gemini', () => {
  it('becomes events, with text in several parts', async () => {
    const run = await project.run([tool('gemini_good', 'gemini', 'play gemini.jsonl')]);
    assert.equal(run.end.state, 'completed');
    assert.deepEqual(messages(run.of('progress')), ['Reading the code', 'src/a.ts']);
    const [result] = run.of('result');
    assert.deepEqual(result!.data, { output: 'The file is not there.' });
    assert.deepEqual(result!.metrics, {
      model: 'gemini-test',
      input_tokens: 100,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 20,
      reasoning_tokens: 0,
      tool_calls: 1,
      duration_s: 4,
    });
    assert.deepEqual(
      run
        .of('log')
        .filter(({ level }) => level === 'warn')
        .map(({ msg }) => msg),
      ['File not found: src/a.ts', 'Loop detected, going on'],
    );
    assert.equal(run.of('start')[0]!.model, 'gemini-test');
  });

  it('reports an end with an error, whatever the exit code', async () => {
    const word = {
      type: 'result',
      status: 'error',
      error: { type: 'FatalTurnLimitedError', message: 'too many turns' },
    };
    const { end, of } = await project.run([
      tool('gemini_failed', 'gemini', `echo '${JSON.stringify(word)}'`),
    ]);
    assert.deepEqual([end.state, of('error')[0]!.msg], ['failed', 'too many turns']);
  });
});

describe('a program that reports by markers', () => {
  it('becomes events, and its files are checked against the disk', async () => {
    mkdirSync(project.path('repo'));
    for (const file of ['old.ts', 'kept.ts', 'left.ts']) project.write(`repo/${file}`, 'before');
    const madeMs = statSync(project.path('repo/left.ts')).ctimeMs;
    await until(() => Date.now() > madeMs + 200);
    const script = [
      'echo "Working."',
      'echo "[PROGRESS] Begun"',
      'printf new > "$1/new.ts"; printf new > own.ts; printf changed > "$1/old.ts"; printf changed > "$1/kept.ts"',
      'printf "[QUESTION] Which?\\r\\nOptions:\\r\\n1. a - first\\r\\n2. b\\r\\n\\r\\nThis matters.\\r\\n"',
      'echo "[FILES_MODIFIED]"',
      'for file in "new.ts (created)" "own.ts (created)" "old.ts (modified)" "kept.ts (created)" "left.ts (modified)" "left.ts.gone (deleted)" "missing.ts (created)" "/etc/passwd (modified)"; do echo "- $file"; done',
      'echo; echo "[TEST_RESULTS] 3 passed, 1 failed"; echo "[PROGRESS"; echo; echo "After it."',
      'printf "[CODEX_COMPLETE] Task completed in 8 iterations"',
    ].join('\n');
    const name = tool(
      'marks',
      'markers',
      script,
      'inputs: [{ name: repo, type: path, access: write, required: true, positional: true }]\n',
    );
    const run = await project.run([name, 'repo']);
    assert.equal(run.end.state, 'completed');
    const [result] = run.of('result');
    assert.deepEqual(result!.metrics, { iterations: 8 });
    const { output, files } = result!.data as { output: string; files: { path: string; holds: boolean }[] };
    assert.equal(output, 'Task completed in 8 iterations');
    assert.deepEqual(
      files.map(({ path, holds }) => [path, holds]),
      [
        ['new.ts', true],
        ['own.ts', true],
        ['old.ts', true],
        ['kept.ts', false],
        ['left.ts', false],
        ['left.ts.gone', false],
        ['missing.ts', false],
        ['/etc/passwd', false],
      ],
    );
    assert.deepEqual(
      run.of('runner_warning').map(({ msg }) => String(msg).replace(/^the tool says that it has /, '')),
      [
        'created kept.ts, and it was there before the run',
        'modified left.ts, and it has not changed since the run began',
        'deleted left.ts.gone, and there was no such file before',
        'created missing.ts, and there is no such file',
        'modified /etc/passwd, which lies outside the workspace and the granted paths',
      ],
    );
    assert.deepEqual(
      run.of('artifact').map(({ path }) => String(path).split('/').at(-1)),
      ['new.ts', 'own.ts', 'old.ts', 'kept.ts'],
    );
    assert.deepEqual(messages(run.of('progress')), ['Begun']);
    const [question] = run.of('action_required');
    assert.deepEqual([question!.msg, question!.context], ['Which?', { text: 'This matters.' }]);
    assert.deepEqual(
      run.of('log').map(({ msg, data }) => (data === undefined || msg === 'FILES_MODIFIED' ? msg : data)),
      [
        'Working.',
        'FILES_MODIFIED',
        { text: '3 passed, 1 failed\n[PROGRESS', passed: 3, failed: 1 },
        'After it.',
        { summary: 'Task completed in 8 iterations', iterations: 8 },
      ],
    );
  });

  it('waits when it is blocked, and continues with the answer', async () => {
    const script =
      'echo "[BLOCKED] Which URL?"; read -r heard; echo "[PROGRESS] $heard"; echo "[CODEX_COMPLETE] done"';
    const name = tool('marks_blocked', 'markers', script, 'actions: [blocked]\n');
    const asked = await project.acor(['run', name]);
    assert.equal(asked.code, 2, asked.stdout + asked.stderr);
    const runId = String(parseLines(asked.stdout)[0]!.run_id);
    assert.equal(project.record(runId)!.state, 'waiting_ai');
    await project.envelope(['answer', runId, 'q-1', '--value', '"http://x"']);
    assert.equal((await project.envelope(['wait', runId])).data.state, 'completed');
    const [progress] = project.events(runId).filter(({ type }) => type === 'progress');
    assert.equal(JSON.parse(String(progress!.msg)).answer, 'http://x');
  });

  it('stays blocked when another of its questions was answered', async () => {
    const script =
      'echo "[QUESTION] Which colour?"; echo "[BLOCKED] Which URL?"; read -r heard; echo "heard $heard"';
    const name = tool('marks_both', 'markers', script, 'actions: [question, blocked]\n');
    const asked = await project.acor(['run', name]);
    const runId = String(parseLines(asked.stdout)[0]!.run_id);
    await project.envelope(['answer', runId, 'q-1', '--value', '"red"']);
    await until(() => project.record(runId)!.state === 'failed');
    const { error } = await project.envelope(['wait', runId]);
    assert.deepEqual([error.details.state, error.code], ['failed', 'E_ACTION_REQUIRED']);
    const [heard] = project.events(runId).filter(({ msg }) => /^heard /.test(String(msg)));
    assert.match(String(heard?.msg), /"answer":"red"/);
  });

  it('stays blocked although its script prints a completion by itself', async () => {
    const script = 'echo "[BLOCKED] Which URL?"; echo "[CODEX_COMPLETE] Task completed in 1 iterations"';
    const run = await project.run([tool('marks_both_ends', 'markers', script)]);
    assert.deepEqual([run.end.state, run.end.code], ['failed', 'E_ACTION_REQUIRED']);
    const going = await project.run([
      tool('marks_on', 'markers', script.replace('; ', '; echo "[PROGRESS] Found"; ')),
    ]);
    assert.equal(going.end.state, 'completed', 'a program that makes progress is not blocked');
  });

  it('takes the number or the label of an option for the option', async () => {
    const script =
      'printf "[BLOCKED] x\\n\\n[QUESTION] Where?\\nOptions:\\n1. Cookie - sent\\n2. Storage - kept\\n\\n"; read -r a; read -r b; echo "[CODEX_COMPLETE] $a $b"';
    const name = tool('marks_options', 'markers', script, 'actions: [question, blocked]\n');
    for (const given of ['2', '"2"', 'storage']) {
      const run = await project.run([name, '--answer', `question=${given}`, '--answer', 'blocked=go']);
      assert.equal(run.end.state, 'completed', run.stdout);
      const answers = run.of('action_answered').map(({ action, answer }) => [action, answer]);
      assert.deepEqual(Object.fromEntries(answers), { question: '2', blocked: 'go' }, given);
    }
  });

  it('keeps the markers that its manifest names, with their text', async () => {
    const script = 'printf "[MY_OWN] one\\ntwo\\n\\n[SHORT] a\\nb\\n[CODEX_COMPLETE] done\\n"';
    const manifest = 'markers: [{ name: MY_OWN, reach: block }, { name: SHORT }]\n';
    const run = await project.run([tool('marks_own', 'markers', script, manifest)]);
    const own = run.of('log').filter(({ marker }) => marker === 'MY_OWN' || marker === 'SHORT');
    assert.deepEqual(
      own.map(({ data }) => data),
      [{ text: 'one\ntwo' }, { text: 'a' }],
    );
  });

  it('does not believe that it deleted a file that never was', async () => {
    const script =
      '>made; rm made "$1/there.ts"; printf "[FILES_MODIFIED]\\n- gone.ts (deleted)\\n- there.ts (deleted)\\n- made (created)\\n- made (deleted)\\n\\n[CODEX_COMPLETE] done\\n"';
    project.write('gone/there.ts', 'x');
    const manifest =
      'inputs: [{ name: repo, type: path, access: write, required: true, positional: true }]\npermissions: { level: standard, commands: [rm] }\n';
    const run = await project.run([tool('marks_gone', 'markers', script, manifest), 'gone']);
    const { files } = run.of('result')[0]!.data as { files: object[] };
    assert.deepEqual(files, [
      { path: 'gone.ts', change: 'deleted', holds: false },
      { path: 'there.ts', change: 'deleted', holds: true },
    ]);
    assert.match(
      String(run.of('runner_warning')[0]!.msg),
      /deleted gone.ts, and there was no such file before/,
    );
  });

  it('offers the command that starts it again with an answer to what it asked', async () => {
    const script =
      'printf "[QUESTION] Where?\\nOptions:\\n1. Cookie\\n2. Storage\\n\\n[CODEX_COMPLETE] done\\n"';
    const name = tool('marks_asks', 'markers', script);
    const { data, meta } = await project.envelope(['run', name, '--no-stream']);
    assert.equal(data.questions[0].action_id, 'q-1');
    assert.deepEqual(meta.next, [`acor run --answer q-1=1 ${name}`, `acor run --answer q-1=2 ${name}`]);
    const again = await project.envelope([...splitCommand(meta.next[1])!.slice(1), '--no-stream']);
    assert.deepEqual([again.ok, again.data.questions], [true, undefined]);
  });

  it('offers one command with an answer to each of several questions', async () => {
    const script =
      'printf "[QUESTION] Where?\\nOptions:\\n1. Cookie\\n2. Storage\\n\\n[QUESTION] When?\\nOptions:\\n1. Now\\n2. Later\\n\\n[CODEX_COMPLETE] done\\n"';
    const name = tool('marks_both', 'markers', script);
    const { meta } = await project.envelope(['run', name, '--no-stream']);
    assert.deepEqual(meta.next, [`acor run --answer q-1=1 --answer q-2=1 ${name}`]);
    const again = await project.envelope([...splitCommand(meta.next[0])!.slice(1), '--no-stream']);
    assert.deepEqual([again.ok, again.data.questions], [true, undefined]);
  });

  it('says in the answer what it is blocked by, with its context', async () => {
    const script = 'printf "[BLOCKED] Which URL?\\nSee .env\\n\\n[CODEX_COMPLETE] done\\n"';
    const { error } = await project.envelope([
      'run',
      tool('marks_blocked', 'markers', script),
      '--no-stream',
    ]);
    const [{ msg, context }] = error.details.questions;
    assert.deepEqual([error.code, msg, context], ['E_ACTION_REQUIRED', 'Which URL?', { text: 'See .env' }]);
  });

  it('is not completed when it exits while blocked, nor when it never reports completion', async () => {
    const blocked = await project.run([tool('marks_left', 'markers', 'echo "[BLOCKED] Which URL?"')]);
    assert.deepEqual([blocked.end.state, blocked.end.code], ['failed', 'E_ACTION_REQUIRED']);
    const strict = await project.run([tool('marks_strict', 'markers', 'echo hello', 'strict: true\n')]);
    assert.equal(strict.end.code, 'E_NO_RESULT');
  });
});

describe('JSONL of another program', () => {
  const MAP = `map:
  - { when: { message_type: status }, to: progress, fields: { pct: $.percent_done * 100, msg: "$.current_files[0]", done: $.files_done } }
  - { when: { message_type: error }, to: log, fields: { level: warn, msg: $.error.message, item: $.item } }
  - { when: { message_type: summary }, to: result, fields: { data: $, metrics: { files: $.files_new, seconds: $.total_duration } } }
`;

  it('is mapped by the rules of the manifest; lines without a rule are kept', async () => {
    const run = await project.run([tool('restic', 'jsonl-map', 'play restic.jsonl', MAP)]);
    assert.equal(run.end.state, 'completed');
    assert.deepEqual(
      run.of('progress').map(({ pct, msg, done }) => [pct, msg, done]),
      [
        [7, undefined, 0],
        [100, '/srv/b', 3],
      ],
    );
    const [result] = run.of('result');
    assert.deepEqual(result!.metrics, { files: 2, seconds: 0.5 });
    assert.equal((result!.data as { snapshot_id: string }).snapshot_id, '1122aabb');
    const logs = run.of('log');
    assert.deepEqual([logs[1]!.level, logs[1]!.msg, logs[1]!.item], ['warn', 'permission denied', '/srv/c']);
    assert.deepEqual((logs[0]!.event as { message_type: string }).message_type, 'verbose_status');
    assert.equal(run.of('runner_log')[0]!.line, 'not json at all');
    assert.deepEqual(run.of('runner_warning'), []);
  });

  it('may name files, which are checked against the disk', async () => {
    const rule =
      'map: [{ when: { e: wrote }, to: artifact, fields: { path: $.file, change: created } }, { when: { e: end }, to: result }]\n';
    const script =
      'printf x > a.txt; echo \'{"e":"wrote","file":"a.txt"}\'; echo \'{"e":"wrote","file":"b.txt"}\'; echo \'{"e":"end"}\'';
    const run = await project.run([tool('writer', 'jsonl-map', script, rule)]);
    assert.deepEqual([run.end.state, run.of('artifact').length], ['completed', 1]);
    assert.deepEqual(
      run.of('runner_warning').map(({ path }) => path),
      ['b.txt'],
    );
  });

  it('is rejected with invalid rules: each mistake is reported with its place', async () => {
    tool(
      'mismapped',
      'jsonl-map',
      ':',
      'map:\n  - when: { a: 1 }\n    to: progress\n    fields:\n      pct: $.a *\n  - to: log\n',
    );
    const { error } = await project.envelope(['run', 'mismapped']);
    assert.equal(error.code, 'E_MANIFEST_INVALID');
    assert.match(error.message, /tool\.yaml:8:12: '\$\.a \*' is not a valid path/);
    assert.deepEqual(
      error.details.problems.map(({ rule, line, column }: Record<string, unknown>) => [rule, line, column]),
      [
        ['map-path', 8, 12],
        ['map-field', 9, 5],
      ],
    );
  });
});

describe('a program whose lines are mapped by patterns', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
  });
  after(() => project[Symbol.dispose]());

  const tool = (name: string, script: string, manifest: string) => {
    project.write(`tools/${name}/main`, `#!/bin/bash\n${script}\n`, 0o755);
    project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n${manifest}`);
  };

  it('reports progress from stderr, line by line and where a line is overwritten', async () => {
    tool(
      'transfers',
      `printf ' 10%%, ETA 9s\\r 42.5%%, ETA 5s\\r' >&2; echo 'kept for people' >&2; echo 'Checked 3 files'; echo result`,
      [
        'adapter: text-map',
        'from: both',
        'map:',
        "  - { match: '(?<pct>[0-9.]+)%, ETA (?<eta>\\S+)', to: progress, fields: { pct: $.pct, msg: $.line, eta: $.eta } }",
        "  - { match: 'Checked (?<n>\\d+) files', to: log, fields: { msg: $.n, files: $.n } }",
        '',
      ].join('\n'),
    );
    const { of, end, stdout } = await project.run(['transfers']);
    assert.equal(end.state, 'completed', stdout);
    assert.deepEqual(
      of('progress').map(({ pct, eta }) => [pct, eta]),
      [
        [10, '9s'],
        [42.5, '5s'],
      ],
    );
    assert.deepEqual([of('log')[0]!.msg, of('log')[0]!.files], ['3', 3]);
    assert.deepEqual(of('result')[0]!.data, { output: 'result' });
    assert.equal(of('diagnostic').length, 1);
    assert.deepEqual(of('runner_warning'), []);
  });

  it('makes a number of a text that the number is written as, or where the rule says so', async () => {
    tool(
      'ids',
      "echo 'id 00123 version 1.10 size 0.50 42 8.5'; echo '07.0%'",
      [
        'adapter: text-map',
        'map:',
        "  - match: 'id (?<id>\\S+) version (?<version>\\S+) size (?<size>\\S+) (?<n>\\S+) (?<rate>\\S+)'",
        '    to: log',
        "    fields: { msg: $.id, data: { id: $.id, version: $.version, size: '$.size * 100', n: $.n, rate: $.rate } }",
        "  - { match: '(?<pct>[0-9.]+)%', to: progress, fields: { pct: $.pct } }",
        '',
      ].join('\n'),
    );
    const { of, end, stdout } = await project.run(['ids']);
    assert.equal(end.state, 'completed', stdout);
    assert.equal(of('log')[0]!.msg, '00123');
    assert.deepEqual(of('log')[0]!.data, { id: '00123', version: '1.10', size: 50, n: 42, rate: 8.5 });
    assert.equal(of('progress')[0]!.pct, 7);
    assert.deepEqual(of('runner_warning'), []);
  });

  it('maps the JSON lines of stderr, and keeps the other lines for people', async () => {
    tool(
      'copies',
      `echo '{"level":"info","stats":{"pct":50}}' >&2; echo 'no json' >&2; echo 'on stdout'`,
      'adapter: jsonl-map\nfrom: stderr\nmap:\n  - { when: { level: info }, to: progress, fields: { pct: $.stats.pct } }\n',
    );
    const { of, end } = await project.run(['copies']);
    assert.equal(end.state, 'completed');
    assert.deepEqual([of('progress')[0]!.pct, of('diagnostic')[0]!.line], [50, 'no json']);
    assert.equal(of('log')[0]!.msg, 'on stdout');
  });

  it('is not held up by a line that makes other engines search for ever', async () => {
    tool(
      'hostile',
      `head -c 100000 /dev/zero | tr '\\0' a; echo; echo '5%'`,
      "adapter: text-map\nmap:\n  - { match: '(?<x>(a+)+)b', to: log, fields: { msg: $.x } }\n  - { match: '(?<pct>\\d+)%', to: progress, fields: { pct: $.pct } }\n",
    );
    const { of, end } = await project.run(['hostile']);
    assert.equal(end.state, 'completed');
    assert.equal(of('progress')[0]!.pct, 5);
  });

  it('has its mistakes reported with their place', async () => {
    tool(
      'wrong',
      'true',
      "adapter: text-map\nmap:\n  - { match: '(?=x)', to: heartbeat }\n  - { when: { a: 1 }, to: heartbeat }\n",
    );
    const { error } = await project.envelope(['run', 'wrong']);
    const rules = error.details.problems.map(({ rule, line }: { rule: string; line: number }) => [
      rule,
      line,
    ]);
    assert.deepEqual(rules, [
      ['pattern', 5],
      ['map-match', 6],
    ]);
  });
});
