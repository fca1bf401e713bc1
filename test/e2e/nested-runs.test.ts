import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Event, TestProject, until } from '../support/project.ts';

const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not here';

/** In the manner of seed 000's third example: a subprocess for each step of a JSON file, in parallel where it says so. */
const ORCHESTRATOR = `
import concurrent.futures, json, os, shlex, subprocess, sys
from pathlib import Path
from acor.protocol import args, emit, emit_error, emit_progress, emit_result, emit_start

def run_child(task_id, command, cwd, env):
    emit("task_submitted", task_id=task_id, payload={"command": command})
    child_env = dict(env, RUN_ID="r-child-1")
    child = subprocess.Popen(shlex.split(command), cwd=cwd, env=child_env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    emit("task_started", task_id=task_id, child_run_id="r-child-1")
    result = None
    for line in child.stdout:
        event = json.loads(line)
        if event["type"] == "result": result = event
        if event["type"] == "error": result = {"status": "error", "error": event}
    rc = child.wait()
    emit("task_done", task_id=task_id, status="ok" if rc == 0 else "failed", child_rc=rc, child_result=result)
    return rc

steps = json.loads(Path(args()["workflow"]).read_text())["steps"]
emit_start("workflow")
work, env = Path(os.environ["WORKSPACE"]), os.environ.copy()
for number, step in enumerate(steps, 1):
    emit_progress("workflow", 100 * (number - 1) / len(steps), step["name"])
    with concurrent.futures.ThreadPoolExecutor(max_workers=step.get("max_concurrency", 4)) as pool:
        commands = step.get("tasks") or [step["command"]]
        codes = list(pool.map(lambda each: run_child("t-%d-%d" % (number, each[0]), "./tool " + each[1], work, env), enumerate(commands)))
    if any(codes):
        emit_error("E_UNKNOWN", "step failed: " + step["name"], "rc=%s" % codes)
        sys.exit(next(code for code in codes if code))
emit_result(metrics={"steps": len(steps)})
`;

