import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TERMS } from '../../src/core/host/host-folder.ts';
import { isFinal } from '../../src/protocol/run.ts';
import { commandLineOf, identify, isRunning } from '../../src/util/process-table.ts';
import { HostProject, NO_HOST } from '../support/host.ts';
import { parseLines, processesOf, until } from '../support/project.ts';

const OFF = "version: 1\nenvironment: { cancel_grace_s: 0.3 }\nsecurity: { isolation: 'off' }\n";

/** Everything that a process inherits, as far as it can see. */
const PROBE = `#!/bin/bash
{
  env | sort
  pwd
  umask
  ulimit -a
  id
  nice
  tty
  cat
  grep -E '^(Sig(Blk|Ign|Cgt)|Cap|Groups|NoNewPrivs|Seccomp|Umask|Cpus_allowed)' /proc/self/status
  ls -l /proc/self/fd | awk '{ print $9, $10, $11 }'
  cat /proc/self/cgroup /proc/self/oom_score_adj
  for each in /proc/self/ns/*; do readlink "$each" | sed 's/[0-9]*//g'; done
  echo "$@"
} 2>&1 | while IFS= read -r line; do
  printf '{"type":"log","level":"info","msg":"%s"}\\n' "$(printf %s "$line" | sed 's/[\\\\"]/./g; s/\\t/ /g')"
done
echo made > "$ARTIFACTS_DIR/made.txt"
echo '{"type":"result","status":"ok","data":{"n":1}}'
`;

/** What differs between two runs of the same call. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/r-[0-9a-z]{16}/g, 'RUN'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
  [/"(trace_id|span_id|sha256)":"[0-9a-f]+"/g, '"$1":"HEX"'],
  [/"(duration_s|cpu_s|max_rss_bytes|elapsed|pid|start_time)":[\d.]+/g, '"$1":0'],
  // Null where the tool used less than its supervisor had before the start.
  [/"max_rss_bytes":null/g, '"max_rss_bytes":0'],
  [/"marks":\[(?:\[\d+,"[0-9a-f]+"\],?)*\]/g, '"marks":[]'],
  [/"bytes":\d+/g, '"bytes":0'],
  // The signature of a file, of which its path is a part.
  [/"code":"[0-9a-f]{64}"/g, '"code":"HEX"'],
  [/(pipe|socket):\[\d+\]/g, '$1'],
  [/(TRACEPARENT|TRACE_ID|SPAN_ID)=[0-9a-f-]+/g, '$1'],
  [/(RUN)\.\d+/g, '$1'],
  [/\/proc\/\d+\//g, '/proc/PID/'],
  [/acor-u\d+|\b(uid|gid|groups)=\d+\([^)]*\)/g, 'USER'],
];

function same(text: string): string {
  return VOLATILE.reduce((before, [pattern, put]) => before.replace(pattern, put), text);
}

/** The files of the newest run: paths, modes, owners, and what is in them. */
function record(project: HostProject): string[] {
  const dir = join(project.runsDir, project.runIds().at(-1)!);
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((path) => {
      const stats = lstatSync(join(dir, path));
      const text = stats.isFile() ? readFileSync(join(dir, path), 'utf8') : '';
      return same(`${path} ${stats.mode.toString(8)} ${stats.uid} ${text}`);
    });
}

function supervisorOf(project: HostProject): number {
  return project.record(project.runIds().at(-1)!)!.pid;
}

const TOOLS = [
  'quick',
  'exits_with',
  'asks',
  'prints_json',
  'no_result',
  'holds',
  'heeds_cancel',
  'many_events',
];

function projectOf(program: string, config?: string): HostProject {
  const project = new HostProject({ tools: TOOLS, program, ...(config && { config }) });
  project.write('tools/probe/cli.sh', PROBE, 0o755);
  project.write(
    'tools/probe/tool.yaml',
    'name: probe\nversion: 1.0.0\ndescription: Says what it has inherited.\nextra_args: true\nenv: { allow: [GIVEN] }\n',
  );
  return project;
}

