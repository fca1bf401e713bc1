// `npm test`: installs what the tests need, builds, runs the suite in Bun and parts of it in Node and as an ordinary user,
// and ends with the line `N passed, N failed`, counted from the runners' own reports.
//   npm test -- heartbeat          runs the files whose path contains one of the words
//   ACOR_TEST_WORKERS=2 npm test   sets how many files the main pass runs at once
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const results = join(root, 'test-results');
const logOf = (pass) => join(results, `${pass}.log`);
const only = process.argv.slice(2);

/** Two more than there are cores, because many tests wait for the processes that they start. */
const WORKERS = Number(process.env.ACOR_TEST_WORKERS) || Math.min(availableParallelism() + 2, 8);

/** On a busy machine a test may be slow but must not fail, so only a test that hangs reaches this limit. */
const TIMEOUT_MS = 300_000;

const MAX_FAILURE_CHARACTERS = 4000;

/** Programs that some tests start, and the Debian packages that have them. */
const NEEDED = {
  bash: 'bash',
  python3: 'python3',
  script: 'bsdutils',
  mkfifo: 'coreutils',
  bwrap: 'bubblewrap',
  perl: 'perl-base',
  setpriv: 'util-linux',
  useradd: 'passwd',
  strace: 'strace',
  zsh: 'zsh',
  fish: 'fish',
  groff: 'groff-base',
  tmux: 'tmux',
  chromium: 'chromium',
  jq: 'jq',
  sqlite3: 'sqlite3',
  nghttp: 'nghttp2-client',
  promtool: 'prometheus',
  // A small program in Go. The compiler has 464 MB; where it is installed, a test compiles a client as well.
  hcloud: 'hcloud-cli',
};

/** Sandboxes and limits work differently for root, so if root runs the suite, this user runs their tests as well. */
const TEST_USER = 'acor-test';
const USER_FILES =
  /\/(sandbox|guards|attacks)\/|\/(injection|http-rules|kept-writes|learn|ask-for-hosts)\.test\.ts$/;

/** What runs in Node as well: the library, the SDK for tools, and the code that starts processes and writes the store. */
const NODE_FILES = /\/(library|tool|process|storage|store-files|index-sqlite|tls)\/[^/]+\.test\.ts$/;

/** Files that run after all others, one at a time, each with the reason. */
const ALONE = {
  'test/e2e/dashboard.test.ts': 'starts a browser with ten tabs, which would starve the tests beside it',
  'test/e2e/many-runs.test.ts': 'starts 200 runs at once, which would starve the tests beside it',
};

process.chdir(root);
// The shim of a version manager takes five times as long to start as the interpreter of the system.
process.env.PATH = withShimsLast(process.env.PATH);
installDependencies();
installPrograms();
step('build', 'sh', ['scripts/build.sh']);
rmSync(results, { recursive: true, force: true });
mkdirSync(results);

