import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { Acor } from '../../src/index.ts';
import { childrenOf, commandLineOf, identify, readProcess } from '../../src/util/process-table.ts';
import { until } from '../support/project.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';

const { available } = await bubblewrap.probe();

/** Everything that a tool can see of its sandbox. */
const LOOKS = `#!/bin/bash
echo "to stderr" >&2
args=$*
list() {
  echo "ids $(id -u) $(id -g) $(id -G)"
  echo "status"; grep -E '^(Cap|NoNewPrivs|Seccomp|Groups)' /proc/self/status
  echo "limits"; ulimit -a
  echo "env"; env | sort
  echo "mounts"; cut -d' ' -f4-6,9 /proc/self/mountinfo
  echo "cwd $(pwd)"
  echo "runs"; ls -lan "$(dirname "$(dirname "$WORKSPACE")")" | sed 's/ [A-Z][a-z]* *[0-9]* [0-9:]* / DATE /'
  echo "run"; ls -lanR "$(dirname "$WORKSPACE")" | sed 's/ [A-Z][a-z]* *[0-9]* [0-9:]* / DATE /'
  echo "fds"; ls /proc/self/fd | wc -l
  echo "args $args"
}
ls /tmp/left /dev/shm/left > "$WORKSPACE/left.txt" 2>/dev/null
touch /tmp/left /dev/shm/left
list > "$WORKSPACE/seen.txt"
printf '{"type":"result","ok":true,"data":{"pid":%s}}\\n' $$
`;

const MANIFEST = 'name: looks\nversion: 1.0.0\ninputs:\n  - name: word\n    type: string\n';

