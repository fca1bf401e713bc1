import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { reachedInTime } from '../support/in-time.ts';
import { ACOR, ROOT, TestProject, until } from '../support/project.ts';

const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not here';
const INPUTS = '{ name: out, type: path, access: write }, { name: other, type: path, access: write }';

/** A tool that writes to `--out`, as the name in `--how` says. */
const WRITES = `#!/bin/bash
while [ $# -gt 0 ]; do case "$1" in --out) out=$2;; --other) other=$2;; --how) how=$2;; esac; shift 2; done
case "$how" in
  fail) echo partial > "$out"; exit 1 ;;
  append) echo more >> "$out" ;;
  both) echo new > "$out"; echo new > "$other" ;;
  race) echo new > "$out"; echo "theirs" > "$out.theirs"; until [ -e "$out.go" ]; do sleep 0.05; done ;;
  leave) true ;;
  names) echo new > "$out"; printf '{"type":"result","status":"ok","data":{"at":"%s","from":"%s"},"artifacts":[{"path":"%s"}]}\\n' "$out" ".staged/out/x.txt" "$out"; echo "wrote $out" >&2 ;;
  left) echo new > "$out"; mkdir -p deep; echo x > deep/left.txt ;;
  in) echo new > "$out/new.txt" ;;
esac
`;

/** In the manner of seed 000's first example. */
const PROCESSOR = `#!/usr/bin/env python3
import hashlib, json, sys
from pathlib import Path
from acor.protocol import emit_result, emit_start
args = dict(zip(sys.argv[1::2], sys.argv[2::2]))
data = json.loads(Path(args["--input"]).read_text())
emit_start("process", args={"input": args["--input"]})
output = Path(args["--output"])
output.write_text(json.dumps({"item_count": len(data["items"])}))
digest = hashlib.sha256(output.read_bytes()).hexdigest()
emit_result(status="ok", artifacts=[{"path": str(output), "sha256": digest}])
`;

/** In the manner of its second one, which writes into a folder that exists at the second run. */
const MIGRATOR = `#!/usr/bin/env python3
import sys
from pathlib import Path
from acor.protocol import emit_action, emit_error, emit_result, emit_start
args = dict(zip(sys.argv[1::2], sys.argv[2::2]))
source, target = Path(args["--source"]), Path(args["--target"])
batch_size = int(args.get("--batch-size", "100"))
target.mkdir(parents=True, exist_ok=True)
emit_start("migrate", args={"target": str(target)})
emit_action("choose_migration_strategy", files=2)
for file in sorted(source.glob("*.json")):
    try:
        (target / file.name).write_text(file.read_text())
    except Exception as e:
        emit_error("E_UNKNOWN", f"Failed {file.name}", str(e), retryable=True)
        sys.exit(20)
emit_result(status="ok", artifacts=[{"path": str(target)}])
`;

