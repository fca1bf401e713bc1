// Audits real programs again, and compares with the judged snapshot in test/fixtures/audits/judged.json:
//   npm run audits [-- NAME…] [--install] [--write]
// `--install` fetches the programs that this machine lacks, into node_modules/.cache: packages of Debian by apt-get
// download, packages of npm. `--write` takes over what was found; each new finding needs a judgement in the file.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { AUDITED, type AuditedProgram, PROGRAMS, versionHere } from '../test/support/audited-programs.ts';
import { type JudgedAudit, judgedAudits, precisionOf, sameFindings } from '../test/support/judged-audits.ts';

const root = dirname(import.meta.dirname);
const ACOR = join(root, 'dist', 'acor');
const FILE = join(root, 'test', 'fixtures', 'audits', 'judged.json');

const { values, positionals } = parseArgs({
  options: { install: { type: 'boolean' }, write: { type: 'boolean' } },
  allowPositionals: true,
});
const wanted = PROGRAMS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (values.install === true) install(wanted.filter((each) => versionHere(each) === undefined));

const judged = new Map(judgedAudits().map((each) => [each.program, each]));
let changed = 0;
for (const program of wanted) {
  const version = versionHere(program);
  const before = judged.get(program.name);
  if (version === undefined)
    console.log(`${program.name}: skipped, it is not here (npm run audits -- --install)`);
  else if (before !== undefined && before.version !== version && values.write !== true)
    console.log(`${program.name}: skipped, it is here as ${version}, and judged as ${before.version}`);
  else {
    const found = audit(program, version, before);
    const isSame = before !== undefined && sameFindings(before.findings, found.findings);
    console.log(
      `${program.name}: ${isSame ? 'the same' : 'changed'}, ${found.findings.length} findings, score ${found.score}`,
    );
    if (!isSame) changed++;
    judged.set(program.name, found);
  }
}
const all = [...judged.values()].sort((a, b) => (a.program < b.program ? -1 : 1));
if (values.write === true) writeFileSync(FILE, `${JSON.stringify(all, null, 2)}\n`);
const { text, unjudged } = precisionOf(all);
console.log(text);
if (unjudged > 0)
  console.log(`${unjudged} findings have no judgement: write right, wrong or debatable into ${FILE}`);
process.exitCode = (values.write !== true && changed > 0) || unjudged > 0 ? 1 : 0;

function audit(
  { name, word, calls }: AuditedProgram,
  version: string,
  before: JudgedAudit | undefined,
): JudgedAudit {
  const folder = mkdtempSync(join(tmpdir(), 'acor-audits-'));
  try {
    const args = ['compose', 'audit', word, '--commands', '25', ...calls.flatMap((call) => ['--call', call])];
    const { stdout } = spawnSync(ACOR, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1e9 });
    const { ok, data, error } = JSON.parse(stdout);
    if (!ok) throw new Error(`${name}: ${error.message}`);
    const findings = (data.findings as JudgedAudit['findings']).map((found) => {
      const { rule, severity, message, evidence } = found;
      const known = before?.findings.find((each) => each.rule === rule && each.message === message);
      const { judgement = 'unjudged', why } = known ?? {};
      return {
        rule,
        severity,
        message,
        evidence: evidence.slice(0, 1).map(shortened),
        judgement,
        ...(why && { why }),
      };
    });
    return { program: name, version, calls: [...calls], score: data.score.value, findings };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function shortened({ command, stream, bytes }: JudgedAudit['findings'][number]['evidence'][number]) {
  return { command, stream, bytes: bytes.slice(0, 120) };
}

function install(programs: readonly AuditedProgram[]): void {
  const [debian, npm]: [string[], string[]] = [[], []];
  for (const { from } of programs) {
    if (from !== undefined && 'debian' in from) debian.push(from.debian);
    // It needs further packages, so that it is installed on the machine.
    if (from !== undefined && 'apt' in from)
      execFileSync('apt-get', ['install', '-y', '--no-install-recommends', from.apt], { stdio: 'inherit' });
    if (from !== undefined && 'npm' in from) npm.push(from.npm);
  }
  mkdirSync(join(AUDITED, 'packages'), { recursive: true });
  if (debian.length > 0) {
    execFileSync('apt-get', ['download', ...debian], { cwd: join(AUDITED, 'packages'), stdio: 'inherit' });
    for (const file of readdirSync(join(AUDITED, 'packages')))
      execFileSync('dpkg', ['-x', join(AUDITED, 'packages', file), join(AUDITED, 'debian')]);
  }
  if (npm.length > 0) {
    writeFileSync(join(AUDITED, 'package.json'), '{"private":true,"type":"module"}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', ...npm], { cwd: AUDITED, stdio: 'inherit' });
    const app = join(AUDITED, 'incur-app.mjs');
    copyFileSync(join(root, 'test', 'fixtures', 'audits', 'apps', 'incur-app.mjs'), app);
    chmodSync(app, 0o755);
  }
}