describe('a sandbox that waits for its run', { skip: !available && 'bubblewrap is not here' }, () => {
  let project: ProjectFolder;
  let acor: Acor;
  const standbys = () => {
    const folder = project.at('.runs/cache/standby');
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  /** The sandboxes that wait, by their processes. */
  const waiting = () => childrenOf(process.pid).filter((pid) => commandLineOf(pid).includes('bwrap'));
  /** Until one is there, and its launcher waits for a run. */
  const prepared = () =>
    until(
      () => standbys().length === 1 && waiting().flatMap(childrenOf).filter(isLauncherInRead).length === 1,
    );
  /** Runs the tool until the sandbox of its next run waits. */
  const runTwice = async (tool = 'looks') => {
    for (let count = 0; count < 2; count++) assert.equal((await acor.run(tool, {})).state, 'completed');
    await prepared();
  };
  const seen = (dir: string) =>
    readFileSync(join(dir, 'work', 'seen.txt'), 'utf8')
      .replaceAll(/^\/bindfile\S+/gm, 'DATA')
      // What the project hides is an empty folder there in any case.
      .replace(/^\/ \S*\/\.runs rw.* tmpfs\n/m, '')
      .replaceAll(/(\d+) DATE seen/g, 'SIZE DATE seen')
      .replaceAll(dir.split('/').at(-1)!, 'RUN')
      .replace(/(TRACE_ID|SPAN_ID|TRACEPARENT|DEADLINE_TS)=.*/g, '$1')
      .replaceAll(/\b6[1-5]\d{3}\b/g, 'UID');

  beforeEach(() => {
    project = projectFolder({ 'tools/looks/tool.yaml': MANIFEST, '.acor/config.yaml': 'version: 1\n' });
    project.program('tools/looks/main.sh', LOOKS);
    acor = new Acor({ cwd: project.root });
  });
  afterEach(async () => {
    // The sandbox of the next run is prepared a moment after the start of a run.
    project.remove();
    await until(() => {
      for (const pid of waiting()) process.kill(pid, 'SIGKILL');
      return waiting().length === 0;
    });
  });

  it('shows the tool the same as one that starts with its run, and keeps the same', async () => {
    const cold = await acor.run('looks', {});
    await acor.run('looks', {});
    await prepared();
    const [pid] = waiting();
    const warm = await acor.run('looks', { word: 'hello' });
    assert.ok(!waiting().includes(pid!), 'the run has used it');
    assert.equal(
      seen(warm.dir)
        .replace('args --word hello', 'args ')
        .replace(/ACOR_INPUTS=.*/, ''),
      seen(cold.dir).replace(/ACOR_INPUTS=.*/, ''),
    );
    const events = (dir: string) =>
      readFileSync(join(dir, 'events.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type)
        // Of what a tool writes to two streams at once, either may be read first.
        .filter((type) => type !== 'diagnostic');
    const diagnostics = (dir: string) =>
      readFileSync(join(dir, 'events.jsonl'), 'utf8').split('"type":"diagnostic"').length - 1;
    assert.deepEqual([diagnostics(warm.dir), diagnostics(cold.dir)], [1, 1]);
    assert.deepEqual(events(warm.dir), events(cold.dir));
    const files = (dir: string) => readdirSync(dir, { recursive: true }).sort();
    assert.deepEqual(files(warm.dir), files(cold.dir));
    assert.equal(readFileSync(join(warm.dir, 'logs/stderr.log'), 'utf8'), 'to stderr\n');
  });

  it('is used by one run, and nothing of it is there for the next', async () => {
    await runTwice();
    const users = new Set<string>();
    for (let count = 0; count < 3; count++) {
      await prepared();
      const { dir } = await acor.run('looks', {});
      const text = readFileSync(join(dir, 'work', 'seen.txt'), 'utf8');
      users.add(text);
      assert.equal(readFileSync(join(dir, 'work', 'left.txt'), 'utf8'), '');
      assert.doesNotMatch(text, /standby/);
    }
    assert.equal(users.size, 3);
  });

  it('is not used after a file that it shows was replaced, and the run sees the new one', async () => {
    await runTwice();
    const [pid] = waiting();
    const folder = project.at('tools/looks');
    renameSync(folder, project.at('old'));
    mkdirSync(folder);
    writeFileSync(join(folder, 'tool.yaml'), MANIFEST);
    project.program('tools/looks/main.sh', LOOKS.replace('echo "args', 'echo "new'));
    const { dir } = await acor.run('looks', {});
    assert.match(readFileSync(join(dir, 'work', 'seen.txt'), 'utf8'), /^new/m);
    assert.ok(waiting().includes(pid!), 'it waits for a run that never comes');
  });

  it('is not used by a run with another grant, or another limit', async () => {
    await runTwice();
    const [pid] = waiting();
    mkdirSync(project.at('shared'), { recursive: true });
    const others = [
      ['resources:\n  tmp_mb: 3\n', /^args/m],
      ['permissions:\n  filesystem:\n    read: [shared]\n', /\/shared /],
      ['resources:\n  open_files: 77\n', /^open files +\(-n\) 77$/m],
    ] as const;
    for (const [more, shown] of others) {
      project.write('tools/looks/tool.yaml', MANIFEST + more);
      const { state, dir } = await acor.run('looks', {});
      assert.equal(state, 'completed');
      assert.ok(waiting().includes(pid!), more);
      assert.match(readFileSync(join(dir, 'work', 'seen.txt'), 'utf8'), shown);
    }
  });

  it('that was killed, or whose folders are gone, leaves the run to start its own', async () => {
    await runTwice();
    process.kill(waiting()[0]!, 'SIGKILL');
    await until(() => waiting().length === 0);
    assert.equal((await acor.run('looks', {})).state, 'completed');
    await prepared();
    rmSync(project.at('.runs/cache/standby'), { recursive: true });
    const { state, dir } = await acor.run('looks', {});
    assert.equal(state, 'completed');
    assert.match(readFileSync(join(dir, 'work', 'seen.txt'), 'utf8'), /^args/m);
  });

  it('that is killed when a run takes it leaves the run to start another one, unless the tool has started', async () => {
    for (const which of ['bubblewrap', 'launcher'] as const) {
      await runTwice();
      const [outer] = waiting();
      const launcher = childrenOf(outer!).find(isLauncherInRead)!;
      // It reads no orders: so the kill comes between those and the start of the tool.
      process.kill(launcher, 'SIGSTOP');
      const [folder] = standbys();
      const running = acor.run('looks', {});
      await until(() => !existsSync(project.at(`.runs/cache/standby/${folder}`)) || waitingOrders() > 0);
      process.kill(which === 'bubblewrap' ? outer! : launcher, 'SIGKILL');
      const { state, message, dir } = await running;
      assert.equal(state, 'completed', `${which}: ${message}`);
      assert.match(readFileSync(join(dir, 'work', 'seen.txt'), 'utf8'), /^args/m);
    }
    // The control: what a started tool has done must not be done again.
    project.write('tools/sleeps/tool.yaml', 'name: sleeps\nversion: 1.0.0\n');
    project.program('tools/sleeps/main.sh', '#!/bin/bash\necho x >> started\nsleep 100\n');
    const slow = acor.run('sleeps', {});
    const started = () =>
      readdirSync(project.at('.runs')).filter((id) => existsSync(project.at(`.runs/${id}/work/started`)));
    await until(() => started().length > 0);
    const [run] = started();
    for (const pid of childrenOf(process.pid))
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').includes(run!)) process.kill(pid, 'SIGKILL');
    assert.equal((await slow).state, 'failed');
    assert.equal(readFileSync(project.at(`.runs/${run}/work/started`), 'utf8'), 'x\n');
  });

  it('takes the arguments of the run, and leaves one with longer ones to start its own', async () => {
    await runTwice();
    const word = 'x'.repeat(100_000);
    const { state, dir } = await acor.run('looks', { word });
    assert.equal(state, 'completed');
    assert.ok(readFileSync(join(dir, 'work', 'seen.txt'), 'utf8').includes(`args --word ${word}\n`));
  });

  it('is not used before it is ready', async () => {
    project.write('tools/quick/tool.yaml', 'name: quick\nversion: 1.0.0\n');
    project.program('tools/quick/main.sh', '#!/bin/bash\n');
    await acor.run('quick', {});
    for (let count = 0; count < 30; count++) {
      const { state, message } = await acor.run('quick', {});
      assert.equal(state, 'completed', String(message));
      // The next run starts together with its sandbox.
      while (standbys().length === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('passes on the questions of the tool, and the answers', async () => {
    project.write('tools/asks/tool.yaml', 'name: asks\nversion: 1.0.0\nactions: [choose]\n');
    project.program(
      'tools/asks/main.sh',
      `#!/bin/bash
echo '{"type":"action_required","action":"choose","action_id":"a-1","blocking":true,"context":{}}'
read -r answer
printf '{"type":"result","ok":true,"data":%s}\n' "$answer"
`,
    );
    const ask = (answer: string) => acor.run('asks', {}, { answers: { choose: answer } });
    for (const answer of ['first', 'second']) assert.equal((await ask(answer)).state, 'completed');
    await prepared();
    const [pid] = waiting();
    const { result, state, message, dir } = await ask('third');
    assert.ok(!waiting().includes(pid!));
    assert.match(
      JSON.stringify(result),
      /third/,
      `${state}: ${message} ${readFileSync(join(dir, 'events.jsonl'))}`,
    );
  });

  /** A process that prepares a sandbox and ends. Returns the name of the folder that it leaves. */
  const leftByAnother = async (): Promise<string> => {
    const script = `import { Acor } from '${join(import.meta.dirname, '../../src/index.ts')}';
      import { existsSync, readdirSync } from 'node:fs';
      const acor = new Acor({ cwd: process.argv[1] });
      for (let count = 0; count < 2; count++) await acor.run('looks');
      const folder = process.argv[1] + '/.runs/cache/standby';
      const isOwn = (name) => name.split('.')[1] === String(process.pid);
      while (!existsSync(folder) || !readdirSync(folder).some(isOwn)) await new Promise((resolve) => setTimeout(resolve, 5));
      console.log(process.pid);`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script, project.root], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    const pid = Number(stdout);
    await until(() => childrenOf(pid).length === 0);
    const left = standbys().filter((name) => name.split('.')[1] === String(pid));
    assert.equal(left.length, 1);
    return left[0]!;
  };

  it('does not keep its process from ending, ends with it, and its folder is removed by the next process', async () => {
    const left = await leftByAnother();
    await runTwice();
    assert.ok(!standbys().includes(left));
  });

  it('leaves a folder that is removed also by a process that has prepared others before', async () => {
    await runTwice();
    const left = await leftByAnother();
    await acor.run('looks', {});
    await until(() => !standbys().includes(left));
  });

  it('is not prepared through a link in place of its folder, and nothing there is removed', async () => {
    const { boot_id } = identify(process.pid);
    // As that of a process that has died.
    const dead = `${boot_id}.${spawnSync('true').pid}.1.0`;
    const outside = project.at('outside');
    mkdirSync(join(outside, dead), { recursive: true });
    mkdirSync(project.at('.runs/cache'), { recursive: true });
    symlinkSync(outside, project.at('.runs/cache/standby'));
    for (let count = 0; count < 3; count++) assert.equal((await acor.run('looks', {})).state, 'completed');
    // The control: a folder at this place is swept, and the sandbox of the next run waits in it.
    rmSync(project.at('.runs/cache/standby'));
    mkdirSync(project.at(`.runs/cache/standby/${dead}`), { recursive: true });
    await acor.run('looks', {});
    await prepared();
    assert.ok(!standbys().includes(dead));
    assert.deepEqual(readdirSync(outside), [dead]);
  });

  it('serves each of many runs at once, of which one finds it', async () => {
    await runTwice();
    const runs = await Promise.all(Array.from({ length: 6 }, () => acor.run('looks', {})));
    assert.deepEqual(new Set(runs.map(({ state }) => state)), new Set(['completed']));
    const pids = new Set(runs.map(({ dir }) => readFileSync(join(dir, 'work', 'seen.txt'), 'utf8')));
    assert.equal(pids.size, 6);
  });
});

/** In a read of the run's orders: it has started the process of the tool, and waits. The system call itself is closed to an ordinary user. */
function isLauncherInRead(pid: number): boolean {
  return readProcess(pid)?.state === 'S' && childrenOf(pid).length > 0;
}

/** How many bytes wait in the pipe from which a launcher reads the run's orders. This process has its other end: the launcher's is closed to an ordinary user. */
function waitingOrders(): number {
  const script = `import fcntl, os, struct, sys
waiting = [0]
for name in os.listdir(f'/proc/{sys.argv[1]}/fd'):
    path = f'/proc/{sys.argv[1]}/fd/{name}'
    if os.readlink(path).endswith('stdin (deleted)'):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        waiting.append(struct.unpack('i', fcntl.ioctl(fd, 0x541b, b'0000'))[0])
print(max(waiting))`;
  return Number(spawnSync('python3', ['-c', script, String(process.pid)], { encoding: 'utf8' }).stdout);
}