describe('the outputs of a tool', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('tools/w/cli.sh', WRITES, 0o755);
    project.write('tools/w/tool.yaml', `name: w\nversion: 1.0.0\ninputs: [${INPUTS}, { name: how }]\n`);
    project.write('tools/here/cli.sh', WRITES, 0o755);
    project.write(
      'tools/here/tool.yaml',
      'name: here\nversion: 1.0.0\ninputs: [{ name: out, type: path, access: write, in_place: true }, { name: how }]\n',
    );
    project.write('tools/reads/cli.sh', WRITES, 0o755);
    project.write(
      'tools/reads/tool.yaml',
      'name: reads\nversion: 1.0.0\ninputs: [{ name: out, type: path }, { name: how }]\n',
    );
  });
  after(() => project[Symbol.dispose]());

  const text = (name: string) => readFileSync(project.path(name), 'utf8');

  it('leave an existing file untouched when the tool fails, and in_place does not', async () => {
    project.write('kept.txt', 'precious\n');
    const failed = await project.run(['w', '--out', 'kept.txt', '--how', 'fail']);
    assert.equal(failed.end.state, 'failed');
    assert.equal(text('kept.txt'), 'precious\n');
    await project.run(['here', '--out', 'kept.txt', '--how', 'fail']);
    assert.equal(text('kept.txt'), 'partial\n');
  });

  it('replace an existing file when the tool completes: the tool saw its content, and the file keeps its mode', async () => {
    project.write('log.txt', 'first\n', 0o640);
    const { end } = await project.run(['w', '--out', 'log.txt', '--how', 'append']);
    assert.equal(end.state, 'completed');
    assert.equal(text('log.txt'), 'first\nmore\n');
    assert.equal(statSync(project.path('log.txt')).mode & 0o777, 0o640);
    const [artifact] = end.artifacts as { path: string; size: number }[];
    assert.deepEqual([artifact!.path, artifact!.size], [project.path('log.txt'), 11]);
    if (process.geteuid?.() === 0) {
      // Only root can give a file away: the file keeps its owner as well.
      chownSync(project.path('log.txt'), 54_321, 54_322);
      await project.run(['w', '--out', 'log.txt', '--how', 'append']);
      const { uid, gid } = statSync(project.path('log.txt'));
      assert.deepEqual([uid, gid, text('log.txt')], [54_321, 54_322, 'first\nmore\nmore\n']);
    }
    assert.deepEqual(
      readdirSync(project.root).filter((name) => name.startsWith('.acor-')),
      [],
    );
  });

  it('are all replaced, or none, and a file that the tool leaves alone is no output', async () => {
    for (const name of ['a.txt', 'b.txt']) project.write(name, 'old\n');
    const both = await project.run(['w', '--out', 'a.txt', '--other', 'b.txt', '--how', 'both']);
    assert.equal((both.end.artifacts as unknown[]).length, 2);
    assert.deepEqual([text('a.txt'), text('b.txt')], ['new\n', 'new\n']);
    const left = await project.run(['w', '--out', 'a.txt', '--how', 'leave']);
    assert.deepEqual([left.end.state, left.end.artifacts], ['completed', []]);
    assert.doesNotMatch(left.stdout, /did not write its output/);
  });

  it('do not overwrite a file that another process changed meanwhile', async () => {
    project.write('raced.txt', 'old\n');
    const running = project.start(['run', 'w', '--out', 'raced.txt', '--how', 'race']);
    const { run_id } = await running.event('runner_start');
    const staged = project.path('.runs', String(run_id), 'work', '.staged', 'out');
    while (!existsSync(join(staged, 'raced.txt.theirs'))) await new Promise((done) => setTimeout(done, 5));
    project.write('raced.txt', 'theirs, and longer\n');
    project.write(join('.runs', String(run_id), 'work', '.staged', 'out', 'raced.txt.go'), '');
    running.child.stdin!.end();
    const { stdout } = await running.finished;
    assert.equal(text('raced.txt'), 'theirs, and longer\n');
    assert.match(stdout, /"code":"E_CONFLICT","msg":"[^"]*another process changed it while the run worked/);
  });

  it('have their final path in every event, and in the log of stderr', async () => {
    for (const round of ['new', 'existing']) {
      const { stdout, of, end } = await project.run(['w', '--out', 'x.txt', '--how', 'names']);
      const at = project.path('x.txt');
      assert.equal(end.state, 'completed', `${round}: ${stdout}`);
      assert.deepEqual(of('result')[0]!.data, { at, from: at });
      assert.deepEqual(of('result')[0]!.artifacts, [{ path: at }]);
      assert.deepEqual(
        (end.artifacts as { path: string }[]).map(({ path }) => path),
        [at],
      );
      assert.doesNotMatch(stdout, /\.staged/);
      const logs = project.path('.runs', String(end.run_id), 'logs', 'stderr.log');
      assert.equal(readFileSync(logs, 'utf8'), `wrote ${at}\n`);
    }
  });

  it('in an existing folder are written where they are', async () => {
    mkdirSync(project.path('repo'));
    await project.run(['w', '--out', 'repo', '--how', 'in']);
    assert.equal(text('repo/new.txt'), 'new\n');
  });

  it('that are left in the workspace are listed, with how to keep them', async () => {
    const { of, end } = await project.run(['w', '--out', 'y.txt', '--how', 'left']);
    const warning = of('runner_warning').find((event) => 'leftovers' in event);
    assert.deepEqual(warning!.leftovers, ['deep/left.txt']);
    const command = /To keep one: (cp \S+ \.)$/.exec(String(warning!.msg))![1]!;
    assert.ok((end.warnings as string[]).includes(String(warning!.msg)), 'every surface shows the message');
    assert.equal(spawnSync('sh', ['-c', command], { cwd: project.root }).status, 0, command);
    assert.equal(text('left.txt'), 'x\n');
    assert.equal(end.state, 'completed');
  });

  it('that are left in the workspace are counted as far as they were looked at', async () => {
    const left = async (count: number): Promise<string> => {
      project.write('many.sh', `#!/bin/sh\nfor i in $(seq ${count}); do : >f$i; done\n`, 0o755);
      const { of } = await project.run(['./many.sh']);
      return String(of('runner_warning').find((event) => 'leftovers' in event)!.msg);
    };
    assert.match(await left(1500), /, and at least \d+ more\. To keep one: cp /);
    assert.match(await left(30), /, and 10 more\. To keep one: cp /);
  });

  it('that are left in the workspace are offered for a copy only if they are regular files', async () => {
    const left = async (make: string) => {
      project.write('special.sh', `#!/bin/sh\nset -e; ${make}\n`, 0o755);
      const { of, end, stdout } = await project.run(['./special.sh']);
      assert.equal(end.state, 'completed', stdout);
      return of('runner_warning').find((event) => 'leftovers' in event);
    };
    assert.equal(await left('mkfifo a'), undefined, 'a pipe alone is nothing to keep');
    const link = await left('mkfifo a; ln -s a b');
    assert.deepEqual(link!.leftovers, ['b']);
    assert.doesNotMatch(String(link!.msg), /To keep one/);
    const file = await left('mkfifo a; ln -s a b; : >c');
    assert.deepEqual(file!.leftovers, ['b', 'c']);
    assert.match(String(file!.msg), /To keep one: cp \S+\/c \.$/);
  });

  it('that the manifest does not allow are explained with the line that allows them', async () => {
    project.write('z.txt', 'old\n');
    const { of } = await project.run(['reads', '--out', 'z.txt', '--how', 'append']);
    const denied = of('runner_warning').find((event) => 'denied' in event)!;
    assert.match(String(denied.hint), /In tool\.yaml, under inputs\.out, write: access: write$/);
    project.write(
      'tools/direct/cli.py',
      `open(${JSON.stringify(project.path('direct.txt'))}, 'w').write('x')\n`,
    );
    project.write('tools/direct/tool.yaml', 'name: direct\nversion: 1.0.0\n');
    const direct = await project.envelope(['run', 'direct', '--no-stream']);
    assert.match(
      direct.error.hint,
      /In tool\.yaml, under inputs, write: - \{ name: output, type: path, access: write \}/,
    );
  });
});

