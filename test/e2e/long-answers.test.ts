import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { ACOR, TestProject } from '../support/project.ts';

const LINES = 60_000;
const TEXT = Array.from({ length: LINES }, (_, index) => `line ${index + 1}\n`).join('');
/** More than one line of the protocol may hold. */
const OVER_A_MEBIBYTE = 1_100_000;

let project: TestProject;
before(() => {
  project = new TestProject();
  project.write('big.txt', TEXT);
});
after(() => project[Symbol.dispose]());

const plainTool = (name: string, command: string, more = '') => {
  project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nadapter: plain\n${more}`);
  project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${command}\n`, 0o755);
};

describe('output of a plain program above 64 KiB', () => {
  it('is whole in the file that the result and a warning name', async () => {
    const { ok, data, meta } = await project.envelope(['exec', '--no-stream', '--', 'cat', 'big.txt']);
    assert.ok(ok);
    const { output_file, ...counts } = data.result.data;
    assert.deepEqual(counts, { bytes: TEXT.length, lines: LINES });
    assert.equal(readFileSync(output_file, 'utf8'), TEXT);
    const [warning, ...others] = meta.warnings!;
    assert.deepEqual(others, []);
    assert.ok(warning!.includes(output_file) && warning!.includes(`${TEXT.length} bytes`), warning);
  });

  it('that is not text is byte for byte in that file and in a pipe, however short it is', async () => {
    const png = Buffer.from([
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0xff, 0xc3, 0x28, 0x0a, 0x0a,
    ]);
    writeFileSync(project.path('tiny.png'), png);
    const { data, meta } = await project.envelope(['exec', '--no-stream', '--', 'cat', 'tiny.png']);
    const { output_file, ...counts } = data.result.data;
    assert.deepEqual(counts, { bytes: png.length, binary: true });
    assert.deepEqual(readFileSync(output_file), png);
    assert.match(
      String(meta.warnings),
      /is not UTF-8 text, so the result only names the file that holds its 14 bytes/,
    );
    const piped = '"$ACOR" exec --format text -- cat tiny.png > copy.png';
    spawnSync('sh', ['-c', piped], { cwd: project.root, env: { ...project.environment(), ACOR } });
    assert.deepEqual(readFileSync(project.path('copy.png')), png);
  });

  it('has no warning when it is shorter', async () => {
    const { data, meta } = await project.envelope(['exec', '--no-stream', '--', 'echo', 'short']);
    assert.deepEqual(data.result.data, { output: 'short' });
    assert.equal(meta.warnings, undefined);
  });

  it('is printed whole in a pipe, also with a line of several megabytes', async () => {
    const shown = await project.acor(['exec', '--format', 'text', '--', 'cat', 'big.txt']);
    assert.ok(shown.stdout === TEXT, `${shown.stdout.length} characters`);
    project.write('one-line.txt', `${'€'.repeat(1_000_000)}\nlast`);
    const line = await project.acor(['exec', '--format', 'text', '--', 'cat', 'one-line.txt']);
    assert.ok(line.stdout === `${'€'.repeat(1_000_000)}\nlast`, `${line.stdout.length} characters`);
  });

  it('is printed without escape sequences, and with every other character, in a pipe of any length', async () => {
    for (const count of [1, 20_000]) {
      project.write('colors.txt', '\x1b[31mred\x1b[0m \x07\0a b\0\f\u202ex\r\n'.repeat(count));
      const { stdout } = await project.acor(['exec', '--format', 'text', '--', 'cat', 'colors.txt']);
      assert.ok(
        stdout === 'red \x07\0a b\0\f\u202ex\r\n'.repeat(count),
        JSON.stringify(stdout.slice(0, 100)),
      );
    }
  });

  it('is that of the last attempt only', async () => {
    plainTool(
      'flaky',
      'for i in {1..9000}; do echo "attempt $RUN_ATTEMPT $i"; done; [ -e "$CHECKPOINT_DIR/again" ] || { touch "$CHECKPOINT_DIR/again"; exit 75; }',
      'exit_codes: { ok: 0, retryable: 75 }\nretry: { max_attempts: 2, backoff_s: 0 }\nidempotent: true\n',
    );
    const { data, error } = await project.envelope(['run', 'flaky', '--no-stream']);
    assert.equal(data?.attempt, 2, JSON.stringify(error));
    const { output_file, offset, bytes, lines } = data.result.data;
    const log = readFileSync(output_file);
    assert.deepEqual([offset + bytes, lines], [log.length, 9000]);
    assert.equal(log.subarray(offset).toString().split('\n').length, 9001);
  });

  it('of a tool without a manifest is the same', async () => {
    project.write('tools/bare/main', `#!/bin/bash\ncat <<'END'\n${TEXT}END\n`, 0o755);
    const { data } = await project.envelope(['run', 'bare', '--no-stream']);
    assert.equal(readFileSync(data.result.data.output_file, 'utf8'), TEXT);
    const { stdout } = await project.acor(['run', 'bare', '--format', 'text']);
    assert.ok(stdout === TEXT, `${stdout.length} characters`);
  });

  it('is not read from a file that a tool names itself', async () => {
    project.write('private.txt', 'a private text\n');
    const data = { output_file: project.path('private.txt'), bytes: 20, lines: 1 };
    const result = JSON.stringify({ type: 'result', status: 'ok', data });
    project.write('tools/liar/main', `#!/bin/bash\necho '${result}'\n`, 0o755);
    const { stdout } = await project.acor(['run', 'liar', '--format', 'text']);
    assert.match(stdout, /private\.txt/);
    assert.doesNotMatch(stdout, /a private text/);
  });

  it('is named when its file is gone', async () => {
    const { data } = await project.envelope(['exec', '--no-stream', '--', 'cat', 'big.txt']);
    rmSync(data.result.data.output_file);
    const { stdout } = await project.acor(['show', data.run_id, '--format', 'text']);
    assert.ok(stdout.includes(data.result.data.output_file), stdout);
  });
});

