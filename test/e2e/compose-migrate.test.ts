import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ACOR, TestProject } from '../support/project.ts';

const PROGRAMS = ['git', 'jq', 'sqlite3', 'dpkg-query'];
const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const missing = PROGRAMS.filter((program) => !isThere(program));

const PRIMITIVES: Readonly<Record<string, string>> = {
  git: String.raw`version: 1
cwd: project
primitives:
  - call: [-c, 'safe.directory=*', log, '--format=%H%x09%an%x09%s']
    summary: List commits, newest first.
    sample: [--max-count, '2']
    inputs: [max_count, author, { name: paths, positional: true, multiple: true, description: Only commits that changed these. }]
    output: { format: columns, separator: "\t", columns: [hash, author, subject] }
    effects: reads
    replaces: [log]
`,
  jq: `version: 1
primitives:
  - call: [-c]
    summary: Select parts of a JSON file.
    sample: ['.packages[]', needs.json]
    inputs:
      - { name: filter, positional: true, required: true, description: What to select. }
      - { name: file, type: path, access: read, positional: true, required: true, description: The JSON file. }
    output: jsonl
    errors: [{ exit: 3, code: E_USAGE }]
    exit_codes: { fatal_usage: 3 }
    effects: reads
`,
  sqlite3: `version: 1
primitives:
  - call: [-readonly, -json]
    name: query
    summary: Query a database.
    sample: [owners.db, 'select * from owners order by package']
    inputs:
      - { name: database, type: path, access: read, positional: true, required: true, description: The file. }
      - { name: sql, positional: true, required: true, description: The query. }
    output: { format: json, empty: [] }
    errors: [{ match: no such table, code: E_INPUT_NOT_FOUND, hint: List the tables first. }]
    effects: reads
`,
  'dpkg-query': String.raw`version: 1
read: [/var/lib/dpkg]
primitives:
  - call: [-W, '-f=${'$'}{Package}\t${'$'}{Version}\t${'$'}{Installed-Size}\n']
    name: version
    summary: The installed version of a package.
    sample: [dpkg]
    inputs: [{ name: package, positional: true, required: true, description: Its name. }]
    output: { format: columns, separator: "\t", columns: [package, version, size_kb], types: { size_kb: int } }
    errors: [{ match: no packages found matching, code: E_INPUT_NOT_FOUND, hint: Install it. }]
    effects: reads
`,
};