/** What every caller of a host must give its user: the same as without one. `program` is what a user starts. */
export function hostCallsContract(caller: string, program: string): void {
  const makeProject = (config?: string) => projectOf(program, config);

  describe(`a call that a host runs for ${caller}`, { skip: NO_HOST }, () => {
    const CALLS: readonly { args: string[]; stdin?: string; env?: Record<string, string>; again?: true }[] = [
      { args: ['run', 'probe', 'one', 'two words'], env: { GIVEN: 'yes' } },
      { args: ['run', 'probe', '--no-stream'] },
      { args: ['run', 'quick', '--format', 'text'] },
      { args: ['run', 'quick', '--no-stream', '--fields', 'result.data'] },
      { args: ['run', 'exits_with', '3'] },
      { args: ['run', 'no_result', '--no-stream'] },
      { args: ['run', 'prints_json', '--no-stream'] },
      { args: ['run', 'asks', '--answer', 'choose_speed=fast'] },
      { args: ['run', 'asks', '--input-json', '-', '--answer', 'choose_speed=fast'], stdin: '{"id":"b-2"}' },
      ...[' ', '  ', ' '.repeat(100_000)].map((rest) => ({
        args: ['run', 'asks', '--input-json', '-', '--answer', 'choose_speed=fast', '--no-stream'],
        stdin: `{"id":"é"}${rest}`,
      })),
      { args: ['run', 'quick', '--dry-run'] },
      { args: ['run', 'quick', '--timeout', 'x'] },
      { args: ['run', 'quik'] },
      { args: ['run', '--help'] },
      { args: ['run', 'quick', '--cwd', '/nonexistent'] },
      { args: ['exec', '--', 'printf', '%s\\n', 'a', 'b'] },
      { args: ['exec', '--', 'printf', '%s', '"a\\b\n\t\u0001é𝄞\u2028'] },
      { args: ['exec', '--', 'cat'], stdin: 'unread' },
      { args: ['list'] },
      { args: ['list', '--format', 'text'] },
      { args: ['describe', 'probe'] },
      { args: ['show', 'last', '--fields', 'run.tool'] },
      { args: ['show', 'r-0000000000000000'] },
    ];

    for (const [name, config] of [
      ['in the sandbox', undefined],
      ['without a sandbox', OFF],
    ] as const)
      it(`has the same answer, exit code, events and record as one without, ${name}`, async () => {
        await using project = makeProject(config);
        const host = await project.warmUp();
        for (const { args, env = {}, ...given } of CALLS) {
          const before = project.runIds().length;
          const alone = await project.acor(args, { ...given, env: { ...project.off, ...env } });
          // A tool that may ask has a supervisor of its own, which tidies up after the answer.
          const hasOwn = args.includes('asks');
          const isTidy = () => !isRunning(project.record(project.runIds().at(-1)!)!.supervisor);
          if (hasOwn) await until(isTidy);
          const started = project.runIds().length - before;
          const aloneRecord = started > 0 ? record(project) : [];
          const hosted = await project.acor(args, { ...given, env: { ...project.auto, ...env } });
          const what = args.join(' ');
          if (hasOwn) await until(isTidy);
          assert.equal(project.runIds().length - before, 2 * started, what);
          assert.deepEqual(
            [hosted.code, ...same(hosted.stdout).split('\n'), same(hosted.stderr)],
            [alone.code, ...same(alone.stdout).split('\n'), same(alone.stderr)],
            what,
          );
          if (started === 0) continue;
          assert.deepEqual(record(project), aloneRecord, what);
          if (!hasOwn) assert.equal(supervisorOf(project), host.pid, what);
        }
        assert.equal((await project.acor(['verify'], { env: project.off })).code, 0);
      });

    it('gets the environment, the directory and the input of its caller, and nothing of the call before', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const messages = async (env: Record<string, string>) => {
        const { of } = await project.run(['probe'], { env: { ...project.auto, ...env } });
        assert.equal(supervisorOf(project), pid);
        return of('log').map((event) => event.msg as string);
      };
      assert.ok((await messages({ GIVEN: 'first' })).includes('GIVEN=first'));
      assert.ok((await messages({ GIVEN: 'second' })).includes('GIVEN=second'));
      assert.ok(!(await messages({})).some((line) => line.startsWith('GIVEN=')));
      const below = project.path('tools');
      const { stdout } = await project.acor(['exec', '--cwd', below, '--', 'cat', 'quick/tool.yaml'], {
        env: project.auto,
      });
      assert.match(stdout, /name: quick/);
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      assert.ok(!environment.includes('GIVEN='));
    });

    it('starts the tools of its calls through one launcher that stays, where the launcher is their first process', async () => {
      await using project = makeProject(OFF);
      await project.warmUp();
      project.write('tools/parent/tool.yaml', 'name: parent\nversion: 1.0.0\nadapter: plain\n');
      project.write('tools/parent/cli.sh', '#!/bin/bash\ncat /proc/$PPID/comm; echo $PPID\n', 0o755);
      const launcher = async () => {
        const { of } = await project.run(['parent'], { env: project.auto });
        return of('log').map(({ msg }) => msg);
      };
      const [name, pid] = await launcher();
      assert.equal(name, 'perl');
      assert.deepEqual(await launcher(), [name, pid]);
    });

    it('warns of input that comes while the program runs, as one without a host does', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      mkdirSync(project.path('gates'));
      // The program waits until the data are in the pipe.
      const wait = 'touch gates/began; until [ -e gates/written ]; do sleep 0.05; done';
      const { stdout, stderr } = spawnSync(
        'sh',
        [
          '-c',
          `mkfifo late; { until [ -e gates/began ]; do sleep 0.05; done; echo data; touch gates/written; } > late &
           "$ACOR" exec --no-stream --write gates -- sh -c '${wait}' < late; wait`,
        ],
        {
          cwd: project.root,
          env: { ...project.environment(project.auto), ACOR: project.program },
          encoding: 'utf8',
        },
      );
      assert.match(stderr, /does not get your standard input/, stdout);
      assert.equal(supervisorOf(project), pid);
    });

    it('sees each change of a tool, of the configuration, and of the policy at once', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const call = async (args: string[]) => project.acor(['run', ...args], { env: project.auto });
      assert.equal((await call(['quick'])).code, 0);
      project.write(
        'tools/quick/cli.sh',
        '#!/bin/bash\necho \'{"type":"result","status":"ok","data":{"changed":true}}\'\n',
        0o755,
      );
      const changed = await call(['quick', '--no-stream', '--fields', 'result.data']);
      assert.match(changed.stdout, /"changed":true/);
      assert.equal(supervisorOf(project), pid);
      project.write('.acor/policy.yaml', 'deny: [{ tool: quick, reason: not today }]\nversion: 1\n');
      const refused = await call(['quick']);
      const alone = await project.acor(['run', 'quick'], { env: project.off });
      assert.notEqual(alone.code, 0);
      assert.deepEqual([refused.code, same(refused.stdout)], [alone.code, same(alone.stdout)]);
    });

    it('ends by a signal to its caller as one without a host does', async () => {
      await using project = makeProject(OFF);
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        const { pid } = await project.warmUp();
        const ends = [];
        for (const env of [project.off, project.auto]) {
          const running = project.start(['run', 'heeds_cancel'], { env });
          await running.event('heartbeat');
          running.child.kill(signal);
          const { code, stdout } = await running.finished;
          const { state, code: ended } = parseLines(stdout).at(-1)!;
          ends.push([code, state, ended]);
        }
        assert.equal(supervisorOf(project), pid);
        assert.deepEqual(ends[1], ends[0], signal);
      }
    });

    it('is cancelled when its caller is killed, and the process waits again', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const host = identify(pid);
      const running = project.start(['run', 'heeds_cancel'], { env: project.auto });
      await running.event('heartbeat');
      const runId = project.runIds().at(-1)!;
      assert.equal(supervisorOf(project), pid);
      running.child.kill('SIGKILL');
      await until(() => isFinal(project.record(runId)!.state));
      const end = project.events(runId).at(-1)!;
      assert.deepEqual([end.type, end.state], ['runner_end', 'cancelled']);
      assert.deepEqual(processesOf(runId), []);
      await until(() => !isRunning(host) || project.sockets().some((name) => name.endsWith('.idle')));
      assert.equal((await project.run(['quick'], { env: project.auto })).code, 0);
      assert.equal(supervisorOf(project), pid);
    });

    it('starts nothing when its caller is killed before it has given its input, and the process ends', async () => {
      await using project = makeProject(OFF);
      const host = identify((await project.warmUp()).pid);
      const running = project.start(['run', 'asks', '--input-json', '-'], { env: project.auto });
      // More than a pipe holds: the caller reads, because the process has asked for its input. The end does not come.
      await new Promise((resolve) => running.child.stdin!.write(' '.repeat(1024 * 1024), resolve));
      running.child.kill('SIGKILL');
      await until(() => !isRunning(host));
      assert.deepEqual(project.runIds(), []);
    });

    it('continues when the reader of its output leaves', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const gone = project.path('gone');
      const running = project.start(['run', 'holds', gone], { env: project.auto });
      await running.event('heartbeat');
      running.child.stdout!.destroy();
      const runId = project.runIds().at(-1)!;
      assert.equal(supervisorOf(project), pid);
      await until(() => project.events(runId).length > 20);
      writeFileSync(gone, '');
      await until(() => isFinal(project.record(runId)!.state));
      assert.equal(project.record(runId)!.state, 'completed');
    });

    it('continues when the reader of a long answer leaves', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      await shell(project, `${project.program} run many_events --count 50000 | head -n 1`, project.auto);
      const runId = project.runIds().at(-1)!;
      await until(() => isFinal(project.record(runId)!.state));
      assert.deepEqual([project.record(runId)!.state, supervisorOf(project)], ['completed', pid]);
    });

    it('reports an answer that its stdout does not take, as one without a host does', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const [alone, hosted] = [project.off, project.auto].map((env) =>
        spawnSync('sh', ['-c', '"$ACOR" list > /dev/full'], {
          cwd: project.root,
          env: { ...project.environment(env), ACOR: project.program },
          encoding: 'utf8',
        }),
      );
      assert.match(alone!.stderr, /could not be written: ENOSPC/);
      assert.deepEqual([hosted!.status, hosted!.stderr], [alone!.status, alone!.stderr]);
      assert.ok(isRunning(identify(pid)));
    });

    it('writes a long answer whole, at the pace of its reader', async () => {
      await using project = makeProject(OFF);
      await project.warmUp();
      const { stdout } = await shell(
        project,
        `${project.program} run many_events --count 20000 | { sleep 0.2; cat; } | tail -n 1`,
        project.auto,
      );
      const end = parseLines(stdout)[0]!;
      assert.equal(end.type, 'runner_end');
    });
  });

  describe(`a host that ${caller} calls`, { skip: NO_HOST }, () => {
    it('that is killed loses no run and fails no call: its run ends as lost, and the next call runs by itself', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const running = project.start(['run', 'heeds_cancel', '--no-stream'], { env: project.auto });
      await until(() => project.runIds().some((id) => project.record(id)?.state === 'running'));
      const runId = project.runIds().at(-1)!;
      await project.killSupervisor(runId);
      const { code, stdout } = await running.finished;
      assert.equal(code, 1);
      assert.equal(JSON.parse(stdout).error.code, 'E_RUNNER_LOST');
      const next = await project.run(['quick'], { env: project.auto });
      assert.equal(next.code, 0);
      assert.notEqual(supervisorOf(project), pid);
      assert.equal(project.record(runId)!.state, 'failed');
      await until(() => processesOf(runId).length === 0);
    });

    it('that was killed while it waited leaves a socket, which the next call removes', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const identity = identify(pid);
      process.kill(pid, 'SIGKILL');
      await until(() => !isRunning(identity));
      const stale = nameOf(project, pid);
      assert.equal((await project.run(['quick'], { env: project.auto })).code, 0);
      assert.ok(!project.sockets().some((name) => name.startsWith(stale)));
    });

    it('that is ended by SIGTERM cancels the run of its call, and leaves no socket, nor does one that waits', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const identity = identify(pid);
      const running = project.start(['run', 'heeds_cancel', '--no-stream'], { env: project.auto });
      await until(() => project.runIds().some((id) => project.record(id)?.state === 'running'));
      assert.equal(supervisorOf(project), pid);
      process.kill(pid, 'SIGTERM');
      const { stdout } = await running.finished;
      assert.equal(JSON.parse(stdout).error.code, 'E_CANCELLED');
      await until(() => !isRunning(identity));
      assert.ok(!project.sockets().some((name) => name.startsWith(`${pid}-`)));

      const { pid: waits } = await project.warmUp();
      const waiting = identify(waits);
      process.kill(waits, 'SIGTERM');
      await until(() => !isRunning(waiting));
      assert.ok(!project.sockets().some((name) => name.startsWith(`${waits}-`)));
    });

    it('says the same of standard input that has no end or is a folder', async () => {
      await using project = makeProject(OFF);
      await project.warmUp();
      for (const input of ['</dev/zero', '</']) {
        const script = `${project.program} exec --read - -- wc -c ${input}`;
        const [alone, hosted] = [
          await shell(project, script, project.off),
          await shell(project, script, project.auto),
        ];
        assert.equal(JSON.parse(alone.stdout).error.code, 'E_USAGE');
        assert.deepEqual(
          [hosted.code, JSON.parse(hosted.stdout).error],
          [alone.code, JSON.parse(alone.stdout).error],
          input,
        );
      }
    });

    it('does not serve a caller whose tools would have other limits, nor one in a sandbox', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const alone = async (script: string) => {
        const { stdout } = await shell(project, script, { ...project.auto, ACOR_HOST: 'auto' });
        const end = parseLines(stdout).at(-1)!;
        assert.equal(end.type, 'runner_end', script);
        assert.equal(end.state, 'completed', script);
        return supervisorOf(project);
      };
      assert.equal(await alone(`${project.program} run quick`), pid);
      for (const before of [
        'ulimit -n 512',
        'umask 027',
        'ulimit -t 600',
        'echo 0x7 >/proc/self/coredump_filter',
      ])
        assert.notEqual(await alone(`${before}; ${project.program} run quick`), pid, before);
      for (const prefix of ['nice -n 5', 'setpriv --no-new-privs', WITHOUT_HUGE_PAGES])
        assert.notEqual(await alone(`${prefix} ${project.program} run quick`), pid, prefix);
      assert.equal(await alone(`${project.program} run quick`), pid);
    });

    it('asks the kernel who calls, so that a sandboxed process which knows the socket is refused', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const socket = join(project.folder(), `${nameOf(project, pid)}.idle`);
      const hello = (confined: boolean) =>
        spawnSync(
          confined ? 'setpriv' : 'perl',
          [...(confined ? ['--no-new-privs', 'perl'] : []), '-e', SAY_HELLO, socket, project.root],
          { encoding: 'utf8' },
        ).stdout;
      assert.match(hello(true), /"refused":"the tools of the caller would have other rights or limits"/);
      // The control: the same words from a process that is as the host is.
      assert.match(hello(false), /"begun":true/);
    });

    it('is out of reach of a tool in the sandbox, with the control of a tool without one', async () => {
      for (const config of [undefined, OFF]) {
        await using project = makeProject(config);
        const { pid } = await project.warmUp();
        const socket = join(project.folder(), `${nameOf(project, pid)}.busy`);
        project.write(
          'tools/intruder/cli.sh',
          `#!/bin/bash\nif perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0) or exit 1; connect($s, sockaddr_un($ARGV[0])) or exit 1' ${socket}; then r=open; else r=shut; fi\necho '{"type":"result","status":"ok","data":{"is":"'$r'"}}'\n`,
          0o755,
        );
        project.write(
          'tools/intruder/tool.yaml',
          'name: intruder\nversion: 1.0.0\ndescription: Tries to reach the host that runs it.\npermissions: { commands: [perl] }\n',
        );
        const { of } = await project.run(['intruder'], { env: project.auto });
        assert.equal(supervisorOf(project), pid);
        const { backend } = of('runner_start')[0]!.isolation as { backend: string };
        if (config === OFF) assert.equal(backend, 'none');
        assert.deepEqual(of('result')[0]!.data, { is: backend === 'none' ? 'open' : 'shut' });
      }
    });

    it('has a folder that is granted to no tool', async () => {
      await using project = makeProject(undefined);
      await project.warmUp();
      project.write(
        'tools/takes/tool.yaml',
        'name: takes\nadapter: plain\ncommand: [ls]\ninputs: [{ name: at, type: path, access: write, positional: true }]\n',
      );
      for (const path of [project.folder(), project.path('runtime/acor'), project.path('runtime/acor/new')]) {
        const { error } = await project.envelope(['run', '--no-stream', 'takes', path], { env: project.off });
        assert.equal(error?.code, 'E_PERMISSION', path);
      }
      // The control: a folder beside it.
      mkdirSync(project.path('runtime/other'));
      const beside = await project.envelope(['run', '--no-stream', 'takes', project.path('runtime/other')], {
        env: project.off,
      });
      assert.equal(beside.ok, true, JSON.stringify(beside.error));
    });

    it('is not looked for in a folder that others may write, or where something else listens', async () => {
      await using project = makeProject(OFF);
      const { pid } = await project.warmUp();
      const folder = project.folder();
      chmodSync(folder, 0o770);
      await project.run(['quick'], { env: project.auto });
      assert.notEqual(supervisorOf(project), pid);
      chmodSync(folder, 0o700);
      const terms = readFileSync(join(folder, TERMS));
      await project.stop();
      mkdirSync(folder, { mode: 0o700 });
      writeFileSync(join(folder, TERMS), terms);
      // What listens without an answer cannot take the call: the caller waits for no longer than the listener lives.
      const foreign = createServer((socket) => socket.destroy()).listen(join(folder, '1-1.idle'));
      await new Promise((resolve) => foreign.once('listening', resolve));
      assert.equal((await project.run(['quick'], { env: project.auto })).code, 0);
      foreign.close();
    });

    it('works where the path of its socket is longer than a socket’s path may be', async () => {
      await using project = makeProject(OFF);
      const deep = project.path('runtime', ...Array.from({ length: 12 }, () => 'a-folder-with-a-long-name'));
      const env = { ACOR_HOST: 'auto', XDG_RUNTIME_DIR: deep };
      const shown = async () => (await project.envelope(['host'], { env })).data.processes;
      await project.acor(['list'], { env });
      let processes = await shown();
      while (processes[0]?.state !== 'idle') processes = await shown();
      await project.run(['quick'], { env });
      assert.equal(supervisorOf(project), processes[0].pid);
      const identity = identify(processes[0].pid);
      await project.acor(['host', 'stop'], { env });
      await until(() => !isRunning(identity));
    });

    it('answers many calls at once: those beyond its processes run by themselves', async () => {
      await using project = makeProject(OFF);
      await project.warmUp();
      const all = await Promise.all(
        Array.from({ length: 30 }, () => project.run(['quick'], { env: project.auto })),
      );
      assert.deepEqual(new Set(all.map(({ code, end }) => `${code} ${end.state}`)), new Set(['0 completed']));
      assert.equal(project.runIds().length, 30);
    });

    it('is off by default, and ends after the call that finds it turned off', async () => {
      await using project = makeProject(OFF);
      const env = { XDG_RUNTIME_DIR: project.path('runtime') };
      await project.run(['quick'], { env });
      assert.deepEqual(project.sockets(), []);
      const { pid } = await project.warmUp();
      const identity = identify(pid);
      await project.run(['quick'], { env });
      assert.equal(supervisorOf(project), pid);
      await until(() => !isRunning(identity));
      assert.deepEqual(project.sockets(), []);
    });

    it('has processes for few callers with different variables, and leaves no folder', async () => {
      await using project = makeProject(OFF);
      const folders = () => readdirSync(project.path('runtime', 'acor', 'host'));
      const call = (lang: string) => project.run(['quick'], { env: { ...project.auto, LANG: lang } });
      const most = 4 * Math.max(2, availableParallelism());
      for (let n = 0; n < most + 2; n++) {
        await call(`C.${n}`);
        await until(() => !project.sockets().includes('starting'));
      }
      assert.equal((await project.processes()).length, most);
      await project.stop();
      await until(() => folders().length === 0);
    });

    it('shows and stops its processes', async () => {
      await using project = makeProject(OFF);
      const { pid, project: place } = await project.warmUp();
      assert.equal(place, project.root);
      assert.match(commandLineOf(pid), /host serve/);
      const dry = await project.envelope(['host', 'stop', '--dry-run'], { env: project.auto });
      assert.deepEqual(dry.data.processes, [{ pid, state: 'idle', project: project.root }]);
      assert.ok(isRunning(identify(pid)));
      const text = async (...command: string[]) =>
        (await project.acor([...command, '--format', 'text'], { env: { ...project.auto, COLUMNS: '200' } }))
          .stdout;
      const row = new RegExp(`^${pid} +idle +${project.root}$`, 'm');
      assert.match(await text('host'), row);
      assert.match(await text('host'), /^Calls of programs from here use a host: /);
      assert.match(await text('host', 'stop', '--dry-run'), row);
      await project.stop();
      assert.deepEqual(await project.processes(), []);
      assert.match(await text('host'), /No processes wait\./);
    });
  });
}