describe("the commands of seed 000's examples", { skip: noPython }, () => {
  let project: TestProject;
  before(async () => {
    project = new TestProject();
    rmSync(project.path('.acor'), { recursive: true });
    for (const tool of ['example_processor', 'data_migrator']) {
      project.write(
        `tools/registry/${tool}/tool.yaml`,
        readFileSync(join(ROOT, 'test', 'fixtures', 'seeds', `${tool}.tool.yaml`), 'utf8'),
      );
    }
    project.write('tools/data_migrator/cli.py', MIGRATOR, 0o755);
    project.write('tools/example_processor/cli.py', PROCESSOR, 0o755);
    project.write('data.json', '{"items":[{"id":1}]}');
    for (const n of [1, 2]) project.write(`in/${n}.json`, `{"id":"c-${n}","name":"N","email":"a@b.example"}`);
  });
  after(() => project[Symbol.dispose]());

  it('say what to write into the manifest when a second run cannot replace its output', async () => {
    const env = { AWS_REGION: 'eu-1' };
    const command = ['run', 'data_migrator', '--source', 'in', '--target', 'out', '--no-stream'];
    assert.equal((await project.envelope(command, { env })).data.state, 'completed');
    const { error, meta } = await project.envelope(command, { env });
    assert.equal(error.message, 'Failed 1.json');
    const line = 'In tool.yaml, under inputs.target, write: access: write';
    assert.ok(error.hint.startsWith('[Errno 30] Read-only file system'), error.hint);
    assert.ok(error.hint.endsWith(`. To allow it: ${line}`), error.hint);
    assert.ok(
      meta.warnings.some((warning: string) => warning.endsWith(line)),
      JSON.stringify(meta.warnings),
    );
    assert.equal(error.retryable, false, 'the same denial would come again');
    assert.ok(meta.next.every((step: string) => !step.startsWith('acor resume')));
    const later = await project.envelope(['wait', 'last']);
    assert.equal(later.error.hint, error.hint);
    rmSync(project.path('out'), { recursive: true });
  });

  it('run twice in a row, once acor has added what it proposes', async () => {
    const { data } = await project.envelope(['init', '--from-existing']);
    const proposed = data.files.filter(({ why }: { why?: string }) => /without access/.test(why ?? ''));
    assert.deepEqual(
      proposed.map(({ path }: { path: string }) => path),
      ['tools/registry/data_migrator/tool.yaml', 'tools/registry/example_processor/tool.yaml'],
    );
    assert.match(proposed[0].by_hand, /acor validate --fix/);
    const unlisted = data.files.filter(({ why }: { why?: string }) => /does not list/.test(why ?? ''));
    assert.deepEqual(
      unlisted.map(({ path, why }: { path: string; why: string }) => [path, /has (.*), which/.exec(why)![1]]),
      [['tools/registry/data_migrator/tool.yaml', '--batch-size']],
    );
    // What it says to add, for the command of the appendix.
    const [addition] = /\{ .* \}/.exec(unlisted[0].by_hand)!;
    const path = project.path('tools/registry/data_migrator/tool.yaml');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^inputs:\n/m, `inputs:\n  - ${addition}\n`));
    const found = await project.envelope(['validate']);
    const rules = (found.data ?? found.error.details).findings.map(({ rule }: { rule: string }) => rule);
    assert.equal(rules.filter((rule: string) => rule === 'no-access').length, 2);
    await project.envelope(['validate', '--fix']);
    const env = project.environment({ AWS_REGION: 'eu-1', PATH: `${dirname(ACOR)}:${process.env.PATH}` });
    for (const command of [
      './tool example_processor --input ./data.json --output ./result.json',
      './tool example_processor --input ./data.json --output ./result.json',
      'TOOL_TIMEOUT_S=3600 ./tool data_migrator --source ./in --target ./out --batch-size 200',
      'TOOL_TIMEOUT_S=3600 ./tool data_migrator --source ./in --target ./out --batch-size 200',
    ]) {
      const { status, stdout } = spawnSync('sh', ['-c', command], {
        cwd: project.root,
        env,
        encoding: 'utf8',
      });
      assert.equal(status, 0, `${command}: ${stdout}`);
      assert.doesNotMatch(stdout, /\.staged/);
    }
    assert.ok(existsSync(project.path('result.json')));
    assert.deepEqual(readdirSync(project.path('out')).sort(), ['1.json', '2.json']);
  });
});

