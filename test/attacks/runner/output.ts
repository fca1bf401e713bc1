import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { placesOf } from '../../support/places-of.ts';
import { TestProject } from '../../support/project.ts';
import { atTerminal, noTerminal } from '../../support/terminal.ts';
import { forgedEvents } from './forged-events.ts';
import type { RunnerAttack } from './runner-attack.ts';

const TOKEN = 'pa/ss "wörd" <it\'s> & $HOME; and so on until it is longer than a line of base64 is';
const FILE_ID = 'file-name-77-of-it';
const KEY = '-----BEGIN KEY-----\nQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=\nshort\n-----END KEY-----';

const secrets: RunnerAttack = async () => {
  using project = new TestProject({ tools: ['tells_secret'] });
  for (const [name, stdin] of Object.entries({ API_TOKEN: TOKEN, FILE_ID, KEY }))
    await project.acor(['secret', 'set', name], { stdin });
  const listed = execFileSync('python3', [project.path('tools/tells_secret/cli.py'), '--forms'], {
    input: TOKEN,
    encoding: 'utf8',
  });
  const forms = Object.values(JSON.parse(listed) as Record<string, string>);
  assert.ok(forms.length > 15);
  const { stdout, stderr, code } = await project.acor(['run', 'tells_secret']);
  assert.equal(code, 0, stdout + stderr);
  // No copy is left after the run.
  assert.deepEqual(await placesOf([...forms, FILE_ID], project, stdout + stderr), []);
  project.write('tools/openly/cli.sh', `#!/bin/bash\necho ${FILE_ID}\n`, 0o755);
  const openly = await project.acor(['run', 'openly']);
  assert.ok(
    (await placesOf([FILE_ID], project, openly.stdout)).length > 1,
    'the control: without `secrets`, the search finds it',
  );
};

/** Messages and lines that are invalid in every way, followed by one valid result. */
const GARBAGE = `
import os, sys
write = lambda data: os.write(1, data if isinstance(data, bytes) else data.encode())
os.write(2, b'\\xff\\xfe' * 1000 + b'\\n')
def all_of(data):
    while data: data = data[os.write(1, data):]
all_of(os.urandom(300000).replace(b'\\n', b'x') + b'\\n')
all_of(b'a' * 1000000 + b'\\n')
all_of(b'{"type":"log","level":"info","msg":"x","data":' + b'[' * 100000 + b']' * 100000 + b'}\\n')
all_of(b'{"type":"progress","pct":1' + b'0' * 400 + b'}\\n')
all_of(b'{"type":"log","level":"info","msg":"kept","__proto__":{"seq":7,"run_id":"r-x"},"constructor":1}\\n')
all_of(b'{"type":"log","level":"info","msg":"\\xff\\xc0\\x80"}\\n')
all_of(b'\\0' * 70000 + b'\\n')
all_of(b'{"type":"result","status":"ok"}\\n')`;

const garbage: RunnerAttack = async () => {
  using project = new TestProject({ tools: ['flood', 'endless_line'] });
  project.write('tools/garbage/cli.py', GARBAGE);
  const { end, of, events } = await project.run(['garbage']);
  assert.deepEqual([end.state, of('result').length], ['completed', 1]);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
  );
  const kept = of('log').find(({ msg }) => msg === 'kept')!;
  assert.deepEqual([kept['claimed_run_id'], Object.hasOwn(kept, '__proto__')], [undefined, true]);
  assert.equal((await project.envelope(['verify', String(end.run_id)])).ok, true);
  for (const tool of ['flood', 'endless_line']) {
    const flooded = await project.run([tool]);
    assert.deepEqual([flooded.end.state, flooded.end.code], ['failed', 'E_OUTPUT_LIMIT'], tool);
  }
};

const SEQUENCES = ['\x1b]52;c;UFdORUQ=\x07', '\x1b[2J', '\x9b2J', '\u202egnp.exe'];

const terminal: RunnerAttack = async () => {
  if (noTerminal !== false) return;
  using project = new TestProject();
  const line = JSON.stringify({ type: 'log', level: 'info', msg: SEQUENCES.join(' ') });
  project.write('tools/writes/line', `${line.replaceAll('\\u001b', '\x1b')}\n${SEQUENCES.join('\n')}\n`);
  project.write('tools/writes/cli.sh', '#!/bin/bash\ncat "$(dirname "$0")/line"\n', 0o755);
  const shown = await atTerminal(['run', 'writes'], { cwd: project.root });
  assert.match(shown.text, /completed/);
  for (const each of SEQUENCES) assert.equal(shown.text.includes(each), false, JSON.stringify(each));
  const control = await atTerminal([], { cwd: project.root, command: ['cat', 'tools/writes/line'] });
  for (const each of SEQUENCES) assert.equal(control.text.includes(each), true, JSON.stringify(each));
};

/** The caller's program closes its end of the stream, or exits, while the tool runs. */
const closedStreams: RunnerAttack = async () => {
  using project = new TestProject({ tools: ['many_events', 'closes_stdout'] });
  const { ACOR, HANG_MS } = await import('../../support/project.ts');
  const env = { PATH: process.env['PATH'] ?? '', HOME: project.path('home') };
  for (const line of [
    `"$0" run many_events 2000 | head -c 1`,
    `"$0" run many_events 2000 >&-`,
    `"$0" run many_events 2000 2>&- <&- >&-`,
  ]) {
    const { status } = spawnSync('bash', ['-c', line, ACOR], {
      cwd: project.root,
      env,
      stdio: 'ignore',
      timeout: HANG_MS,
    });
    assert.notEqual(status, null, line);
  }
  const { data } = await project.envelope(['runs']);
  assert.deepEqual(
    data.runs.map(({ state }: { state: string }) => state),
    ['completed', 'completed', 'completed'],
  );
  const { end } = await project.run(['closes_stdout']);
  assert.equal(end.type, 'runner_end');
};

export const output: Readonly<Record<number, RunnerAttack>> = {
  30: closedStreams,
  37: secrets,
  40: terminal,
  64: garbage,
  70: forgedEvents,
  71: forgedEvents,
};
