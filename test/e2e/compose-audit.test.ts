import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { ACOR, TestProject } from '../support/project.ts';

type Finding = { rule: string; severity: string; message: string; commands: string[]; is_new: boolean };

/** A program with one breach of the contract after the other. */
const BAD = `#!/bin/bash
help() { cat <<'END'
Usage: bad <command>

Commands:
  items-list     List the items
  items-drop     Delete all items
  show           Show one item
  report         Show and delete the report
  noise          Show the noise
  clock          Show the time
  stats          Show what was counted

Options:
  --csv          print CSV
  --json         print JSON
END
}
case "$1" in
  --help) help; exit 0 ;;
  help) exit 3 ;;
  tools|health|config) echo "bad: no such command" ; exit 64 ;;
esac
for word in "$@"; do case "$word" in
  --help) echo "Usage: bad $1 [options]"; echo; echo "Options:"; echo "  --json   print JSON"; [ "$1" = items-drop ] && echo "  prompts for confirmation"; exit 0 ;;
esac; done
case "$1" in
  items-list) printf '\\033[31mone\\033[0m\\n' ;;
  items-drop) echo "DROPPED" > ~/dropped ;;
  noise) case "$2" in --json) echo "loading"; echo '{"a":1}' ;; *) echo noise ;; esac ;;
  clock) echo "$RANDOM$RANDOM$RANDOM" ;;
  stats) echo "counted 3 in $RANDOM.$RANDOM ms" ;;
  show) printf "Which one? [y/N]"; read answer; exit 1; echo '{"item":1}' ;;
  *) echo "wrong" ; exit 64 ;;
esac
`;