/** Another file system than that of the project: an output is copied to it, which takes a while. */
const MEMORY = '/dev/shm';
const hasMemory = existsSync(MEMORY) && statSync(MEMORY).dev !== statSync(tmpdir()).dev;

describe('a supervisor that is killed while it puts outputs in place', { skip: !hasMemory }, () => {
  it('leaves files beside the targets that the next run removes, and no other file, and puts the old content back', async () => {
    const far = mkdtempSync(join(MEMORY, 'acor-outputs-'));
    using project = new TestProject({
      tools: ['quick'],
      config: `version: 1\nsecurity: { isolation: 'off', grant_roots: [${far}] }\n`,
    });
    try {
      project.write('tools/large/cli.sh', '#!/bin/bash\necho new > "$2"; truncate -s 300M "$4"\n', 0o755);
      project.write(
        'tools/large/tool.yaml',
        `name: large\nversion: 1.0.0\nadapter: plain\nresources: { file_mb: 400 }\ninputs: [${INPUTS}]\n`,
      );
      const near = project.path('near');
      const theirs = `.acor-${'0'.repeat(16)}`;
      for (const folder of [near, far]) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, theirs), 'of the user');
      }
      const target = project.write('near/replaced.txt', 'old\n');
      const unfinished = (folder: string) =>
        readdirSync(folder).filter((name) => name.startsWith('.acor-') && name !== theirs);
      const running = project.start(['run', 'large', '--out', target, '--other', join(far, 'large.bin')]);
      await until(() => unfinished(far).length > 0);
      await project.killSupervisor(project.runIds()[0]!);
      await running.finished;
      assert.deepEqual([unfinished(near).length, unfinished(far).length], [1, 1]);
      assert.equal(readFileSync(target, 'utf8'), 'new\n');
      await project.run(['quick']);
      for (const folder of [near, far]) assert.deepEqual(unfinished(folder), []);
      for (const folder of [near, far])
        assert.equal(readFileSync(join(folder, theirs), 'utf8'), 'of the user');
      assert.equal(readFileSync(target, 'utf8'), 'old\n');
    } finally {
      rmSync(far, { recursive: true });
    }
  });

  it('leaves no new file at the first target, and no change of a file that another process has changed since', async () => {
    const far = mkdtempSync(join(MEMORY, 'acor-outputs-'));
    using project = new TestProject({
      tools: ['quick'],
      config: `version: 1\nsecurity: { isolation: 'off', grant_roots: [${far}] }\n`,
    });
    try {
      project.write('tools/large/cli.sh', '#!/bin/bash\necho new > "$2"; truncate -s 300M "$4"\n', 0o755);
      project.write(
        'tools/large/tool.yaml',
        `name: large\nversion: 1.0.0\nadapter: plain\nresources: { file_mb: 400 }\ninputs: [${INPUTS}]\n`,
      );
      const killed = async (target: string) => {
        const running = project.start(['run', 'large', '--out', target, '--other', join(far, 'large.bin')]);
        await until(() => readdirSync(far).length > 0);
        const runId = project.runIds().at(-1)!;
        await project.killSupervisor(runId);
        await running.finished;
        assert.equal(readFileSync(target, 'utf8'), 'new\n');
        return runId;
      };
      const made = project.path('made.txt');
      const first = await killed(made);
      await project.run(['quick']);
      assert.deepEqual([existsSync(made), readdirSync(far)], [false, []]);
      assert.equal(readFileSync(project.path(`.runs/${first}/work/.staged/out/made.txt`), 'utf8'), 'new\n');

      const changed = project.write('changed.txt', 'old\n');
      const second = await killed(changed);
      writeFileSync(changed, 'of the user\n');
      await project.run(['quick']);
      assert.deepEqual([readFileSync(changed, 'utf8'), readdirSync(far)], ['of the user\n', []]);
      const warning = project.events(second).find(({ code }) => code === 'E_CONFLICT')!;
      const [, command] = /Put it back with: (.+)$/.exec(String(warning.msg))!;
      assert.equal(spawnSync('sh', ['-c', command!]).status, 0);
      assert.equal(readFileSync(changed, 'utf8'), 'old\n');
    } finally {
      rmSync(far, { recursive: true });
    }
  });

  it('leaves no output when the last one is in place and the end of the run is not recorded', async () => {
    using project = new TestProject({
      tools: ['quick'],
      config: "version: 1\nsecurity: { isolation: 'off', writes: snapshot }\n",
    });
    project.write('tools/w/cli.sh', '#!/bin/bash\necho new > "$2"\n', 0o755);
    const dir = '{ name: dir, type: path, access: write }';
    project.write(
      'tools/w/tool.yaml',
      `name: w\nversion: 1.0.0\nadapter: plain\ninputs: [${INPUTS}, ${dir}]\n`,
    );
    const folder = project.path('folder');
    mkdirSync(folder);
    const out = project.path('out.txt');
    const run = () => project.start(['run', 'w', '--out', out, '--dir', folder]);
    const placed = () => existsSync(out) && readFileSync(out, 'utf8') === 'new\n';
    const files = () => readdirSync(project.root).filter((name) => name.startsWith('.acor-'));
    for (const old of [undefined, 'old\n']) {
      await reachedInTime(async (tenths) => {
        rmSync(out, { force: true });
        if (old !== undefined) writeFileSync(out, old);
        // After the outputs are in place, ACOR compares the folder.
        truncateSync(project.write('folder/large.bin', ''), tenths * 100e6);
        const running = run();
        await until(placed);
        const runId = project.runIds().at(-1)!;
        await project.killSupervisor(runId).catch(() => undefined);
        await running.finished;
        const isCompleted = project.events(runId).some(({ to }) => to === 'completed');
        await project.run(['quick']);
        if (isCompleted) {
          assert.deepEqual([placed(), files()], [true, []]);
          return undefined;
        }
        assert.equal(project.record(runId)?.state, 'failed');
        assert.equal(existsSync(out) ? readFileSync(out, 'utf8') : undefined, old);
        assert.equal(readFileSync(project.path(`.runs/${runId}/work/.staged/out/out.txt`), 'utf8'), 'new\n');
        assert.deepEqual(files(), []);
        return true;
      });
    }
    // The control: without a kill it stays.
    await run().finished;
    assert.deepEqual([placed(), files()], [true, []]);
  });

  it('removes nothing that a record names which ACOR has not written', async () => {
    using project = new TestProject({ tools: ['quick', 'waits'] });
    const running = project.start(['run', 'waits']);
    const runId = String((await running.event('start')).run_id);
    await project.killSupervisor(runId);
    await running.finished;
    const named = project.write('near/.acor-0000000000000000', 'of the user');
    const record = join(project.runsDir, runId, 'control/unfinished-outputs.json');
    writeFileSync(record, `{"paths":["${named}"],"code":"${'0'.repeat(64)}"}\n`);
    await project.run(['quick']);
    assert.equal(readFileSync(named, 'utf8'), 'of the user');
    const warnings = project.events(runId).filter(({ type }) => type === 'runner_warning');
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['E_INTEGRITY'],
    );
    assert.equal(project.record(runId)?.state, 'failed');
  });
});
