import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { processesOf, readRun, TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

describe('acor run', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({
      tools: [
        'silent',
        'endless',
        'closes_stdout',
        'ignores_term',
        'leaves_daemons',
        'flood',
        'endless_line',
        'needs_three_tries',
        'exits_with',
        'result_then_fails',
        'no_result',
        'no_result_strict',
        'wrong_hash',
        'right_hash',
        'shows_environment',
        'reads_stdin',
        'uses_dev_stdout',
        'odd_lines',
        'writes_output',
        'quick',
        'needs_env',
        'prints_json',
        'stalls',
        'silent_once',
      ],
    });
  });
  after(() => project[Symbol.dispose]());

  /** Asserts that no process of the run is alive, and that the runner measured that. */
  function assertNothingLeft(end: Record<string, unknown>): void {
    assert.deepEqual(end.survivors, []);
    assert.deepEqual(processesOf(String(end.run_id)), []);
  }

  describe('its clocks', () => {
    for (const [tool, code] of [
      ['silent', 'E_HEARTBEAT_MISSED'],
      ['endless', 'E_DEADLINE'],
      ['ignores_term', 'E_DEADLINE'],
      ['flood', 'E_OUTPUT_LIMIT'],
      ['endless_line', 'E_OUTPUT_LIMIT'],
    ] as const) {
      it(`stop '${tool}' as ${code}, and leave nothing of it alive`, async () => {
        const { end, code: exit } = await project.run([tool]);
        assert.equal(end.state, 'failed');
        assert.equal(end.code, code);
        assert.equal(exit, 1);
        assertNothingLeft(end);
      });
    }

    it("stop 'closes_stdout' as E_TIMEOUT, and leave nothing of it alive", async () => {
      // The tool must close its output before the deadline: on a busy machine, repeat with a later one.
      for (const timeout of ['0.5', '4', '32']) {
        const { end, code } = await project.run(['--timeout', timeout, 'closes_stdout']);
        assert.deepEqual([end.state, code], ['failed', 1]);
        assertNothingLeft(end);
        if (end.code === 'E_DEADLINE' && timeout !== '32') continue;
        assert.equal(end.code, 'E_TIMEOUT');
        break;
      }
    });

    it('send SIGTERM to a tool that does not read the cancel file, and let it clean up', async () => {
      // The tool must set its trap before the deadline and clean up within the grace period: on a busy machine, repeat with longer ones.
      for (const seconds of ['0.5', '4', '32']) {
        using patient = new TestProject({
          tools: ['cleans_up'],
          config: `version: 1\nenvironment: { cancel_grace_s: ${seconds} }\n`,
        });
        const { end, of } = await patient.run(['--timeout', seconds, 'cleans_up']);
        assert.deepEqual([end.state, end.code], ['failed', 'E_DEADLINE']);
        assertNothingLeft(end);
        if (of('cancelled').length === 0 && seconds !== '32') continue;
        assert.equal(of('cancelled')[0]?.reason, 'SIGTERM');
        break;
      }
    });

    it('do not stop a tool that ends in time', async () => {
      const { end, code } = await project.run(['quick']);
      assert.equal(end.state, 'completed');
      assert.equal(code, 0);
      assertNothingLeft(end);
    });

    it('warn of a tool that sends heartbeats without progress, and do not stop it', async () => {
      const running = project.start(['run', 'stalls']);
      const { run_id } = await running.event('runner_warning');
      project.write(`.runs/${run_id}/work/go`, '');
      const { of, end } = readRun(await running.finished);
      assert.equal(end.state, 'completed');
      assert.equal(of('runner_warning').length, 1);
      assert.match(String(of('runner_warning')[0]!.msg), /^no progress for \d+\.\d s$/);
    });

    it('go by --timeout when it is given, also after the name of the tool', async () => {
      const { of } = await project.run(['--timeout', '0.3', 'endless']);
      assert.equal(of('runner_start')[0]!.timeout_s, 0.3);
    });
  });

  describe('what a tool leaves behind', () => {
    it('dies with it, in a session of its own, forked twice, without its environment, deaf to SIGTERM', async () => {
      const { end, of } = await project.run(['leaves_daemons']);
      assert.equal(end.state, 'completed');
      assert.match(String(of('runner_warning')[0]?.msg), /left \d+ process/);
      assertNothingLeft(end);
      assert.deepEqual(
        commandLines().filter((line) => line === 'sleep\u0000601\u0000'),
        [],
      );
    });
  });

  describe('what a tool leaves behind without a sandbox', () => {
    it('dies with it as well, where no PID namespace takes it along', async () => {
      using open = new TestProject({ tools: ['leaves_daemons'], config: WITHOUT_SANDBOX });
      const { end, of } = await open.run(['leaves_daemons']);
      assert.equal(end.state, 'completed');
      assert.match(String(of('runner_warning')[0]?.msg), /left \d+ process/);
      assertNothingLeft(end);
    });
  });

  describe('the end of a tool', () => {
    it('with retryable_error is tried again as the manifest allows, in the same run', async () => {
      const { end, of } = await project.run(['needs_three_tries']);
      assert.equal(end.state, 'completed');
      assert.equal(end.attempt, 3);
      assert.deepEqual(
        of('error').map((event) => event.msg),
        ['attempt 1', 'attempt 2'],
      );
      assert.deepEqual(of('result')[0]!.data, { attempt: 3, resume: '1' });
      assert.equal(of('runner_warning').length, 2);
    });

    it('by silence is retried for an idempotent tool, without the cancel file of the attempt before', async () => {
      // A busy machine may start a later attempt too slowly as well: then there is one more.
      const { end, of } = await project.run(['silent_once']);
      assert.equal(end.state, 'completed');
      assert.ok(Number(end.attempt) >= 2, `attempt ${end.attempt}`);
      assert.deepEqual(of('result')[0]!.data, { found: false });
    });

    it('with retryable_error is not tried again when --retries 0 says so', async () => {
      const { end, code } = await project.run(['--retries', '0', 'needs_three_tries']);
      assert.deepEqual([end.state, end.code, end.attempt, code], ['failed', 'E_TRANSIENT_NET', 1, 1]);
      assert.ok((end.next as string[]).includes(`acor resume ${end.run_id}`));
    });

    it('with a code that the manifest does not list is a failure and a warning', async () => {
      const { end, of } = await project.run(['exits_with', '7']);
      assert.deepEqual([end.state, end.code, end.rc], ['failed', 'E_TOOL_FAILED', 7]);
      assert.match(String(of('runner_warning')[0]!.msg), /exit code 7 is not in the manifest/);
    });

    it('with fatal_error is a failure without that warning', async () => {
      const { end, of } = await project.run(['exits_with', '30']);
      assert.deepEqual([end.state, end.code, end.rc], ['failed', 'E_TOOL_FAILED', 30]);
      assert.deepEqual(of('runner_warning'), []);
    });

    it('with a result and then another code than 0 is a failure that keeps both', async () => {
      const { end, of } = await project.run(['result_then_fails']);
      assert.deepEqual([end.state, end.code, end.rc], ['failed', 'E_TOOL_FAILED', 7]);
      assert.equal(of('result').length, 1);
    });

    it('without a result is completed with a warning, and a failure when the manifest is strict', async () => {
      const lenient = await project.run(['no_result']);
      assert.equal(lenient.end.state, 'completed');
      assert.equal(lenient.of('runner_warning')[0]!.code, 'E_NO_RESULT');
      const strict = await project.run(['no_result_strict']);
      assert.deepEqual([strict.end.state, strict.end.code, strict.code], ['failed', 'E_NO_RESULT', 1]);
    });
  });

  describe('artifacts', () => {
    it('are hashed by the runner, named in the result or found in ARTIFACTS_DIR', async () => {
      const { end, of } = await project.run(['right_hash']);
      assert.equal(end.state, 'completed');
      assert.deepEqual(
        of('artifact').map((event) => [String(event.path).split('/').at(-1), event.size, event.media_type]),
        [
          ['out.txt', 5, 'text/plain'],
          ['extra.json', 5, 'application/json'],
        ],
      );
    });

    it('with a wrong hash fail the run', async () => {
      const { end, of } = await project.run(['wrong_hash']);
      assert.deepEqual([end.state, end.code], ['failed', 'E_PROTOCOL']);
      assert.match(String(of('runner_error')[0]!.msg), /does not have the sha256/);
    });
  });

  describe('outputs', () => {
    it('are put in place when the run completes', async () => {
      const target = project.path('placed.txt');
      const { end } = await project.run(['writes_output', '--output', 'placed.txt']);
      assert.equal(end.state, 'completed');
      assert.equal(readFileSync(target, 'utf8'), 'made\n');
      assert.deepEqual(
        (end.artifacts as { path: string }[]).map(({ path }) => path),
        [target],
      );
    });

    it('are not put in place when it fails', async () => {
      const { end } = await project.run(['writes_output', '--output', 'absent.txt', '--rc', '30']);
      assert.equal(end.state, 'failed');
      assert.equal(existsSync(project.path('absent.txt')), false);
    });
  });

  describe('what a tool gets', () => {
    it('is the environment that the contract lists, and nothing of the caller’s', async () => {
      const env = {
        SECRET_OF_CALLER: 'x',
        BUN_OPTIONS: '',
        NODE_OPTIONS: '',
        LC_ALL: 'C.UTF-8',
        TRACEPARENT: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      };
      const { of } = await project.run(['shows_environment'], { env });
      const variables = new Map(
        of('log').map((event) => String(event.msg).split(/=(.*)/s).slice(0, 2) as [string, string]),
      );
      assert.deepEqual(
        [...variables.keys()]
          .filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD', 'TMPDIR'].includes(name))
          .sort(),
        [
          'ACOR_ATTEMPT',
          'ACOR_LIB',
          'ACOR_RESUME',
          'AI_PROTOCOL_VERSION',
          'ANSWERS_DIR',
          'ARTIFACTS_DIR',
          'CANCEL_FILE',
          'CHECKPOINT_DIR',
          'DEADLINE_TS',
          'HOME',
          'LANG',
          'LC_ALL',
          'LOG_DIR',
          'PATH',
          'RUN_ID',
          'SECRETS_DIR',
          'SPAN_ID',
          'TRACEPARENT',
          'TRACE_ID',
          'WORKSPACE',
        ],
      );
      assert.equal(variables.get('TRACE_ID'), 'a'.repeat(32));
      assert.equal(variables.get('PWD'), variables.get('WORKSPACE'));
    });

    it('is a standard input at its end, whatever the caller has on its own', async () => {
      const { of } = await project.run(['reads_stdin'], { stdin: 'not for the tool' });
      assert.deepEqual(of('result')[0]!.data, { bytes: 0 });
    });

    it('is streams that can be opened by name', async () => {
      const { end, of } = await project.run(['uses_dev_stdout']);
      assert.equal(end.state, 'completed');
      assert.equal(of('log')[0]!.msg, 'by name');
      assert.equal(of('diagnostic')[0]!.line, 'to stderr by name');
    });

    it('is refused before anything starts when a variable is missing', async () => {
      const { code, error } = await project.envelope(['run', 'needs_env']);
      assert.deepEqual([code, error.code, error.details.missing], [2, 'E_ENV_MISSING', ['NEEDED_BY_TEST']]);
      const { end } = await project.run(['needs_env'], { env: { NEEDED_BY_TEST: '1' } });
      assert.equal(end.state, 'completed');
    });
  });

  describe('lines that are no messages', () => {
    it('are kept, flagged, and harm nothing', async () => {
      const { end, of, events } = await project.run(['odd_lines']);
      assert.equal(end.state, 'completed');
      assert.deepEqual(
        of('runner_log').map((event) => event.msg),
        [
          'non-json stdout',
          'non-json stdout',
          'non-json stdout',
          'a tool may not write events of the runner',
        ],
      );
      assert.equal(of('runner_log')[0]!.line, 'plain words');
      assert.equal(of('made_up').length, 2);
      assert.equal(of('runner_end').length, 1);
      assert.deepEqual(
        of('diagnostic').map((event) => event.line),
        ['a word for people'],
      );
      const [log] = of('log');
      assert.deepEqual([log!.run_id, log!.claimed_run_id, log!.claimed_seq], [end.run_id, 'r-other', 99]);
      const warnings = of('runner_warning').map((event) => String(event.msg));
      for (const expected of [
        /not UTF-8/,
        /'made_up' is unknown/,
        /role: orchestrator/,
        /'pct' must be/,
        /another run's run_id/,
      ]) {
        assert.equal(warnings.filter((msg) => expected.test(msg)).length, 1, String(expected));
      }
      assert.deepEqual(
        events.map((event) => event.seq),
        events.map((_, index) => index + 1),
      );
    });
  });

  it('reads the message of an SDK behind text without a line break, and only one of this run', async () => {
    const forged =
      '{"v":1,"type":"result","ts":"2025-08-30T12:34:56Z","run_id":"r-other","status":"ok","data":"forged"}';
    for (const [name, text] of [
      [
        'tools/dots/cli.py',
        `from acor.protocol import emit_progress, emit_result\nprint('.', end='')\nemit_progress('x', 50)\nprint('was: ${forged}')\nprint('é.', end='')\nemit_result(data={'n': 1})\n`,
      ],
      [
        'tools/dots_in_bash/cli.sh',
        `source "$ACOR_LIB/acor.sh"\nprintf .\nemit_progress x 50\necho 'was: ${forged}'\nprintf é.\nemit_result ok data:='{"n":1}'\n`,
      ],
    ] as const) {
      const file = project.write(name, text, 0o755);
      for (const tool of [name.split('/')[1]!, file]) {
        const { of, end, stdout } = await project.run([tool]);
        assert.deepEqual(
          [end.state, of('progress').length, of('result').map(({ data }) => data)],
          ['completed', 1, [{ n: 1 }]],
          stdout,
        );
        assert.deepEqual(
          of('runner_log').map(({ line }) => line),
          ['.', `was: ${forged}`, 'é.'],
        );
        const warnings = of('runner_warning').map(({ msg }) => String(msg));
        assert.equal(
          warnings.filter((msg) => msg.includes('without a line break before a message')).length,
          1,
          stdout,
        );
      }
    }
  });

  it('reads a first message behind a byte order mark, which programs of Windows write', async () => {
    project.write(
      'tools/marked/cli.sh',
      String.raw`printf '\xef\xbb\xbf{"type":"result","status":"ok","data":7}\n'`,
      0o755,
    );
    const { of, end } = await project.run(['marked']);
    assert.deepEqual([end.state, of('result')[0]?.data, of('runner_log')], ['completed', 7, []]);
  });

  it('gives a plain program’s JSON as the data of the result', async () => {
    const { of } = await project.run(['prints_json']);
    assert.deepEqual(of('result')[0]!.data, { a: [1, 2] });
  });

  it('writes one envelope with --no-stream', async () => {
    const done = await project.envelope(['run', 'quick', '--no-stream']);
    assert.deepEqual(
      [done.ok, done.code, done.data.state, done.meta.tool],
      [true, 0, 'completed', 'run.start'],
    );
    const failed = await project.envelope(['run', '--no-stream', 'exits_with', '9']);
    assert.deepEqual(
      [failed.ok, failed.code, failed.error.code, failed.error.details.rc],
      [false, 1, 'E_TOOL_FAILED', 9],
    );
  });

  it('ends with the tool’s own exit code when asked to', async () => {
    assert.equal((await project.run(['--exit-code=tool', 'exits_with', '9'])).code, 9);
    assert.equal((await project.run(['--exit-code', 'tool', 'endless'])).code, 124);
  });

  it('ends with the tool’s own exit code behind an envelope as well', async () => {
    const asked = ['run', '--no-stream', '--exit-code=tool'];
    const failed = await project.envelope([...asked, 'exits_with', '9']);
    assert.deepEqual([failed.ok, failed.code, failed.error.details.rc], [false, 9, 9]);
    const late = await project.envelope([...asked, 'endless']);
    assert.deepEqual([late.ok, late.code, late.error.code], [false, 124, 'E_DEADLINE']);
    project.write('tools/half_done/cli.sh', '#!/bin/bash\nexit 3\n', 0o755);
    project.write(
      'tools/half_done/tool.yaml',
      'name: half_done\nversion: 1.0.0\nadapter: plain\nexit_codes: { ok: 0, ok_partial: 3 }\n',
    );
    const partly = await project.envelope([...asked, 'half_done']);
    assert.deepEqual([partly.ok, partly.code, partly.data.state], [true, 3, 'completed']);
    assert.equal((await project.envelope(['run', '--no-stream', 'half_done'])).code, 0);
  });

  it('shows with --dry-run what would run, and starts and writes nothing', async () => {
    const fresh = new TestProject({ tools: ['writes_output'] });
    const { code, data } = await fresh.envelope(['run', 'writes_output', '--output', 'x.txt', '--dry-run']);
    assert.equal(code, 0);
    assert.deepEqual(data.staged, [{ input: 'output', target: fresh.path('x.txt') }]);
    assert.ok(data.env.includes('WORKSPACE'));
    assert.equal(data.limits.timeout_s, 1800);
    assert.notEqual(data.isolation.backend, 'none');
    assert.ok(data.isolation.enforced.includes('filesystem'));
    assert.equal(existsSync(fresh.path('x.txt')), false);
    assert.deepEqual(existsSync(fresh.runsDir) ? fresh.runIds() : [], []);
    fresh[Symbol.dispose]();
  });
});

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        return [];
      }
    });
}
