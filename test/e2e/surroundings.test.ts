import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { HANG_MS, LAUNCHER, parseLines, ROOT, TestProject } from '../support/project.ts';

const BUN = join(ROOT, 'node_modules', '.bin', 'bun');
const MAIN = join(ROOT, 'src', 'cli', 'main.ts');

/** The three ways to run ACOR; the last one is a checkout whose compiled program is out of date. */
const FORMS: Readonly<Record<string, () => string>> = {
  'the launcher': () => LAUNCHER,
  'the compiled program': () => join(ROOT, 'dist', 'acor'),
  'the launcher when it starts the sources': () => join(checkout.root, 'acor'),
};

let checkout: TestProject;
before(() => {
  checkout = new TestProject();
  for (const name of [
    'src',
    'node_modules',
    'bunfig.toml',
    'tsconfig.json',
    'package.json',
    'package-lock.json',
  ])
    symlinkSync(join(ROOT, name), checkout.path(name));
  copyFileSync(LAUNCHER, checkout.path('acor'));
  checkout.write('dist/acor', '#!/bin/sh\nexit 99\n', 0o755);
  utimesSync(checkout.path('dist/acor'), 0, 0);
});
after(() => checkout[Symbol.dispose]());

function start(command: readonly string[], options: { cwd: string; env?: Record<string, string> }) {
  const [program, ...args] = command;
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '/',
    LANG: 'C.UTF-8',
    ...options.env,
  };
  return spawnSync(program!, args, { cwd: options.cwd, env, encoding: 'utf8', timeout: HANG_MS });
}

describe('a hostile working directory', () => {
  let project: TestProject;
  let trace: string;
  before(() => {
    project = new TestProject({ tools: ['quick', 'shows_environment'] });
    trace = project.path('trace');
    const leaveTrace = `require('node:fs').appendFileSync(${JSON.stringify(trace)}, 'x');\n`;
    project.write('leave-trace.cjs', leaveTrace);
    project.write('bunfig.toml', 'preload = ["./leave-trace.cjs"]\n[run]\npreload = ["./leave-trace.cjs"]\n');
    for (const file of ['.env', '.env.local', '.env.production', '.env.development'])
      project.write(
        file,
        'ACOR_ENVIRONMENT_TIMEOUT_S=1\nBUN_OPTIONS=--preload=./leave-trace.cjs\nNO_SUCH_THING=1\n',
      );
    project.write(
      'tsconfig.json',
      '{ "compilerOptions": { "paths": { "*": ["./leave-trace.cjs"] }, "jsxImportSource": "./leave-trace" } }',
    );
    project.write(
      'package.json',
      '{ "name": "acor", "type": "commonjs", "imports": { "#x": "./leave-trace.cjs" }, "exports": { "./*": "./leave-trace.cjs" }, "browser": { "zod": "./leave-trace.cjs" } }',
    );
    for (const name of ['zod', 'yaml', 'ajv', '@toon-format/toon', 'acor'])
      project.write(`node_modules/${name}/index.js`, leaveTrace);
  });
  after(() => project[Symbol.dispose]());

  it('affects a program that obeys it (the control of the next tests)', () => {
    assert.equal(start([BUN, '-e', '0'], { cwd: project.root }).status, 0);
    assert.equal(existsSync(trace), true);
    rmSync(trace);
  });

  for (const [form, programOf] of Object.entries(FORMS)) {
    it(`does not affect ${form}`, () => {
      const command = [programOf()];
      rmSync(trace, { force: true });
      const { stdout, status } = start([...command, 'run', 'quick'], { cwd: project.root });
      assert.equal(status, 0);
      const events = parseLines(stdout);
      assert.deepEqual(
        events.map(({ type }) => type),
        ['runner_start', 'runner_state', 'result', 'runner_state', 'runner_end'],
      );
      assert.equal(events[0]!.timeout_s, 1800);
      const config = start([...command, 'config', 'show', 'environment.timeout_s'], { cwd: project.root });
      assert.deepEqual(JSON.parse(config.stdout).data.values[0].source, 'default');
      for (const args of [['list'], ['tools'], ['runs', '--toon'], ['--help'], ['health']])
        assert.equal(start([...command, ...args], { cwd: project.root }).status, 0, args.join(' '));
      assert.equal(existsSync(trace), false);
    });
  }

  it('does not affect a tool either', () => {
    const { stdout } = start([LAUNCHER, 'run', 'shows_environment'], { cwd: project.root });
    assert.doesNotMatch(stdout, /NO_SUCH_THING|BUN_|NODE_OPTIONS/);
  });
});