describe('blank lines', () => {
  const text = '\na\n\n\nb\r\n\nc';

  it('are part of the text of any program', async () => {
    project.write('blank.txt', `${text}\n`);
    project.write('tools/gaps/main', `#!/bin/bash\nprintf '\\na\\n\\n\\nb\\r\\n\\nc\\n'\n`, 0o755);
    plainTool('plain_gaps', "printf '\\na\\n\\n\\nb\\r\\n\\nc\\n'");
    for (const args of [
      ['exec', '--no-stream', '--', 'cat', 'blank.txt'],
      ['run', 'gaps', '--no-stream'],
      ['run', 'plain_gaps', '--no-stream'],
    ]) {
      const { data, error } = await project.envelope(args);
      assert.equal(data?.result.data.output, text, `${args} ${JSON.stringify(error)}`);
      const asText = args.flatMap((word) => (word === '--no-stream' ? ['--format', 'text'] : [word]));
      const inPipe = await project.acor(asText);
      assert.equal(inPipe.stdout, `${text}\n`, args.join(' '));
    }
  });

  it('and line ends are the same in a pipe as the program wrote them', async () => {
    for (const bytes of ['no newline', 'two\r\nlines\r\n', 'more\n\n\n', '']) {
      project.write('ends.txt', bytes);
      const { stdout } = await project.acor(['exec', '--format', 'text', '--', 'cat', 'ends.txt']);
      assert.equal(stdout, bytes);
    }
    project.write('many.txt', `${'a\r\n'.repeat(40_000)}end`);
    const { stdout } = await project.acor(['exec', '--format', 'text', '--', 'cat', 'many.txt']);
    assert.ok(stdout === `${'a\r\n'.repeat(40_000)}end`, `${stdout.length} characters`);
  });

  it('are no messages of a tool that writes the protocol', async () => {
    project.write(
      'tools/airy/main',
      '#!/bin/bash\nprintf \'\\n\\n{"type":"result","status":"ok"}\\n\\n\'\n',
      0o755,
    );
    const run = await project.run(['airy']);
    assert.equal(run.end.state, 'completed');
    assert.deepEqual(
      run.events.filter(({ type }) => type === 'runner_warning' || type === 'runner_log'),
      [],
    );
  });
});

describe('a line above 1 MiB', () => {
  const python = (name: string, ...lines: string[]) => {
    project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n`);
    project.write(`tools/${name}/cli.py`, `#!/usr/bin/env python3\n${lines.join('\n')}\n`, 0o755);
  };

  it('with the result of an SDK fails the run, and says what to do', async () => {
    python(
      'huge',
      'from acor.protocol import emit_start, emit_result',
      'emit_start("huge")',
      `emit_result(data={"text": "x" * ${OVER_A_MEBIBYTE}})`,
    );
    const { ok, error } = await project.envelope(['run', 'huge', '--no-stream']);
    assert.equal(ok, false);
    assert.equal(error!.code, 'E_PROTOCOL');
    assert.match(error!.message, /'result' is longer than 1 MiB/);
    assert.match(error!.hint!, /file in ARTIFACTS_DIR.*artifact/);
  });

  it('fails the run also when the type of the message comes last', async () => {
    python('late', `print('{"data": "' + "x" * ${OVER_A_MEBIBYTE} + '", "type": "result", "status": "ok"}')`);
    const { error } = await project.envelope(['run', 'late', '--no-stream']);
    assert.equal(error?.code, 'E_PROTOCOL');
    assert.match(error!.message, /last message is longer than 1 MiB/);
  });

  it('of another message is a warning, and text about a result is no result', async () => {
    python(
      'wordy',
      `print('{"type": "log", "level": "info", "msg": "\\\\"type\\\\": \\\\"result\\\\" ' + "x" * ${OVER_A_MEBIBYTE} + '"}')`,
      `print('{"type": "result", "status": "ok"}')`,
    );
    const { ok, meta, error } = await project.envelope(['run', 'wordy', '--no-stream']);
    assert.ok(ok, JSON.stringify(error));
    assert.match(meta.warnings![0]!, /'log'.*longer than 1 MiB.*cut/);
  });

  it('of `output: json` is named as the cause, and several lines are not cut', async () => {
    const json = (newline: string) =>
      `printf '['; yes '"${'x'.repeat(20)}",' | head -n 59999${newline}; printf '"x"]'`;
    plainTool('one_line', json(" | tr -d '\\n'"), 'output: json\n');
    plainTool('indented', json(''), 'output: json\n');
    const { error } = await project.envelope(['run', 'one_line', '--no-stream']);
    assert.equal(error?.code, 'E_PROTOCOL');
    assert.match(error!.message, /output: json.*longer than 1 MiB.*cut/);
    assert.match(error!.hint!, /several lines.*ARTIFACTS_DIR/);
    const { data } = await project.envelope(['run', 'indented', '--no-stream']);
    assert.equal(data.result.data.length, 60_000);
  });
});
