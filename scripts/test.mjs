// `npm test`: installs what the tests need, builds, runs the suite in Bun and the library's part of it in Node, and ends
// with one line `N passed, N failed`, counted from the runners' own reports. Arguments narrow it down: npm test -- heartbeat
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const results = join(root, 'test-results');
const only = process.argv.slice(2);

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
};

/** Whom the sandboxes and the limits are tried as when root runs the suite: for root itself they are others. */
const TEST_USER = 'acor-test';
const USER_FILES = ['src/core/sandbox', 'src/core/run/attempt/guards', 'test/attacks'];

/** Files of the suite that also run in Node: the library, and what it stands on. */
const NODE_FILES = ['src/protocol', 'src/util', 'src/tool', 'src/core', 'test/library'];

process.chdir(root);
installDependencies();
installPrograms();
step('build', 'sh', ['scripts/build.sh']);
rmSync(results, { recursive: true, force: true });
mkdirSync(results);

const bunReport = join(results, 'bun.xml');
const bunStatus = run('node_modules/.bin/bun', [
  'test',
  '--timeout',
  '60000',
  '--reporter=junit',
  `--reporter-outfile=${bunReport}`,
  ...only,
]);
const counts = [readReport(bunReport)];
let nodeStatus = 0;
const nodeFiles = filesBelow(NODE_FILES);
if (nodeFiles.length > 0) {
  const nodeReport = join(results, 'node.xml');
  nodeStatus = run('node_modules/.bin/node', [
    '--test',
    '--test-concurrency=2',
    '--test-timeout=120000',
    '--test-reporter=junit',
    `--test-reporter-destination=${nodeReport}`,
    '--test-reporter=dot',
    '--test-reporter-destination=stdout',
    ...nodeFiles,
  ]);
  counts.push(readReport(nodeReport));
}
const userStatus = testAsUser();
const passed = counts.reduce((sum, { passed: each }) => sum + each, 0);
const failed = counts.reduce((sum, { failed: each }) => sum + each, 0);
const skipped = counts.reduce((sum, { skipped: each }) => sum + each, 0);
for (const name of counts.flatMap(({ skippedNames }) => skippedNames)) console.log(`skipped: ${name}`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(bunStatus === 0 && nodeStatus === 0 && userStatus === 0 && failed === 0 && passed > 0 ? 0 : 1);

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

/** Runs the part of the suite that depends on who runs it once more, as an ordinary user. */
function testAsUser() {
  const files = filesBelow(USER_FILES);
  if (process.getuid?.() !== 0 || files.length === 0) return 0;
  if (spawnSync('id', [TEST_USER], { stdio: 'ignore' }).status !== 0)
    run('useradd', ['--create-home', TEST_USER]);
  const as = ['--reuid', TEST_USER, '--regid', TEST_USER, '--clear-groups', '--'];
  const isOpen = spawnSync('setpriv', [...as, 'test', '-r', join(root, 'package.json')]).status === 0;
  if (!isOpen) {
    console.log(`not tried as ${TEST_USER}, who may not read ${root}`);
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'acor-user-'));
  chmodSync(folder, 0o777);
  const report = join(folder, 'user.xml');
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' };
  const status = run(
    'setpriv',
    [
      ...as,
      join(root, 'node_modules/.bin/bun'),
      'test',
      '--timeout',
      '60000',
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      ...files,
    ],
    env,
  );
  counts.push(readReport(report));
  rmSync(folder, { recursive: true, force: true });
  return status;
}

function isThere(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}

function filesBelow(folders) {
  const listed = execFileSync('find', [...folders.filter((path) => existsSync(path)), '-name', '*.test.ts'], {
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter(
      (path) =>
        path !== '' &&
        !path.endsWith('.bun.test.ts') &&
        (only.length === 0 || only.some((word) => path.includes(word))),
    )
    .sort();
}

function step(what, program, args) {
  const status = run(program, args);
  if (status === 0) return;
  console.error(`npm test: cannot ${what} (exit code ${status})`);
  process.exit(1);
}

function run(program, args, env = process.env) {
  const { status, error } = spawnSync(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...env, ACOR_TEST: '1' },
  });
  if (error) console.error(`${program}: ${error.message}`);
  return status ?? 1;
}

/** Counts the test cases of a JUnit report. */
function readReport(path) {
  if (!existsSync(path)) return { passed: 0, failed: 1, skipped: 0, skippedNames: [] };
  const cases = readFileSync(path, 'utf8').match(/<testcase\b[^>]*?(?:\/>|>[\s\S]*?<\/testcase>)/g) ?? [];
  const failed = cases.filter((text) => /<(failure|error)\b/.test(text)).length;
  const skippedCases = cases.filter((text) => /<skipped\b/.test(text));
  return {
    failed,
    skipped: skippedCases.length,
    skippedNames: skippedCases.map((text) => /name="([^"]*)"/.exec(text)?.[1] ?? '?'),
    passed: cases.length - failed - skippedCases.length,
  };
}