describe('a hostile environment', () => {
  let project: TestProject;
  let trace: string;
  let env: Record<string, string>;
  before(() => {
    project = new TestProject({ tools: ['quick', 'shows_environment'] });
    trace = project.path('trace');
    const script = project.write(
      'leave-trace.cjs',
      `require('node:fs').writeFileSync(${JSON.stringify(trace)}, 'x');\n`,
    );
    env = { BUN_OPTIONS: `--preload=${script}`, NODE_OPTIONS: `--require=${script}`, BUN_BE_BUN: '1' };
  });
  after(() => project[Symbol.dispose]());

  it('affects a program that obeys it (the control of the next tests)', () => {
    const { BUN_OPTIONS } = env;
    start([BUN, '-e', '0'], { cwd: project.root, env: { BUN_OPTIONS: BUN_OPTIONS! } });
    assert.equal(existsSync(trace), true);
    rmSync(trace);
  });

  it('does not affect the launcher, and reaches no tool', () => {
    const { stdout, status } = start([LAUNCHER, 'run', 'shows_environment'], { cwd: project.root, env });
    assert.equal(status, 0);
    assert.equal(parseLines(stdout).at(-1)!.state, 'completed');
    assert.doesNotMatch(stdout, /BUN_|NODE_OPTIONS/);
    assert.equal(existsSync(trace), false);
  });

  it('does not affect the compiled program in an environment that is not cleaned', {
    skip: process.platform !== 'linux' && 'Linux',
  }, () => {
    for (const words of [['version'], ['run', 'shows_environment', '--no-stream']]) {
      const { stdout, status } = start([FORMS['the compiled program']!(), ...words], {
        cwd: project.root,
        env,
      });
      assert.equal(status, 0, stdout);
      assert.equal(JSON.parse(stdout).ok, true);
      assert.doesNotMatch(stdout, /BUN_|NODE_OPTIONS/);
    }
    assert.equal(existsSync(trace), false);
  });

  it('prints nothing of a library on stdout', () => {
    const loud = {
      DEBUG: '*',
      NODE_DEBUG: 'fs,module',
      FORCE_COLOR: '3',
      VERBOSE: '1',
      NODE_ENV: 'development',
    };
    const { stdout } = start([LAUNCHER, 'run', 'quick'], { cwd: project.root, env: loud });
    assert.equal(parseLines(stdout).length, 5);
    for (const args of [['list'], ['tools'], ['show', 'r-nothing'], ['health']]) {
      const answer = start([LAUNCHER, ...args], { cwd: project.root, env: loud });
      assert.equal(typeof JSON.parse(answer.stdout).ok, 'boolean');
      assert.doesNotMatch(answer.stdout, /\u001b/);
    }
  });
});