const files = testFiles();
const inBackground = passesInBackground();
const passes = [await passInBun(), ...(await inBackground)];
for (const log of ['user', 'node'].map(logOf)) if (existsSync(log)) process.stdout.write(readFileSync(log));
passes.push(await passAlone());
const passed = passes.reduce((sum, pass) => sum + pass.passed, 0);
const failed = passes.reduce((sum, pass) => sum + pass.failed, 0);
const skipped = passes.flatMap((pass) => pass.skipped);
for (const name of skipped) console.log(`skipped: ${name}`);
for (const text of passes.flatMap((pass) => pass.failures)) console.log(`\nfailed: ${text}`);
console.log(`${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

function passInBun() {
  const paths = files.filter((path) => !Object.hasOwn(ALONE, path));
  return runPass('bun', [...bunTest(), `--parallel=${WORKERS}`], paths);
}

function passAlone() {
  const paths = files.filter((path) => Object.hasOwn(ALONE, path));
  return runPass('bun-alone', bunTest(), paths);
}

/** One after the other, beside the main pass. Each writes to a file, because the lines of two passes would mix. */
async function passesInBackground() {
  return [await passAsUser(), await passInNode()];
}

function passInNode() {
  const paths = files.filter((path) => NODE_FILES.test(path) && !path.endsWith('.bun.test.ts'));
  const options = ['--test', '--test-concurrency=1', `--test-timeout=${TIMEOUT_MS}`];
  const dots = ['--test-reporter=dot', '--test-reporter-destination=stdout'];
  return runPass('node', ['node_modules/.bin/node', ...options, ...dots], paths, { isQuiet: true });
}

async function passAsUser() {
  const paths = files.filter((path) => USER_FILES.test(path));
  if (process.getuid?.() !== 0 || paths.length === 0) return nothing();
  if (spawnSync('id', [TEST_USER], { stdio: 'ignore' }).status !== 0)
    run('useradd', ['--create-home', TEST_USER]);
  const as = ['--reuid', TEST_USER, '--regid', TEST_USER, '--clear-groups', '--'];
  const isOpen = spawnSync('setpriv', [...as, 'test', '-r', join(root, 'package.json')]).status === 0;
  if (!isOpen) {
    console.log(`not tried as ${TEST_USER}, who may not read ${root}`);
    return nothing();
  }
  const folder = mkdtempSync(join(tmpdir(), 'acor-user-'));
  chmodSync(folder, 0o777);
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' };
  const pass = await runPass('user', ['setpriv', ...as, ...bunTest()], paths, {
    folder,
    env,
    isQuiet: true,
  });
  rmSync(folder, { recursive: true, force: true });
  return pass;
}

function bunTest() {
  return [join(root, 'node_modules/.bin/bun'), 'test', '--timeout', `${TIMEOUT_MS}`];
}

/** Runs a test runner and counts what its report says. The log takes its output; unless `isQuiet`, the terminal shows it too. */
async function runPass(name, argv, paths, { folder = results, env = process.env, isQuiet = false } = {}) {
  if (paths.length === 0) return nothing();
  const report = join(folder, `${name}.xml`);
  const isNode = name === 'node';
  const reporter = isNode
    ? ['--test-reporter=junit', `--test-reporter-destination=${report}`]
    : ['--reporter=junit', `--reporter-outfile=${report}`];
  // Bun takes a path without `./` for a word that paths contain.
  const [program, ...args] = [...argv, ...reporter, ...paths.map((path) => (isNode ? path : `./${path}`))];
  const status = await start(program, args, env, logOf(name), isQuiet);
  const counted = readReport(report);
  // A file that cannot be loaded is in no report.
  const failed = status !== 0 && counted.failed === 0 ? 1 : counted.failed;
  return { ...counted, failed, failures: failed > 0 ? failuresIn(readFileSync(logOf(name), 'utf8')) : [] };
}

/** Starts a program, writes what it prints to a log and resolves with its exit code. */
async function start(program, args, env, log, isQuiet) {
  const file = createWriteStream(log);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(file, { end: false });
    if (!isQuiet) stream.pipe(process.stdout, { end: false });
  }
  const status = await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`${program}: ${error.message}`);
      resolve(1);
    });
    child.once('close', (code) => resolve(code ?? 1));
  });
  await finished(file.end());
  return status;
}

/**
 * What a runner printed of each failed test. The end of a long output is often all that is kept of it, so it is repeated
 * there. Bun prints a test's errors before its line `(fail) NAME`; Node prints all failures after `Failed tests:`. Of a
 * runner that names no test, the end of its output is repeated.
 */
function failuresIn(log) {
  const [, inNode] = log.split('Failed tests:\n');
  if (inNode !== undefined) return [inNode.trim().slice(0, MAX_FAILURE_CHARACTERS)];
  // Beside several files at once, Bun repeats the names of the failed tests at its end.
  const [output] = log.split(/^\d+ tests? failed:$/m);
  const lines = output.split('\n');
  if (!lines.some((line) => line.startsWith('(fail) '))) return [log.slice(-MAX_FAILURE_CHARACTERS)];
  const isResult = (line) => /^\((pass|fail|skip|todo)\) /.test(line);
  return lines.flatMap((line, at) => {
    if (!line.startsWith('(fail) ')) return [];
    const before = lines.slice(0, at).findLastIndex(isResult);
    const file = lines.slice(0, at).findLast((text) => text.endsWith('.test.ts:'));
    const printed = lines.slice(before + 1, at).join('\n');
    return [`${file} ${line.slice('(fail) '.length)}\n${printed.slice(-MAX_FAILURE_CHARACTERS)}`];
  });
}

function installDependencies() {
  if (existsSync('node_modules/.bin/bun') && existsSync('node_modules/.bin/tsc')) return;
  step('install dependencies', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

function installPrograms() {
  const missing = Object.entries(NEEDED).filter(([program]) => !isThere(program));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  const isDebian = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (!isDebian) {
    console.log(
      `missing here: ${missing.map(([program]) => program).join(', ')}. The tests that need them are skipped by name.`,
    );
    return;
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['update', '-qq'], env);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], env);
}

/** The test files of the project, or those whose path contains one of the words. */
function testFiles() {
  const skip = ['(', '-name', 'node_modules', '-o', '-name', 'dist', '-o', '-name', '.git', ')', '-prune'];
  const found = execFileSync('find', ['.', ...skip, '-o', '-name', '*.test.ts', '-print'], {
    encoding: 'utf8',
  });
  return found
    .split('\n')
    .filter((path) => path !== '')
    .map((path) => path.slice('./'.length))
    .filter((path) => only.length === 0 || only.some((word) => path.includes(word)))
    .sort();
}

function withShimsLast(path) {
  const isShims = (folder) => basename(folder) === 'shims';
  const folders = path.split(':');
  return [...folders.filter((folder) => !isShims(folder)), ...folders.filter(isShims)].join(':');
}

function isThere(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}

function step(what, program, args) {
  const status = run(program, args);
  if (status === 0) return;
  console.error(`npm test: cannot ${what} (exit code ${status})`);
  process.exit(1);
}

function run(program, args, env = process.env) {
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  if (error) console.error(`${program}: ${error.message}`);
  return status ?? 1;
}

function nothing() {
  return { passed: 0, failed: 0, skipped: [], failures: [] };
}

/** Counts the test cases of a JUnit report. A runner that wrote none has failed. */
function readReport(path) {
  if (!existsSync(path)) return { passed: 0, failed: 1, skipped: [] };
  const cases = readFileSync(path, 'utf8').match(/<testcase\b[^>]*?(?:\/>|>[\s\S]*?<\/testcase>)/g) ?? [];
  const failed = cases.filter((text) => /<(failure|error)\b/.test(text)).length;
  const skipped = cases.filter((text) => /<skipped\b/.test(text));
  return {
    failed,
    skipped: skipped.map((text) => /name="([^"]*)"/.exec(text)?.[1] ?? '?'),
    passed: cases.length - failed - skipped.length,
  };
}