describe('a tool that starts other tools', { skip: noPython }, () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({
      config: 'version: 1\nenvironment: { cancel_grace_s: 0.3 }\nbudget: { max_runs: 1 }\n',
    });
    project.write('tools/orchestrator/cli.py', ORCHESTRATOR);
    project.write(
      'tools/orchestrator/tool.yaml',
      'name: orchestrator\nversion: 1.0.0\nrole: orchestrator\npermissions: { commands: [acor] }\ninputs: [{ name: workflow, type: path, required: true }]\nexit_codes: { ok: 0, retryable_error: 20, fatal_error: 30, child: 7 }\n',
    );
    project.write(
      'tools/copy/cli.sh',
      '#!/bin/bash\ncat "$2" > "$4"; echo \'{"type":"result","status":"ok"}\'\n',
      0o755,
    );
    project.write(
      'tools/copy/tool.yaml',
      'name: copy\nversion: 1.0.0\ninputs: [{ name: from, type: path }, { name: to, type: path, access: write }]\n',
    );
    project.write('tools/fails/cli.sh', '#!/bin/bash\nexit 7\n', 0o755);
    project.write('tools/waits/cli.sh', '#!/bin/bash\nsleep 600\n', 0o755);
    project.write('tools/again/cli.sh', '#!/bin/bash\nacor run again > /dev/null || exit 7\n', 0o755);
    project.write(
      'tools/again/tool.yaml',
      'name: again\nversion: 1.0.0\nadapter: plain\npermissions: { commands: [acor] }\n',
    );
    project.write('tools/other/cli.sh', '#!/bin/bash\nacor list; acor run nosuch; echo "code $?"\n', 0o755);
    project.write(
      'tools/other/tool.yaml',
      'name: other\nversion: 1.0.0\nadapter: plain\npermissions: { commands: [acor] }\n',
    );
    project.write('tools/slow/cli.sh', '#!/bin/bash\nsleep 600\n', 0o755);
    project.write('tools/slow/tool.yaml', 'name: slow\nversion: 1.0.0\ntimeout_s: 0.5\n');
    project.write(
      'tools/codes/cli.sh',
      '#!/bin/bash\nfor tool in slow fails; do acor run $tool >/dev/null; echo "$tool $?"; done\n',
      0o755,
    );
    project.write(
      'tools/codes/tool.yaml',
      'name: codes\nversion: 1.0.0\nadapter: plain\npermissions: { commands: [acor] }\n',
    );
    project.write('in.txt', 'content\n');
  });
  after(() => project[Symbol.dispose]());

  const workflow = (steps: object[]) => project.write('wf.json', JSON.stringify({ steps }));
  const children = (parent: Event) => {
    const { run_id } = parent;
    return project
      .runIds()
      .filter((id) => existsSync(project.path('.runs', id, 'events.jsonl')))
      .flatMap((id) => project.events(id).slice(0, 1))
      .filter((event) => event.run_id !== run_id && event.trace_id === parent.trace_id);
  };

  it('as seed 000 does: each becomes a child run in the same trace, with its own files and exit code', async () => {
    workflow([
      { name: 'one', type: 'tool', command: 'copy --from ./in.txt --to ./a.txt' },
      {
        name: 'many',
        type: 'parallel',
        tasks: ['copy --from a.txt --to b.txt', 'copy --from a.txt --to c.txt'],
      },
    ]);
    const { events, of, end, stdout } = await project.run(['orchestrator', '--workflow', 'wf.json']);
    assert.equal(end.state, 'completed', stdout);
    for (const name of ['a.txt', 'b.txt', 'c.txt']) assert.ok(existsSync(project.path(name)), name);
    assert.deepEqual(
      of('task_done').map(({ status, child_rc }) => [status, child_rc]),
      Array.from({ length: 3 }, () => ['ok', 0]),
    );
    for (const done of of('task_done')) assert.equal((done.child_result as Event).status, 'ok');
    assert.equal(children(events[0]!).length, 3);
    const { data } = await project.envelope(['runs', '--tool', 'copy']);
    assert.equal(data.runs.length, 3);
    assert.deepEqual(end.survivors, []);
  });

  it('ends with the exit code of a child that fails', async () => {
    workflow([{ name: 'bad', type: 'tool', command: 'fails' }]);
    const { of, end } = await project.run(['orchestrator', '--workflow', 'wf.json']);
    assert.deepEqual([end.state, end.rc], ['failed', 7]);
    assert.equal((of('task_done')[0] as Event).child_rc, 7);
  });

  it('gets the exit code of `timeout` for a child that reached its deadline, and the own code of one that failed', async () => {
    const { data } = await project.envelope(['run', 'codes', '--no-stream']);
    assert.equal(data.result.data.output, 'slow 124\nfails 7');
  });

  it('takes its children with it when it is cancelled', async () => {
    workflow([{ name: 'long', type: 'tool', command: 'waits' }]);
    const running = project.start(['run', 'orchestrator', '--workflow', 'wf.json']);
    const start = await running.event('runner_start');
    await until(() => children(start).length === 1);
    const child = String(children(start)[0]!.run_id);
    await project.envelope(['cancel', String(start.run_id)]);
    running.child.stdin!.end();
    await running.finished;
    assert.equal(project.events(String(start.run_id)).at(-1)!.state, 'cancelled');
    assert.equal(project.events(child).at(-1)!.state, 'cancelled');
  });

  it('can run no file, which would bring its own permissions, and have no file read that ACOR may read', async () => {
    const kept = project.write('kept.json', '{"text":"of another"}');
    project.write('tools/greets/cli.sh', '#!/bin/bash\necho "$@"\n', 0o755);
    project.write('tools/greets/tool.yaml', 'adapter: plain\ninputs: [{ name: text, type: string }]\n');
    project.write(
      'tools/plants/tool.yaml',
      'adapter: plain\nrole: orchestrator\npermissions: { commands: [acor] }\n',
    );
    project.write(
      'tools/plants/cli.sh',
      `#!/bin/bash
printf '#!/bin/bash\\n# acor: adapter: plain\\n# acor: permissions: { filesystem: { write: [%s] } }\\necho planted > %s/planted\\n' '${project.root}' '${project.root}' > evil.sh
chmod +x evil.sh
acor run "$PWD/evil.sh"
acor run "exec:$PWD/evil.sh"
acor run greets --input-json '@${kept}'
acor run greets --input-json @/etc/no-such-file
`,
      0o755,
    );
    const { data, error } = await project.envelope(['run', 'plants', '--no-stream']);
    const text = JSON.stringify(data ?? error);
    assert.equal(text.match(/E_POLICY_DENIED/g)?.length, 2, text);
    assert.equal(text.match(/names no file: give the JSON object itself/g)?.length, 2, text);
    assert.ok(!text.includes('of another'), text);
    assert.ok(!existsSync(project.path('planted')));
  });

  it('cannot do so without end, and can do nothing else with acor', async () => {
    const { end } = await project.run(['again']);
    assert.equal(end.state, 'failed');
    assert.ok(project.runIds().length < 40, 'it ends');
    const { data } = await project.envelope(['run', 'other', '--no-stream']);
    const [first, second, third] = data.result.data.output.split('\n');
    assert.match(first, /"code":"E_USAGE".*nothing but a tool can be run/);
    assert.match(second, /"code":"E_TOOL_NOT_FOUND"/);
    assert.equal(third, 'code 1');
  });
});