describe('the launcher', () => {
  it('works through a link, and a link to a link, from any folder', () => {
    using project = new TestProject({ tools: ['quick'] });
    mkdirSync(project.path('bin/deep'), { recursive: true });
    symlinkSync(LAUNCHER, project.path('bin/acor'));
    symlinkSync('../acor', project.path('bin/deep/again'));
    for (const program of [
      project.path('bin/acor'),
      project.path('bin/deep/again'),
      'bin/acor',
      './bin/deep/again',
    ]) {
      const { stdout, stderr } = start([program, 'version'], { cwd: project.root });
      assert.equal(stderr, '', program);
      assert.equal(JSON.parse(stdout).ok, true, program);
    }
    const onPath = start(['acor', 'run', 'quick'], {
      cwd: project.path('tools'),
      env: { PATH: `${project.path('bin')}:${process.env.PATH}` },
    });
    assert.equal(parseLines(onPath.stdout).at(-1)!.state, 'completed');
  });
});

describe('the JIT compiler', () => {
  const CHATTY = `#!/bin/bash
for part in 1 2; do yes '{"type":"log","level":"info","msg":"x"}' | head -n 40000; sleep 0.5; done
echo '{"type":"result","status":"ok"}'
`;

  /** How many functions a call has compiled to machine code. */
  function compiled(project: TestProject, ...args: string[]): number {
    const program = FORMS['the compiled program']!();
    const env = { BUN_JSC_reportCompileTimes: '1' };
    const { stdout, stderr } = start([program, ...args], { cwd: project.root, env });
    return `${stdout}${stderr}`.match(/^Optimized /gm)?.length ?? 0;
  }

  it('stays out of short commands, and works in one that lasts', () => {
    using project = new TestProject();
    project.write('tools/chatty/cli.sh', CHATTY, 0o755);
    // On a busy machine one may last.
    const counts = Array.from({ length: 10 }, () => compiled(project, 'version'));
    assert.ok(counts.includes(0), counts.join());
    assert.ok(compiled(project, 'run', 'chatty', '--no-stream') > 0);
  });
});