describe('acor compose migrate', { skip: missing.length > 0 ? `needs ${missing.join(', ')}` : false }, () => {
  let project: TestProject;
  let migrations: Map<string, { before: number; after: number }>;

  before(() => {
    project = new TestProject();
    migrations = new Map();
    // As root, a run is another user's.
    chmodSync(project.root, 0o755);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
        cwd: project.root,
      });
    git('init', '-q');
    project.write('needs.json', '{"packages":["dpkg","acor-no-such-package"]}');
    git('add', 'needs.json');
    git('commit', '-qm', 'Say what is needed');
    git('commit', '-q', '--allow-empty', '-m', 'Release "1.0"\twith a tab');
    execFileSync('sqlite3', [
      project.path('owners.db'),
      "create table owners(package text, owner text); insert into owners values('dpkg','Grace');",
    ]);
    for (const [program, text] of Object.entries(PRIMITIVES)) project.write(`${program}.yaml`, text);
  });
  after(() => project[Symbol.dispose]());

  const environment = () => {
    const { PATH = '' } = process.env;
    return { PATH: `${dirname(ACOR)}:${PATH}` };
  };

  /** What an agent does: it calls the wrapper, and reads the envelope. */
  const call = async (program: string, ...args: string[]) => {
    const wrapper = project.path('.acor', 'compose', program, program);
    const env = project.environment(environment());
    const { stdout, stderr, status } = spawnSync(wrapper, args, { cwd: project.root, env, encoding: 'utf8' });
    const lines = stdout.split('\n');
    assert.deepEqual([lines.length, lines[1]], [2, ''], `${stdout}${stderr}`);
    return { status, ...JSON.parse(lines[0]!) };
  };

  it('plans without writing, and writes exactly what was planned', async () => {
    const plan = await project.envelope(['compose', 'plan', 'git', '--primitives', 'git.yaml']);
    assert.ok(plan.ok, JSON.stringify(plan.error));
    assert.equal(existsSync(project.path('.acor', 'compose')), false);
    assert.ok(plan.data.files.some(({ text }: { text: string }) => text.includes('format: columns')));
    const args = ['compose', 'migrate', 'git', '--primitives', 'git.yaml', '--plan', plan.data.plan_token];
    const { ok, data, error } = await project.envelope(args);
    assert.ok(ok, JSON.stringify(error));
    migrations.set('git', data.score);
  });

  it('writes nothing that differs from its plan, and nothing a second time', async () => {
    const call = ['--primitives', 'jq.yaml'];
    const { data: planned } = await project.envelope(['compose', 'plan', 'jq', ...call]);
    const other = planned.plan_token.replace(/^./, (digit: string) => (digit === '0' ? '1' : '0'));
    const migrate = ['compose', 'migrate', 'jq', ...call];
    const refused = await project.envelope([...migrate, '--plan', other]);
    assert.match(refused.error!.message, /other files than the plan/);
    assert.equal(existsSync(project.path('.acor', 'compose', 'jq')), false);
    const { ok, data, error } = await project.envelope([...migrate, '--plan', planned.plan_token]);
    assert.ok(ok, JSON.stringify(error));
    assert.deepEqual(data.not_raised, []);
    migrations.set('jq', data.score);
    const again = await project.envelope(migrate);
    assert.match(again.error!.message, /the project has these already: jq/);
  });

  it('refuses to migrate nothing, with the form of a call, and its plan does not offer it', async () => {
    const { code, error } = await project.envelope(['compose', 'migrate', 'jq']);
    assert.deepEqual([code, error.code], [1, 'E_USAGE']);
    assert.match(error.hint, /--call/);
    const { data, meta } = await project.envelope(['compose', 'plan', 'jq']);
    assert.deepEqual([data.tools, meta.next ?? []], [[], []]);
  });

  it('raises the score of real programs, and says what it could not raise', async () => {
    for (const program of ['sqlite3', 'dpkg-query']) {
      const { ok, data, error } = await project.envelope([
        'compose',
        'migrate',
        program,
        '--primitives',
        `${program}.yaml`,
      ]);
      assert.ok(ok, JSON.stringify(error));
      assert.deepEqual(data.not_raised, [], program);
      migrations.set(program, data.score);
    }
    for (const [program, { before: first, after: then }] of migrations)
      assert.ok(then > first && then >= 95, `${program}: ${first} -> ${then}`);
    const plan = await project.envelope(['compose', 'plan', 'git', '--call', 'status -- --no-such-option']);
    const reasons = new Map<string, string>(
      plan.data.not_raised.map(({ what, why }: { what: string; why: string }) => [what, why]),
    );
    assert.match(reasons.get('git status --no-such-option')!, /its recorded call gave no data/);
    assert.match(reasons.get('git commit')!, /no call of it is recorded/);
    assert.deepEqual(plan.data.coverage.migrated, 0);
  });

  it('writes tools that pass the strict validation, with a recorded test that can fail', async () => {
    const { ok, data, error } = await project.envelope([
      'validate',
      '--strict',
      'git-log',
      'jq',
      'sqlite3-query',
      'dpkg-query-version',
    ]);
    assert.ok(ok, JSON.stringify(error));
    assert.equal(data.tools, 4);
    const file = project.path('.acor', 'tools', 'git-log', 'tool.yaml');
    const manifest = readFileSync(file, 'utf8');
    writeFileSync(file, manifest.replace('- subject\n', '- title\n'));
    const broken = await project.envelope(['validate', 'git-log']);
    assert.deepEqual(
      broken.error!.details.findings.map(({ rule }: { rule: string }) => rule),
      ['recorded-run'],
    );
    writeFileSync(file, manifest);
    const tested = await project.envelope([
      'validate',
      '--selftest',
      'git-log',
      'jq',
      'sqlite3-query',
      'dpkg-query-version',
    ]);
    assert.ok(tested.ok, JSON.stringify(tested.error));
  });

  it('lets an agent do a job from end to end without scraping', async () => {
    // The job: which needed packages are installed, in which version, whose are they, and who changed the list last?
    const { data: catalog } = await call('git', 'tools');
    assert.ok(catalog.tools.some(({ name }: { name: string }) => name === 'git.log'));
    assert.equal((await call('git', 'health')).data.status, 'ready');
    const needed = await call('jq', 'run', '.packages[]', 'needs.json');
    const report = [];
    for (const name of needed.data.items) {
      const found = await call('dpkg-query', 'version', name);
      const owners = await call(
        'sqlite3',
        'query',
        'owners.db',
        `select owner from owners where package = '${name}'`,
      );
      report.push({
        name,
        version: found.ok ? found.data.items[0].version : null,
        code: found.ok ? null : found.error.code,
        size: found.ok ? typeof found.data.items[0].size_kb : null,
        owner: owners.data.items[0]?.owner ?? null,
      });
    }
    const changed = await call('git', 'log', '--max-count', '1', 'needs.json');
    const version = execFileSync('dpkg-query', ['-W', '-f=${Version}', 'dpkg'], { encoding: 'utf8' });
    assert.deepEqual(report, [
      { name: 'dpkg', version, code: null, size: 'number', owner: 'Grace' },
      { name: 'acor-no-such-package', version: null, code: 'E_INPUT_NOT_FOUND', size: null, owner: null },
    ]);
    const { author, subject } = changed.data.items[0];
    assert.deepEqual([author, subject], ['Ada', 'Say what is needed']);
    const all = await call('git', 'log', '--fields', 'subject');
    // Each next command calls the migrated program: the name alone is that of the real one.
    const page = await call('git', 'log', '--limit', '1');
    assert.deepEqual(page.meta.next, ['acor compose call git log --limit 1 --offset 1']);
    const typo = await call('git', 'lgo');
    assert.match(typo.error.hint, /Did you mean acor compose call git log\?/);
    assert.ok(typo.meta.next.every((each: string) => each.startsWith('acor compose call git ')));
    assert.deepEqual(all.data.items, [
      { subject: 'Release "1.0"\twith a tab' },
      { subject: 'Say what is needed' },
    ]);
  });

  it('gives failures the codes and exit codes of the contract', async () => {
    const table = await call('sqlite3', 'query', 'owners.db', 'select * from missing');
    assert.deepEqual(
      [table.status, table.error.code, table.error.hint],
      [1, 'E_INPUT_NOT_FOUND', 'List the tables first.'],
    );
    const filter = await call('jq', 'run', '.[', 'needs.json');
    assert.deepEqual([filter.status, filter.error.code], [1, 'E_USAGE']);
    const flag = await call('git', 'log', '--no-such-flag');
    assert.deepEqual([flag.status, flag.error.code], [1, 'E_USAGE']);
  });

  it('keeps the old command line, with a notice on stderr that names the replacement', () => {
    const old = project.path('.acor', 'compose', 'git', 'deprecated', 'git');
    const run = (program: string, ...args: string[]) =>
      spawnSync(program, ['-c', 'safe.directory=*', ...args], { cwd: project.root, encoding: 'utf8' });
    const plain = (program: string, ...args: string[]) =>
      spawnSync(program, args, { cwd: project.root, encoding: 'utf8' });
    assert.equal(run(old, 'log', '--oneline').stdout, run('git', 'log', '--oneline').stdout);
    for (const args of [
      ['log', '--oneline'],
      ['rev-parse', 'HEAD'],
      ['log', '--no-such-option'],
    ]) {
      const [one, other] = [plain(old, ...args), plain('git', ...args)];
      assert.deepEqual([one.stdout, one.status], [other.stdout, other.status]);
      const notice = args[0] === 'log' ? 'deprecated: for agents, use: acor run git-log\n' : '';
      assert.equal(one.stderr, `${notice}${other.stderr}`);
    }
  });
});
