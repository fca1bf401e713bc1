import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { RunRequest } from '../../src/core/run/run-request.ts';
import { type EndedFlow, FlowsInMemory } from '../support/flows-in-memory.ts';
import { reachedInTime } from '../support/in-time.ts';
import { type Event, until } from '../support/project.ts';

const OK = `echo '{"type":"result","status":"ok"}'\n`;

// Real tools whose runs are supervised in this process.
describe('the run of a tool', () => {
  let flows: FlowsInMemory;
  let count = 0;
  before(async () => {
    flows = await FlowsInMemory.open(['needs_three_tries']);
  });
  after(() => flows[Symbol.dispose]());
  afterEach(() => {
    count++;
  });

  /** A tool of its own for each test: its script, and further lines of its manifest. */
  async function toolOf(script: string, manifest = ''): Promise<string> {
    const name = `t${count++}`;
    flows.project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n${manifest}`);
    flows.project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}`, 0o755);
    return name;
  }

  async function start(script: string, manifest = '', args: string[] = [], more: Partial<RunRequest> = {}) {
    return flows.startOf({ kind: 'tool', tool: await toolOf(script, manifest), args, ...more });
  }

  async function run(...given: Parameters<typeof start>): Promise<EndedFlow> {
    return flows.ended(await start(...given));
  }

  const warnings = ({ of }: EndedFlow) => of('runner_warning').map(({ msg }) => String(msg));

  it('is summarised with all that is known of it', async () => {
    const { summary, runId, events } = await run(`${OK}echo out >&2\n`);
    const { duration_s, next, ...rest } = summary;
    assert.deepEqual(rest, {
      run_id: runId,
      tool: `t${count - 1}`,
      state: 'completed',
      code: null,
      message: null,
      hint: null,
      retryable: false,
      rc: 0,
      signal: null,
      attempt: 1,
      events: events.length,
      artifacts: [],
      survivors: [],
      result: rest.result,
      warnings: [],
      dir: flows.services.workspaces.of(runId).dir,
    });
    assert.deepEqual([next, rest.result?.['status']], [[], 'ok']);
    assert.ok(duration_s > 0);
    const [begun] = events;
    assert.deepEqual(
      [begun!.type, begun!.kind, begun!.attempt, begun!.timeout_s, 'parent_span_id' in begun!],
      ['runner_start', 'tool', 1, 1800, false],
    );
    assert.deepEqual(
      events.filter(({ type }) => type === 'runner_state').map(({ from, to }) => [from, to]),
      [
        ['queued', 'running'],
        ['running', 'completed'],
      ],
    );
  });

  it('that failed says what its program said, or that it said nothing', async () => {
    const named = await run('echo "ValueError: no rows" >&2\nexit 1\n', 'adapter: plain\n');
    assert.deepEqual(
      [named.summary.code, named.summary.rc, named.summary.message],
      ['E_TOOL_FAILED', 1, `${named.summary.message!.split(': ')[0]}: ValueError: no rows`],
    );
    const silent = await run('exit 1\n', 'adapter: plain\n');
    assert.equal(silent.summary.hint, 'It wrote nothing to stderr: its output may say why.');
    const own = await run(
      `echo "ValueError: no rows" >&2\necho '{"type":"error","code":"E_TOOL_FAILED","msg":"mine"}'\nexit 30\n`,
    );
    assert.equal(own.summary.message, 'mine');
    const other = await run(
      `echo "ValueError: no" >&2\necho '{"type":"error","code":"E_DISK_FULL","msg":"mine"}'\nexit 30\n`,
    );
    assert.equal(other.summary.message, 'mine');
  });

  it('warns of an exit code that its manifest does not list, but not of a cancelled tool', async () => {
    const failed = await run('exit 7\n');
    assert.deepEqual(warnings(failed), ["exit code 7 is not in the manifest's exit_codes"]);
    const { actual } = failed.of('runner_warning')[0]!;
    assert.equal(actual, 7);
    assert.deepEqual(warnings(await run('exit 9\n', 'exit_codes: { strange: 9 }\n')), []);
    const cancelled = await run(`echo '{"type":"cancelled","reason":"no"}'\nexit 9\n`);
    assert.equal(cancelled.summary.state, 'cancelled');
    assert.deepEqual(warnings(cancelled), []);
  });

  it('warns of a missing result, and of data that does not fit its schema', async () => {
    const bare = await run('exit 0\n');
    assert.equal(bare.summary.state, 'completed');
    assert.match(warnings(bare)[0]!, /^the tool exited with 0 without a result/);
    assert.equal(bare.of('runner_warning')[0]!.code, 'E_NO_RESULT');
    assert.deepEqual(warnings(await run('echo text\n', 'adapter: plain\n')), []);
    const wrong = `echo '{"type":"result","status":"ok","data":{"n":"x"}}'\n`;
    const schema = 'output_schema: { type: object, properties: { n: { type: number } } }\n';
    const warned = await run(wrong, schema);
    assert.equal(warned.summary.state, 'completed');
    assert.match(warnings(warned)[0]!, /^the data of the result does not match output_schema: /);
    const strict = await run(wrong, `${schema}strict: true\n`);
    assert.deepEqual([strict.summary.state, strict.summary.code], ['failed', 'E_RESULT_INVALID']);
    assert.deepEqual(
      warnings(await run(`echo '{"type":"result","status":"ok","data":{"n":1}}'\n`, schema)),
      [],
    );
  });

  describe('with retries', () => {
    const shaky = (code: string, times: number) =>
      `n=$(cat "$CHECKPOINT_DIR/n" 2>/dev/null || echo 0); echo $((n + 1)) >"$CHECKPOINT_DIR/n"
echo "{\\"type\\":\\"log\\",\\"level\\":\\"info\\",\\"msg\\":\\"$ACOR_ATTEMPT $ACOR_RESUME\\"}"
if ((n < ${times})); then echo '{"type":"error","code":"${code}","msg":"not yet","retryable":true}'; exit 20; fi\n${OK}`;
    const retry = (attempts: number, more = '') =>
      `idempotent: true\nretry: { max_attempts: ${attempts}, backoff_s: 0.01 }\n${more}`;

    it('is tried again up to the number of attempts, each with its number', async () => {
      const { summary, of } = await run(shaky('E_TRANSIENT_NET', 2), retry(3));
      assert.deepEqual([summary.state, summary.attempt], ['completed', 3]);
      const logged = of('log').map(({ msg }) => msg);
      assert.deepEqual(logged, ['1 0', '2 1', '3 1']);
      assert.deepEqual(
        of('runner_warning').map(({ code, msg, attempt }) => [code, msg, attempt]),
        [1, 2].map((attempt) => [
          'E_TRANSIENT_NET',
          `attempt ${attempt} of 3 failed: not yet; trying again`,
          attempt,
        ]),
      );
      assert.ok(of('runner_warning').every(({ retry_in_s }) => Number(retry_in_s) <= 0.02));
      const two = await run(shaky('E_TRANSIENT_NET', 2), retry(2));
      assert.deepEqual([two.summary.state, two.summary.attempt, two.of('log').length], ['failed', 2, 2]);
    });

    it('is not tried again for an error that another try does not help, nor when the caller wants none', async () => {
      const script = `echo '{"type":"error","code":"E_DISK_FULL","msg":"full"}'; exit 30\n`;
      assert.equal((await run(script, retry(3))).summary.attempt, 1);
      const none = await run(shaky('E_TRANSIENT_NET', 1), retry(3), [], { retries: 0 });
      assert.deepEqual([none.summary.state, none.summary.attempt], ['failed', 1]);
      const one = await run(shaky('E_TRANSIENT_NET', 1), '', [], { retries: 1 });
      assert.deepEqual([one.summary.state, one.summary.attempt], ['completed', 2]);
    });

    it('is not tried again when it was stopped and its effects are unknown', async () => {
      const manifest = 'heartbeat_grace_s: 0.3\nretry: { max_attempts: 2, backoff_s: 0.01 }\n';
      const { summary } = await run('sleep 600\n', manifest);
      assert.deepEqual([summary.code, summary.attempt], ['E_OUTCOME_UNKNOWN', 1]);
      assert.match(
        summary.message!,
        /; not retried, because the effects of the stopped tool are unknown \(E_HEARTBEAT_MISSED\)$/,
      );
      assert.deepEqual(
        summary.next.map((step) => ('operation' in step ? [step.operation, step.input['force']] : [])),
        [
          ['run.logs', undefined],
          ['run.resume', true],
        ],
      );
    });

    it('ends as cancelled while it waits for the next attempt', async () => {
      const running = await start(
        shaky('E_TRANSIENT_NET', 9),
        'idempotent: true\nretry: { max_attempts: 3, backoff_s: 200, max_backoff_s: 200 }\n',
      );
      await flows.stored(running.runId, ({ msg }) => /trying again/.test(String(msg)));
      await running.cancel('enough');
      const { summary } = await flows.ended(running);
      assert.deepEqual([summary.state, summary.message], ['cancelled', 'enough']);
    });

    it('does not wait for an attempt that would come after the deadline', async () => {
      const { summary } = await run(
        shaky('E_TRANSIENT_NET', 9),
        'timeout_s: 30\nidempotent: true\nretry: { max_attempts: 3, backoff_s: 200, max_backoff_s: 200 }\n',
      );
      assert.deepEqual([summary.code, summary.attempt], ['E_TRANSIENT_NET', 1]);
    });
  });

  describe('with outputs', () => {
    const inputs = (...more: string[]) =>
      `inputs: [${['{ name: out, type: path, access: write }', ...more].join(', ')}]\n`;
    const WRITES = `echo new >"$2"\n${OK}`;
    const fresh = () => flows.project.path(`out-${count++}`);

    it('puts a new one in place when it completes, and not when it fails', async () => {
      const path = fresh();
      const { summary, of } = await run(WRITES, inputs(), ['--out', path]);
      assert.deepEqual([summary.state, readFileSync(path, 'utf8')], ['completed', 'new\n']);
      assert.deepEqual(
        of('artifact').map((artifact) => artifact.path),
        [path],
      );
      assert.deepEqual(
        summary.artifacts.map((artifact) => artifact.path),
        [path],
      );
      const failed = fresh();
      assert.equal(
        (await run('echo new >"$2"; exit 30\n', inputs(), ['--out', failed])).summary.state,
        'failed',
      );
      assert.equal(existsSync(failed), false);
    });

    it('replaces a file, which keeps its mode, and leaves one that it did not change', async () => {
      const path = fresh();
      writeFileSync(path, 'old\n');
      chmodSync(path, 0o640);
      const { summary } = await run(`cat "$2" >&2\n${WRITES}`, inputs(), ['--out', path]);
      assert.equal(summary.state, 'completed');
      assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).mode & 0o777], ['new\n', 0o640]);
      const { ino } = statSync(path);
      const same = await run(OK, inputs(), ['--out', path]);
      assert.deepEqual([warnings(same), same.of('artifact'), statSync(path).ino], [[], [], ino]);
    });

    it('warns of one that was not written', async () => {
      const path = fresh();
      assert.deepEqual(warnings(await run(OK, inputs(), ['--out', path])), [
        `the tool did not write its output 'out': ${path}`,
      ]);
    });

    it('may be folders', async () => {
      const path = fresh();
      const { summary } = await run(`mkdir "$2"; echo a >"$2/a"\n${OK}`, inputs(), ['--out', path]);
      assert.deepEqual([summary.state, readFileSync(`${path}/a`, 'utf8')], ['completed', 'a\n']);
    });

    it('fails without a change when another process took or changed a target meanwhile, and says how to keep the rest', async () => {
      for (const [before, meanwhile, why] of [
        [undefined, 'file', 'another process created it while the run worked'],
        [undefined, 'folder', 'another process created it while the run worked'],
        ['old\n', 'changes', 'another process changed it while the run worked'],
      ] as const) {
        const path = fresh();
        if (before !== undefined) writeFileSync(path, before);
        const script = meanwhile === 'folder' ? `mkdir "$2"\n` : `echo new >"$2"\n`;
        const running = await start(
          `${script}touch "$4.ready"; until [ -e "$4" ]; do sleep 0.05; done\n${OK}`,
          inputs('{ name: go }'),
          ['--out', path, '--go', `${path}.go`],
        );
        await until(() => existsSync(`${path}.go.ready`));
        if (meanwhile === 'folder') mkdirSync(path);
        else writeFileSync(path, 'theirs, and longer\n');
        writeFileSync(`${path}.go`, '');
        const { summary } = await flows.ended(running);
        assert.deepEqual(
          [summary.state, summary.code, summary.message],
          ['failed', 'E_CONFLICT', `cannot put the output in place at ${path}: ${why}`],
        );
        assert.match(
          summary.hint!,
          /^The workspace still has the outputs\. Compare them with what is there: diff -r .* Only if that may be replaced, move them: mv /,
        );
        if (meanwhile !== 'folder') assert.equal(readFileSync(path, 'utf8'), 'theirs, and longer\n');
      }
    });

    it('changes none of several when one cannot be placed', async () => {
      const [one, two, three] = [fresh(), fresh(), fresh()];
      writeFileSync(one, 'old\n');
      const more = [
        '{ name: two, type: path, access: write }',
        '{ name: three, type: path, access: write }',
        '{ name: go }',
      ];
      const running = await start(
        `echo a >"$2"; echo b >"$4"; echo c >"$6"; touch "$8.ready"; until [ -e "$8" ]; do sleep 0.05; done\n${OK}`,
        inputs(...more),
        ['--out', one, '--two', two, '--three', three, '--go', `${one}.go`],
      );
      await until(() => existsSync(`${one}.go.ready`));
      writeFileSync(three, 'theirs');
      writeFileSync(`${one}.go`, '');
      const { summary } = await flows.ended(running);
      assert.equal(summary.code, 'E_CONFLICT');
      assert.deepEqual(
        [readFileSync(one, 'utf8'), existsSync(two), readFileSync(three, 'utf8')],
        ['old\n', false, 'theirs'],
      );
      // Each of the three can still be moved by hand.
      assert.equal(summary.hint!.split(' && ').length, 3);
      for (const target of [one, two, three]) assert.ok(summary.hint!.includes(target));
    });

    it('names their final paths in what it writes', async () => {
      const path = fresh();
      const { of } = await run(
        `echo x >"$2"; echo "at $2" >&2; echo "{\\"type\\":\\"log\\",\\"level\\":\\"info\\",\\"msg\\":\\"at $2\\"}"\n${OK}`,
        inputs(),
        ['--out', path],
      );
      assert.equal(of('log')[0]!.msg, `at ${path}`);
      assert.equal(of('diagnostic')[0]!.line, `at ${path}`);
    });
  });

  it('that writes a folder of its caller reports protected files that it changed', async () => {
    const folder = flows.project.path(`granted-${count++}`);
    mkdirSync(folder);
    const { of } = await run(
      `touch "$2/.envrc"\n${OK}`,
      'inputs: [{ name: dir, type: path, access: write }]\n',
      ['--dir', folder],
    );
    assert.deepEqual(of('runner_warning')[0]!.changed, [{ path: `${folder}/.envrc`, change: 'added' }]);
  });

  it('that leaves files in its workspace says where they are', async () => {
    const { of } = await run(`echo x >left.txt\n${OK}`);
    assert.match(String(of('runner_warning')[0]?.msg), /left\.txt/);
  });

  it('has its artifacts hashed, also large ones, in the order of its report', async () => {
    const script = `cd "$ARTIFACTS_DIR"; head -c 9000000 /dev/zero >large.bin; echo x >small.txt\n${OK}`;
    const { summary, of } = await run(script);
    assert.equal(summary.state, 'completed');
    const found = of('artifact').map(({ path, size }) => [String(path).split('/').at(-1), size]);
    assert.deepEqual(found, [
      ['large.bin', 9_000_000],
      ['small.txt', 2],
    ]);
    assert.equal(summary.artifacts.length, 2);
  });

  it('ends at its output limit, with what is within it', async () => {
    const { summary, of } = await run(
      'printf "%0100d" 0; sleep 600\n',
      'adapter: plain\nmax_output_size: 60\n',
    );
    assert.deepEqual(
      [summary.code, summary.message],
      ['E_OUTPUT_LIMIT', 'the tool wrote more than 60 bytes'],
    );
    assert.equal(String(of('log')[0]!.msg).length, 60);
    const exact = await run('printf "%060d" 0\n', 'adapter: plain\nmax_output_size: 60\n');
    assert.equal(exact.summary.state, 'completed');
  });

  it('ends at its deadline, also when it has closed its output', async () => {
    const late = await run('sleep 600\n', 'timeout_s: 0.5\n');
    assert.deepEqual(
      [late.summary.code, late.summary.message],
      ['E_DEADLINE', 'the tool timed out after 0.5 s'],
    );
    const closed = await reachedInTime(async (limitS) => {
      const { summary } = await run('exec >&- 2>&-; sleep 600\n', `timeout_s: ${limitS}\n`);
      return summary.code === 'E_DEADLINE' ? undefined : summary;
    });
    assert.equal(closed.code, 'E_TIMEOUT');
  });

  it('warns of a tool without progress once for each stall, and of heartbeats only as signs of life', async () => {
    const running = await start(
      `echo '{"type":"progress","pct":1}'\nuntil [ -e go ]; do echo '{"type":"heartbeat"}'; sleep 0.1; done\nrm go\nsleep 0.3\n${OK}`,
      'stall_s: 0.2\nheartbeat_grace_s: 30\n',
    );
    const isStall = ({ stalled_for_s }: Event) => stalled_for_s !== undefined;
    await flows.stored(running.runId, isStall);
    writeFileSync(join(flows.services.workspaces.of(running.runId).work, 'go'), '');
    const { of, summary } = await flows.ended(running);
    assert.equal(summary.state, 'completed');
    const stalls = of('runner_warning').filter(isStall);
    assert.equal(stalls.length, 1);
    assert.match(String(stalls[0]!.msg), /^no progress for \d+\.\d s$/);
  });

  it('is cancelled by its cancel file first, then by SIGTERM, then by SIGKILL', async () => {
    const polite = `until [ -e "$CANCEL_FILE" ]; do sleep 0.05; done; echo "{\\"type\\":\\"cancelled\\",\\"reason\\":\\"$(cat "$CANCEL_FILE")\\"}"; exit 130\n`;
    const termed = `trap 'echo "{\\"type\\":\\"log\\",\\"level\\":\\"info\\",\\"msg\\":\\"term\\"}"; exit 143' TERM\necho '{"type":"heartbeat"}'\nwhile :; do sleep 0.02; done\n`;
    const deaf = `trap '' TERM\necho '{"type":"heartbeat"}'\nwhile :; do sleep 0.02; done\n`;
    for (const [script, rc, signal, said] of [
      [`echo '{"type":"heartbeat"}'\n${polite}`, 130, null, 'cancelled'],
      [termed, 143, null, 'log'],
      [deaf, null, 'SIGKILL', undefined],
    ] as const) {
      const running = await start(script);
      await flows.stored(running.runId, ({ type }) => type === 'heartbeat');
      await running.cancel('enough');
      const { summary, of } = await flows.ended(running);
      assert.deepEqual(
        [summary.state, summary.message, summary.rc, summary.signal],
        ['cancelled', 'enough', rc, signal],
      );
      if (said !== undefined) assert.equal(of(said).length, 1);
    }
  });

  it('finds nothing of an earlier attempt in its way when it is resumed', async () => {
    const script = `[ -e "$CANCEL_FILE" ] && exit 9; if [ "$ACOR_RESUME" = 0 ]; then echo '{"type":"heartbeat"}'; sleep 600; fi\n${OK}`;
    const running = await start(script, 'idempotent: true\n');
    await flows.stored(running.runId, ({ type }) => type === 'heartbeat');
    await running.cancel('later');
    await flows.ended(running);
    const { tool } = await flows.services.store.read(running.runId);
    const again = await flows.startOf({
      kind: 'tool',
      tool,
      args: [],
      again: { runId: running.runId, mode: 'resume' },
    });
    const { summary, of } = await flows.ended(again);
    assert.deepEqual([summary.state, summary.attempt], ['completed', 2]);
    assert.deepEqual(
      of('runner_state').map(({ to, reason }) => [to, reason]),
      [
        ['running', undefined],
        ['cancelled', undefined],
        ['queued', 'resume'],
        ['running', undefined],
        ['completed', undefined],
      ],
    );
    const completed = flows.startOf({
      kind: 'tool',
      tool,
      args: [],
      again: { runId: running.runId, mode: 'resume' },
    });
    await assert.rejects(completed, {
      code: 'E_USAGE',
      message: /has completed; there is nothing to resume or retry/,
    });
  });

  it('gets the environment that the contract lists', async () => {
    const { of, runId } = await run(
      `printf '{"type":"result","status":"ok","data":"%s"}\\n' "$(env | grep -Ev '^(PWD|SHLVL|_|OLDPWD|ACOR_INPUTS)=' | sort | tr '\\n' ';')"\n`,
      'inputs: [{ name: n, type: int }]\nenv: { set: { OWN: mine }, allow: [GIVEN] }\n',
      ['--n', '3'],
      { env: { ...flows.project.environment(), GIVEN: 'yes', OTHER: 'no' } },
    );
    const raw = String(of('result')[0]?.data ?? '');
    const env = Object.fromEntries(
      raw
        .split(';')
        .filter(Boolean)
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const layout = flows.services.workspaces.of(runId);
    const { trace_id, span_id } = await flows.services.store.read(runId);
    for (const [name, value] of Object.entries({
      RUN_ID: runId,
      TRACE_ID: trace_id,
      SPAN_ID: span_id,
      TRACEPARENT: `00-${trace_id}-${span_id}-01`,
      WORKSPACE: layout.work,
      CANCEL_FILE: layout.cancelFile,
      LOG_DIR: layout.toolLogs,
      ARTIFACTS_DIR: layout.artifacts,
      CHECKPOINT_DIR: layout.checkpoints,
      ANSWERS_DIR: layout.answers,
      SECRETS_DIR: layout.secrets,
      AI_PROTOCOL_VERSION: '1',
      ACOR_ATTEMPT: '1',
      ACOR_RESUME: '0',
      OWN: 'mine',
      GIVEN: 'yes',
    }))
      assert.equal(env[name], value, name);
    assert.equal(env['OTHER'], undefined);
    assert.ok(Date.parse(env['DEADLINE_TS']!) > Date.now());
  });
});
