import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, globSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { Acor } from '../../src/index.ts';
import { childrenOf, commandLineOf, readProcess } from '../../src/util/process-table.ts';
import { until } from '../support/project.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const { available } = await bubblewrap.probe();

const manifest = (name: string, more = 'warm: true\n') =>
  `name: ${name}\nversion: 1.0.0\n${more}inputs:\n  - name: word\n    type: string\n`;

/** Its own variables, arguments and folder, a random number, and when its process has started. */
const PYTHON = `import sys
PRELOADED = "json" in sys.modules
import json, os, random
import own
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
def main():
    with open("/proc/self/stat") as file:
        started = int(file.read().rpartition(")")[2].split()[19])
    print("text on stdout")
    print("text on stderr", file=sys.stderr)
    data = {"argv": sys.argv[1:], "file": __file__, "cwd": os.getcwd(), "env": dict(os.environ), "random": random.random(), "own": own.VALUE, "started": started,
            "preloaded": PRELOADED, "path": sys.path[0]}
    print(json.dumps({"type": "result", "ok": True, "data": data}))
main()
`;
const NODE = `import { readFileSync } from 'node:fs';
const own = await import('./own.mjs');
const stat = readFileSync('/proc/self/stat', 'utf8');
const data = { argv: process.argv.slice(2), file: process.argv[1], cwd: process.cwd(), env: process.env, random: Math.random(), own: own.VALUE, started: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) };
console.error('text on stderr');
console.log('text on stdout');
console.log(JSON.stringify({ type: 'result', ok: true, data }));
`;
const TYPESCRIPT = `${NODE}
if (!import.meta.main) throw new Error('not the main module');
const typed: number = 1;
`;
/** Starts a thread, a process of Node's own kind (`fork`), and in Node the thread of a resolver. */
const STARTS_OTHERS = `import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as module from 'node:module';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
if (!isMainThread) {
  parentPort.postMessage('a thread');
} else if (process.send) {
  process.send('a process');
  process.disconnect();
} else {
  module.register?.('data:text/javascript,');
  const others = [new Worker(new URL(import.meta.url)), fork(process.argv[1])];
  const answers = await Promise.all(others.map((each) => once(each, 'message')));
  const data = { answers: answers.map(([answer]) => answer), options: process.execArgv };
  console.log(JSON.stringify({ type: 'result', ok: true, data }));
}
`;

/** The name of the function that ACOR's resolver uses in Node: before 22.15 `register`, which starts a thread. */
const WHICH = `const { register, registerHooks } = require('node:module'); console.log((registerHooks ?? register)?.name)`;
/** The suite brings a newer one. */
const olderNode = ['/usr/bin', '/usr/local/bin', ...(process.env['PATH'] ?? '').split(delimiter)]
  .map((folder) => join(folder, 'node'))
  .find((node) => String(spawnSync(node, ['-e', WHICH]).stdout).trim() === 'register');

interface Script {
  tool: string;
  node?: string | undefined;
  title?: string;
  skip?: string | false;
}
const scripts: Script[] = [
  { tool: 'js' },
  { tool: 'ts' },
  {
    tool: 'js',
    node: olderNode,
    title: 'js with a Node before 22.15',
    skip: olderNode === undefined && 'no Node before 22.15 is in /usr/bin, in /usr/local/bin or on the PATH',
  },
];

describe('an interpreter that waits', { skip: !available && 'bubblewrap is not here' }, () => {
  it('gives its run the folder of the run in PWD when a shell, as that of pyenv, has started it elsewhere', () => {
    const folder = projectFolder({
      'main.py': 'import os; print(os.environ["PWD"])',
      'main.cjs': 'console.log(process.env.PWD)',
    });
    const run = folder.folder('run');
    const start = (name: string) => join(import.meta.dirname, '../../sdk/warm', name);
    for (const [program, options, file] of [
      ['python3', [start('start.py')], 'main.py'],
      ['node', ['--require', start('start.cjs')], 'main.cjs'],
    ] as const) {
      const entry = folder.at(file);
      const answer = (...more: string[]) => {
        const records = [`cwd=${run}`, ...more, `arg=${program}`, `arg=${entry}`].join('\0');
        const orders = openSync(folder.write('orders', records), 'r');
        const { stdout } = spawnSync(program, [...options, entry], {
          cwd: '/',
          env: { ...process.env, PWD: '/' },
          stdio: ['ignore', 'pipe', 'inherit', orders],
        });
        closeSync(orders);
        return String(stdout).trim();
      };
      assert.equal(answer(), run, program);
      // One that the run gets stays as it is.
      assert.equal(answer('env=PWD=/given'), '/given', program);
    }
    folder.remove();
  });
});