describe('a warm command', () => {
  let loaded: string[];
  let atFirstStart: string[];
  let withVariable: string[];
  let ofList: string[];
  before(() => {
    using project = new TestProject({ tools: ['quick', 'writes_output'] });
    const list = project.path('modules.json');
    const listAtStart = project.path('modules-at-start.json');
    const hook = project.write(
      'list-modules.mjs',
      `import { writeFileSync } from 'node:fs';
       const note = (path) => writeFileSync(path, JSON.stringify(Object.keys(require.cache)));
       process.on('exit', () => note(${JSON.stringify(list)}));
       const { spawn } = Bun;
       let isFirst = true;
       Bun.spawn = (...given) => {
         // On a busy machine a start waits for its turn before.
         const isOfRun = !(given[0].cmd ?? given[0]).includes('/usr/bin/flock');
         if (isOfRun && isFirst) note(${JSON.stringify(listAtStart)});
         isFirst &&= !isOfRun;
         return spawn(...given);
       };\n`,
    );
    const call = (args: string[], env: Record<string, string> = {}) => {
      const command = [
        BUN,
        '--no-env-file',
        `--config=${join(ROOT, 'bunfig.toml')}`,
        '--preload',
        hook,
        MAIN,
      ];
      const { status, stderr } = start([...command, ...args], {
        cwd: project.root,
        env: { XDG_CACHE_HOME: project.path('cache'), ...env },
      });
      assert.equal(status, 0, stderr);
    };
    const run = (env?: Record<string, string>) => call(['run', 'quick'], env);
    run();
    const cold = namesIn(list);
    assert.ok(
      cold.includes('node_modules/yaml'),
      'a cold start reads the manifests: the list names every loaded module',
    );
    run();
    loaded = namesIn(list);
    atFirstStart = namesIn(listAtStart);
    for (let start = 0; start < 2; start++) run({ ACOR_ENVIRONMENT_TIMEOUT_S: '60' });
    withVariable = namesIn(list);
    call(['list']);
    ofList = namesIn(list);
  });

  /** A run loads it with its first look at the disk: a quick one has ended by then, except on a busy machine. */
  const LOADED_AFTER_A_TIME = '/resources/measure-folders.ts';

  /** Paths from the root of the sources; for a package only its name. */
  function namesIn(list: string): string[] {
    const paths: string[] = JSON.parse(readFileSync(list, 'utf8'));
    const names = paths
      .filter((path) => path.startsWith(`${ROOT}/`) && !path.endsWith(LOADED_AFTER_A_TIME))
      .map((path) => /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? relative(ROOT, path));
    return [...new Set(names)].sort();
  }

  it('loads no package', () => {
    assert.deepEqual(
      [...loaded, ...ofList].filter((name) => name.startsWith('node_modules/')),
      [],
    );
  });

  it('loads nothing that only other commands, people or cold starts need', () => {
    const heavy =
      /compose\/(catalog|catalog-view|help|render|table|toon|health-shape|style|marks|time-words|wrap-to-width|fit-parts|select|output-shape)\.ts|core\/registry\/(read-tool|read-manifest|error-codes)\.ts|seccomp\/(filter|assembler)\.ts|compose\/live\/|src\/cli\/(?!main\.|run-command\.|array-methods\.|dialog\/interrupts\.)|run-apart|start-supervisor|operations\/(health|tool-|run-(list|show|logs|verify|clean|cancel|attach|wait|answer))|storage\/(verify|retention)|core\/secrets\/|runner\/secrets\/|tool\/|library\.ts|protocol\/(index|manifest|manifest-.*|config-file|schemas|markers\/.*|map-path)\.ts|adapters\/(?!index|jsonl\.|json-object)/;
    assert.deepEqual(
      loaded.filter((name) => heavy.test(name)),
      [],
    );
  });

  it('loads no schema for variables that passed before', () => {
    const more = withVariable.filter((name) => !loaded.includes(name));
    assert.deepEqual(more, ['src/core/config/checked-settings.ts']);
  });

  it('loads none of the store, the runner and the sandbox for `acor list`, which the control does', () => {
    const ofRuns = /^src\/core\/(store-files|run|process|sandbox|supervision|plugins)\//;
    assert.deepEqual(
      ofList.filter((name) => ofRuns.test(name)),
      [],
    );
    assert.ok(
      ofList.includes('src/operations/tool/list-tools.ts') && loaded.some((name) => ofRuns.test(name)),
    );
  });

  it('loads the code of an attempt after it has begun to start what that would wait for', () => {
    const ofAttempt = ['src/core/run/attempt/attempt.ts', 'src/core/run/attempt/wind-down.ts'];
    assert.deepEqual(
      ofAttempt.filter((name) => atFirstStart.includes(name)),
      [],
    );
    assert.deepEqual(
      ofAttempt.filter((name) => loaded.includes(name)),
      ofAttempt,
    );
    assert.ok(atFirstStart.includes('src/core/run/attempt/tool-executor.ts'));
  });

  // A change here changes how fast `acor run` starts: read docs/performance.md first.
  it('loads these operations, and at most this many modules', () => {
    assert.deepEqual(
      loaded
        .filter((name) => name.startsWith('src/operations/'))
        .map((name) => name.slice('src/operations/'.length)),
      [
        'acor-app.ts',
        'acor-cli.ts',
        'command-forms.ts',
        'define.ts',
        'index.ts',
        'plain-forms.ts',
        'run/callers-stdin.ts',
        'run/run-inline.ts',
        'run/run-result.ts',
        'run/start-tool.ts',
        'run/wants-stream.ts',
      ],
    );
    assert.ok(loaded.length > 100 && loaded.length <= 242, String(loaded.length));
  });
});

it('a deleted working directory is reported in an envelope', () => {
  const script = `mkdir gone && cd gone && rmdir ../gone && exec '${LAUNCHER}' version`;
  const { stdout, status } = start(['bash', '-c', script], { cwd: checkout.root });
  const { ok, error } = JSON.parse(stdout);
  assert.deepEqual([status, ok, error.code], [1, false, 'E_USAGE']);
});