/** A command in front of another one, whose processes get no huge pages (PR_SET_THP_DISABLE). */
const WITHOUT_HUGE_PAGES = `python3 -c 'import ctypes, os, sys; ctypes.CDLL(None).prctl(41, 1, 0, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])'`;

/** Says to a socket what a caller says, on three connections, and prints the first answer. */
const SAY_HELLO = `
use Socket;
my @all;
for my $text ('{"stream":"stdout","id":"x"}', '{"stream":"stderr","id":"x"}',
  '{"call":{"argv":["list"],"cwd":"' . $ARGV[1] . '","env":{},"stdinIsTTY":false},"id":"x"}') {
  socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; connect($s, sockaddr_un($ARGV[0])) or die;
  syswrite($s, "$text\\n"); push @all, $s;
}
sysread($all[2], my $answer, 1000); print $answer;
`;

function nameOf(project: HostProject, pid: number): string {
  const name = project.sockets().find((each) => each.startsWith(`${pid}-`));
  assert.ok(name !== undefined, `no socket of ${pid}: ${project.sockets()}`);
  return name.replace(/\.\w+$/, '');
}

async function shell(project: HostProject, script: string, env: Record<string, string>) {
  const child = spawn('bash', ['-c', script], {
    cwd: project.root,
    env: project.environment(env),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { stdout, code };
}