describe('a tool with a warm start', { skip: !available && 'bubblewrap is not here' }, () => {
  let project: ProjectFolder;
  let acor: Acor;
  const waiting = () => childrenOf(process.pid).filter((pid) => commandLineOf(pid).includes('bwrap'));
  /** The processes in the sandbox that waits: bubblewrap's child is the launcher, whose child is the interpreter, or the launcher again. */
  const interpreters = () => waiting().flatMap(childrenOf).flatMap(childrenOf);
  /** Until an interpreter waits for its orders: it sleeps in a read of descriptor 3. */
  const warm = () =>
    until(() => {
      const pids = interpreters().flatMap((pid) => [pid, ...childrenOf(pid)]);
      return pids.some((pid) => isInRead(pid));
    });
  /** When they started, by the kernel's clock, which is the same in a sandbox. */
  const waitingStarts = () =>
    interpreters()
      .flatMap((pid) => [pid, ...childrenOf(pid)])
      .map((pid) => readProcess(pid)?.startTime);
  /** Puts a Node before the others. */
  const useNode = (node: string) => {
    const PATH = `${dirname(node)}${delimiter}${process.env['PATH']}`;
    acor = new Acor({ cwd: project.root, env: { ...process.env, PATH } as Record<string, string> });
  };
  const run = async (tool: string, inputs = {}) => {
    const outcome = await acor.run(tool, inputs);
    // biome-ignore lint/suspicious/noExplicitAny: each tool has its own data
    return { ...outcome, data: (outcome.result as any)?.data };
  };

  beforeEach(() => {
    project = projectFolder({
      'tools/py/tool.yaml': manifest('py'),
      'tools/py/main.py': PYTHON,
      'tools/py/own.py': 'VALUE = 1\n',
      'tools/js/tool.yaml': manifest('js'),
      'tools/js/main.mjs': NODE,
      'tools/js/own.mjs': 'export const VALUE = 1;\n',
      'tools/ts/tool.yaml': manifest('ts'),
      'tools/ts/main.ts': TYPESCRIPT,
      'tools/ts/own.mjs': 'export const VALUE = 1;\n',
      '.acor/config.yaml': 'version: 1\nenvironment:\n  cancel_grace_s: 0.1\n',
    });
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

  for (const { tool, node, title = tool, skip } of [{ tool: 'py' }, ...scripts]) {
    it(`answers the same as one without, from a process that was there before the run: ${title}`, {
      skip,
    }, async () => {
      if (node !== undefined) useNode(node);
      const cold = await run(tool, { word: 'one' });
      assert.equal(cold.state, 'completed', `${cold.message}`);
      await warm();
      const started = waitingStarts();
      const hot = await run(tool, { word: 'two words' });
      assert.equal(hot.state, 'completed', `${hot.message}`);
      assert.ok(started.includes(hot.data.started), 'it was there before the run');
      assert.deepEqual(hot.data.argv, ['--word', 'two words']);
      assert.equal(hot.data.cwd, join(hot.dir, 'work'));
      assert.deepEqual([hot.data.file, hot.data.path], [cold.data.file, cold.data.path]);
      assert.notEqual(hot.data.random, cold.data.random);
      const { env } = hot.data;
      assert.deepEqual(Object.keys(env).sort(), Object.keys(cold.data.env).sort());
      assert.deepEqual(
        [env.RUN_ID, env.WORKSPACE, env.ACOR_INPUTS],
        [hot.run_id, join(hot.dir, 'work'), '{"word":"two words"}'],
      );
      for (const { dir } of [cold, hot]) {
        assert.equal(readFileSync(join(dir, 'logs/stderr.log'), 'utf8'), 'text on stderr\n');
        assert.match(
          readFileSync(join(dir, 'logs/stdout.log'), 'utf8'),
          /^text on stdout\n\{"type": ?"result"/,
        );
      }
    });
  }

  for (const { tool, node, title = tool, skip } of scripts) {
    it(`starts threads and processes as one without: ${title}`, { skip }, async () => {
      if (node !== undefined) useNode(node);
      project.write(`tools/${tool}/main.${tool === 'js' ? 'mjs' : 'ts'}`, STARTS_OTHERS);
      const cold = await run(tool);
      assert.deepEqual(cold.data?.answers, ['a thread', 'a process'], `${cold.message}`);
      await warm();
      const hot = await run(tool);
      assert.deepEqual(hot.data, cold.data, `${hot.message}`);
    });
  }

  it('gives a main module of Python the names that it has without a warm start', async () => {
    project.write(
      'tools/py/main.py',
      `import json
own = {name: type(value).__name__ for name, value in list(globals().items()) if name.startswith("__")}
print(json.dumps({"type": "result", "ok": True, "data": {"own": own, "loads": __loader__.get_source("__main__")[:11]}}))
`,
    );
    const cold = await run('py');
    await warm();
    const hot = await run('py');
    assert.equal(cold.data?.loads, 'import json');
    assert.deepEqual(hot.data, cold.data, `${hot.message}`);
  });

  it('has the modules of Python loaded before the run, and no file of the project', async () => {
    const cold = await run('py');
    assert.deepEqual([cold.data.own, cold.data.preloaded], [1, false]);
    await warm();
    project.write('tools/py/own.py', 'VALUE = 2\n');
    const { data } = await run('py');
    assert.deepEqual([data.own, data.preloaded], [2, true]);
  });

  it('runs with a package that was changed since, as one without a warm start', async () => {
    const venv = project.at('tools/py/venv');
    // The python of a version manager may be closed to the user of the run.
    const python = ['/usr/bin/python3', 'python3'].find(
      (each) => spawnSync(each, ['--version']).status === 0,
    )!;
    assert.equal(spawnSync(python, ['-m', 'venv', '--without-pip', venv]).status, 0);
    const packages = globSync(`${venv}/lib/python*/site-packages`)[0]!;
    const answer = (value: string) => writeFileSync(join(packages, 'installed.py'), `VALUE = '${value}'\n`);
    project.write('tools/py/main.py', PYTHON.replace('import own', 'import installed as own'));
    answer('first');
    // Its folder is older than the process that waits.
    const cold = await run('py');
    assert.equal(cold.data?.own, 'first', `${cold.message}`);
    for (const value of ['second', 'a third one']) {
      await warm();
      assert.equal((await run('py')).data.own, cold.data.own);
      await warm();
      answer(value);
      cold.data.own = value;
      const { data, dir } = await run('py', { word: 'x' });
      assert.deepEqual([data.own, data.argv, data.cwd], [value, ['--word', 'x'], join(dir, 'work')]);
    }
  });

  it('starts again after a change of the tool or of its variables', async () => {
    await run('py');
    await warm();
    const [pid] = waiting();
    project.write('tools/py/main.py', PYTHON.replace('"own": own.VALUE', '"own": "changed"'));
    assert.equal((await run('py')).data.own, 'changed');
    assert.ok(waiting().includes(pid!), 'no run takes it any more');
    const other = new Acor({
      cwd: project.root,
      env: { ...process.env, LANG: 'C' } as Record<string, string>,
    });
    const { result } = await other.run('py', {});
    // biome-ignore lint/suspicious/noExplicitAny: as above
    assert.equal((result as any).data.env.LANG, 'C');
  });

  it('fails as one without: an exception, an exit code, a module that cannot be imported', async () => {
    const failures: Record<string, RegExp> = {
      'import json\ndef fails():\n    raise ValueError("no")\nfails()\n':
        /Traceback.*\n {2}File "[^"]*main.py", line 4, in <module>\n(.*\n)+ValueError: no/,
      'import json, sys\nprint("last", file=sys.stderr)\nsys.exit(7)\n': /^last\n$/,
      'import json\nimport there_is_no_such_module\n': /ModuleNotFoundError/,
      'import json\ndef x(:\n': /SyntaxError/,
    };
    for (const [source, expected] of Object.entries(failures)) {
      project.write('tools/py/main.py', source);
      const cold = await run('py');
      await warm();
      const hot = await run('py');
      assert.deepEqual([hot.state, hot.rc, hot.code], [cold.state, cold.rc, cold.code]);
      const [first, second] = [cold, hot].map(({ dir }) =>
        readFileSync(join(dir, 'logs/stderr.log'), 'utf8'),
      );
      assert.match(second!, expected);
      assert.equal(second, first);
    }
  });

  it('cannot reach what another run of it has left: its files, memory, processes, descriptors, priority and limits', async () => {
    project.write(
      'tools/py/main.py',
      `import json, os, resource, signal, sys
def attributes():
    with open("/proc/self/oom_score_adj") as oom, open("/proc/self/coredump_filter") as core:
        umask = os.umask(0o22)
        os.umask(umask)
        return [os.nice(0), sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0), umask, resource.getrlimit(resource.RLIMIT_NOFILE), oom.read(), core.read(),
                str(signal.getsignal(signal.SIGUSR1)), signal.getitimer(signal.ITIMER_REAL)[0]]
def change():
    os.setpriority(os.PRIO_USER, 0, 19)
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    os.umask(0o77)
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
    for name, value in (("oom_score_adj", "900"), ("coredump_filter", "0x7")):
        with open("/proc/self/" + name, "w") as file: file.write(value)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 1000)
before = attributes()
change()
# The control: this run sees its own changes.
assert sum(a != b for a, b in zip(before, attributes())) >= 7
seen = {"attributes": before, "tmp": os.path.exists("/tmp/left"), "value": getattr(json, "left", None), "variable": os.environ.get("LEFT"), "fds": sorted(os.listdir("/proc/self/fd")),
        "processes": len([name for name in os.listdir("/proc") if name.isdigit()]), "runs": os.listdir(os.path.dirname(os.path.dirname(os.environ["WORKSPACE"])))}
open("/tmp/left", "w").close()
json.left = os.environ["LEFT"] = "left"
print(json.dumps({"type": "result", "ok": True, "data": seen}))
`,
    );
    const cold = await run('py');
    for (let count = 0; count < 3; count++) {
      await warm();
      const { data, run_id } = await run('py');
      assert.deepEqual(data, { ...cold.data, runs: [run_id] });
    }
  });

  it('keeps its limits, and is stopped like any other', async () => {
    project.write('tools/py/tool.yaml', manifest('py', 'warm: true\ntimeout_s: 1\nheartbeat_grace_s: 60\n'));
    project.write('tools/py/main.py', 'import time\ntime.sleep(600)\n');
    const cold = await run('py');
    await warm();
    const hot = await run('py');
    assert.deepEqual([hot.state, hot.code], [cold.state, cold.code]);
    assert.equal(hot.code, 'E_DEADLINE');
  });

  it('ends with the truth when one of its processes is killed at any moment, and the next run completes', async () => {
    const random = new SeededRandom(19);
    await run('py');
    for (let round = 0; round < 15; round++) {
      await warm();
      const below = (pids: number[]): number[] => pids.flatMap((pid) => [pid, ...below(childrenOf(pid))]);
      const pids = below(waiting());
      const started = run('py', { word: String(round) });
      await new Promise((resolve) => setTimeout(resolve, random.below(30)));
      kill(pids[random.below(pids.length)]!);
      const { state, code, data } = await started;
      if (state === 'completed') assert.deepEqual(data.argv, ['--word', String(round)]);
      else assert.ok(['E_TOOL_FAILED', 'E_SANDBOX_UNAVAILABLE'].includes(String(code)), `${state} ${code}`);
      assert.equal((await run('py')).state, 'completed');
    }
  });

  it('starts again where the interpreter that waited was killed', async () => {
    await run('py');
    for (const last of [0, -1]) {
      await warm();
      const killed = interpreters().at(last)!;
      // That of the run before may still be ending.
      const sandbox = waiting().find((pid) => childrenOf(pid).flatMap(childrenOf).includes(killed))!;
      kill(killed);
      await until(() => !waiting().includes(sandbox));
      const { state, message } = await run('py', { word: 'after' });
      assert.equal(state, 'completed', `${message}`);
    }
  });

  it('is an ordinary one without `warm: true`', async () => {
    project.write('tools/py/tool.yaml', manifest('py', ''));
    await run('py');
    await run('py');
    await until(() => waiting().length === 1);
    const programs = interpreters().map(commandLineOf);
    assert.ok(
      programs.every((each) => each.includes('perl')),
      String(programs),
    );
    assert.equal((await run('py')).state, 'completed');
  });
});

/** It may have ended. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}

/** Whether a process waits in a system call for bytes of descriptor 3. */
function isInRead(pid: number): boolean {
  try {
    const [call, descriptor] = readFileSync(`/proc/${pid}/syscall`, 'utf8').split(' ');
    return call === (process.arch === 'arm64' ? '63' : '0') && descriptor === '0x3';
  } catch {
    return false;
  }
}