describe('acor compose audit', () => {
  /** The output of an audit of `./bad`. */
  let audited: string;

  before(async () => {
    using project = new TestProject();
    project.write('bad', BAD, 0o755);
    audited = (await project.acor(['compose', 'audit', './bad'])).stdout;
  });

  it('finds what breaks the contract, with evidence, and answers alike twice', async () => {
    using project = new TestProject();
    project.write('bad', BAD, 0o755);
    const first = JSON.parse(audited);
    assert.ok(first.ok, JSON.stringify(first.error));
    const findings = first.data.findings as (Finding & { evidence: { command: string; bytes: string }[] })[];
    const found = new Set(findings.map(({ rule }) => rule));
    for (const rule of [
      ...['tools-command', 'health-command', 'config-command', 'structured-output', 'stdout-purity'],
      ...[
        'error-envelope',
        'error-hint',
        'errors-on-stderr',
        'exit-usage',
        'control-characters',
        'determinism',
      ],
      ...['dry-run', 'granularity', 'presentation-flags', 'non-interactive', 'confirmation', 'selectors'],
    ])
      assert.ok(found.has(rule), `${rule} is not among ${[...found].join(', ')}`);
    const purity = findings.find(({ rule }) => rule === 'stdout-purity')!;
    assert.deepEqual(purity.evidence[1], {
      command: 'bad noise --json',
      stream: 'stdout',
      bytes: 'loading\n{"a":1}\n',
    });
    assert.ok(findings.every(({ evidence }) => evidence.length > 0));
    // What a call took is no difference of its answer: `stats` says it.
    const differing = findings.find(({ rule }) => rule === 'determinism')!;
    assert.deepEqual(differing.commands, ['clock', 'clock --json']);
    const second = await project.envelope(['compose', 'audit', './bad']);
    assert.deepEqual(second.data, first.data);
    const { value, lines } = first.data.score;
    assert.ok(value < 60, String(value));
    assert.equal(
      lines.reduce(
        (sum: number, line: { earned: number | null }) => sum + Math.round(10 * (line.earned ?? 0)),
        0,
      ),
      Math.round(10 * first.data.score.earned),
    );
    assert.deepEqual(
      first.data.compatibility_plan.map(({ phase }: { phase: string }) => phase),
      ['add', 'split', 'announce', 'switch', 'remove'],
    );
  });

  it('calls a command that its help calls destructive only when it is allowed', async () => {
    using project = new TestProject();
    project.write('bad', BAD, 0o755);
    const called = (data: { calls: { args: string[] }[] }) => data.calls.map(({ args }) => args[0]);
    const { data } = await project.envelope(['compose', 'audit', './bad', '--dry-run']);
    assert.ok(called(data).includes('items-list'));
    assert.ok(!called(data).includes('items-drop'));
    const refused = await project.envelope(['compose', 'audit', './bad', '--call', 'items-drop']);
    assert.equal(refused.error.code, 'E_USAGE');
    assert.match(refused.error.hint, /--allow items-drop|--allow 'items-drop'/);
    const allowed = await project.envelope([
      ...['compose', 'audit', './bad', '--dry-run'],
      ...['--allow', 'items-drop', '--call', 'items-drop'],
    ]);
    assert.ok(called(allowed.data).includes('items-drop'));
  });

  it('holds a project to its baseline', async () => {
    using project = new TestProject();
    project.write('bad', BAD, 0o755);
    project.write('baseline.json', audited);
    const same = await project.acor(['compose', 'audit', './bad', '--baseline', 'baseline.json']);
    assert.equal(same.code, 0, same.stdout.slice(0, 500));
    project.write('bad', BAD.replace('clock          Show', 'purge          Purge'), 0o755);
    const worse = await project.acor(['compose', 'audit', './bad', '--baseline', 'baseline.json']);
    const { error } = JSON.parse(worse.stdout);
    assert.deepEqual([worse.code, error.code], [1, 'E_CONTRACT_BROKEN']);
    const fresh = (error.details.findings as Finding[]).filter((each) => each.is_new);
    assert.ok(fresh.some(({ rule, commands }) => rule === 'dry-run' && commands.includes('purge')));
    assert.ok(!fresh.some(({ rule }) => rule === 'tools-command'));
    const strict = await project.acor(['compose', 'audit', './bad', '--fail-on', 'critical']);
    assert.equal(strict.code, 0, 'it has no critical finding');
  });

  it('writes SARIF, and exits with 1 when it fails', async () => {
    using project = new TestProject();
    project.write('bad', BAD, 0o755);
    const { code, stdout } = await project.acor([
      ...['compose', 'audit', './bad', '--format', 'sarif', '--fail-on', 'high'],
    ]);
    const { version, runs } = JSON.parse(stdout);
    assert.deepEqual([code, version], [1, '2.1.0']);
    const [{ tool, results }] = runs;
    for (const { ruleId, ruleIndex, level, locations } of results) {
      assert.equal(tool.driver.rules[ruleIndex].id, ruleId);
      assert.ok(['error', 'warning', 'note'].includes(level));
      assert.equal(locations[0].physicalLocation.artifactLocation.uri, 'bad');
    }
  });

  it('gives validation tasks as scripts, which fail until the finding is resolved', async () => {
    using project = new TestProject();
    const folder = project.root;
    project.write('bad', BAD, 0o755);
    const { data } = JSON.parse(audited);
    const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: project.root };
    const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
    const tasks = data.validation.filter(({ needs }: { needs: string[] }) => needs.every(has));
    const status = (script: string) => spawnSync('sh', ['-c', script], { env, cwd: project.root }).status;
    for (const { rule, script } of tasks) assert.notEqual(status(script), 0, `${rule}: ${script}`);
    const usage = tasks.find(({ rule }: { rule: string }) => rule === 'exit-usage');
    project.write('bad', BAD.replaceAll('exit 64', 'exit 1'), 0o755);
    assert.equal(status(usage.script), 0);
  });

  for (const [file, source, rules] of [
    ['tool.ts', "console.log('hi');\nprocess.exit(7);\n", ['stdout-purity', 'exit-runtime']],
    [
      'tool.py',
      'name = input("who? ")\nprint(name)\nsys.exit(9)\n',
      ['non-interactive', 'stdout-purity', 'exit-runtime'],
    ],
    [
      'tool.go',
      'fmt.Println("hi")\nlog.Fatal("no")\nos.RemoveAll("x")\n',
      ['stdout-purity', 'error-envelope', 'dry-run'],
    ],
    ['tool.rs', 'println!("hi");\nstd::process::exit(4);\n', ['stdout-purity', 'exit-runtime']],
  ] as const)
    it(`reads ${file}, and names each line`, async () => {
      using project = new TestProject();
      project.write(file, source);
      const { data } = await project.envelope(['compose', 'audit', file]);
      assert.deepEqual(new Set(data.findings.map(({ rule }: Finding) => rule)), new Set(rules));
      assert.match(
        data.findings.find(({ rule }: Finding) => rule === 'stdout-purity').evidence[0].command,
        /^tool\.\w+:\d$/,
      );
    });

  it('follows a link to the package of its program, and judges no program that does not start', async () => {
    using project = new TestProject();
    project.write('node_modules/box/package.json', '{"name":"box"}');
    project.write('node_modules/box/lib.sh', 'echo "Usage: box [options]"\n');
    project.write('node_modules/box/box', '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n', 0o755);
    project.write('node_modules/.bin/other', '#!/bin/sh\nexit 127\n', 0o755);
    symlinkSync('../box/box', `${project.root}/node_modules/.bin/box`);
    const { ok, data } = await project.envelope(['compose', 'audit', 'node_modules/.bin/box']);
    assert.ok(ok);
    assert.ok(data.calls.every(({ rc }: { rc: number }) => rc === 0));
    const { error } = await project.envelope(['compose', 'audit', 'node_modules/.bin/other']);
    assert.equal(error.code, 'E_SPAWN_FAILED');
  });

  it('reads a folder and runs the program of its package', async () => {
    using project = new TestProject();
    project.write('pkg/package.json', '{"bin": {"bad": "cli.sh"}}');
    project.write('pkg/cli.sh', BAD, 0o755);
    project.write('pkg/src/lib.mjs', "console.log('beside');\n");
    project.write('pkg/node_modules/other/index.js', "console.log('not ours');\n");
    const { data } = await project.envelope(['compose', 'audit', 'pkg']);
    const purity = data.findings.filter(({ rule }: Finding) => rule === 'stdout-purity');
    assert.deepEqual(
      purity.map(({ message }: Finding) => message),
      [
        'stdout has text that is not JSON: items-list --json, noise --json, clock --json, stats --json',
        'the source writes text to stdout beside the envelope: src/lib.mjs:1',
      ],
    );
  });

  it('refuses a file that is neither a program nor a source, and a baseline that is no audit', async () => {
    using project = new TestProject();
    project.write('notes.txt', 'hello');
    project.write('bad', BAD, 0o755);
    const code = async (...args: string[]) =>
      (await project.envelope(['compose', 'audit', ...args])).error.code;
    assert.equal(await code('./nothing'), 'E_INPUT_NOT_FOUND');
    assert.equal(await code('./notes.txt'), 'E_USAGE');
    assert.equal(await code('no-such-program-of-any-kind'), 'E_RUNTIME_MISSING');
    assert.equal(await code('./bad', '--baseline', 'notes.txt'), 'E_USAGE');
  });

  it('finds nothing above low in ACOR itself', async () => {
    using project = new TestProject();
    const { data, ok, error } = await project.envelope(['compose', 'audit', ACOR, '--commands', '200']);
    assert.ok(ok, JSON.stringify(error));
    assert.deepEqual(
      data.findings
        .filter(({ severity }: Finding) => severity !== 'low')
        .map(({ rule, message }: Finding) => `${rule}: ${message}`),
      [],
    );
    assert.ok(data.commands.length > 50, 'every command of ACOR is read');
    assert.equal(data.unread, 0);
  });
});
