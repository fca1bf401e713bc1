import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { ACOR, ROOT, TestProject } from '../support/project.ts';

const SCRIPTS = join(ROOT, 'scripts', 'action');

/** Runs a script as a step of a job does, with `acor` on the PATH. */
function step(
  project: TestProject,
  script: string,
  args: readonly string[],
  env: Record<string, string> = {},
) {
  mkdirSync(project.path('bin'), { recursive: true });
  if (!existsSync(project.path('bin', 'acor'))) symlinkSync(ACOR, project.path('bin', 'acor'));
  const { status, stdout, stderr } = spawnSync('bash', [join(SCRIPTS, script), ...args], {
    cwd: project.root,
    encoding: 'utf8',
    env: {
      ...project.environment(),
      PATH: `${project.path('bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
      GITHUB_OUTPUT: project.path('output'),
      GITHUB_STEP_SUMMARY: project.path('summary'),
      ...env,
    },
  });
  return { status, stdout, stderr };
}

describe('the GitHub Action', () => {
  it('names scripts that exist', () => {
    const action = readFileSync(join(ROOT, 'action.yml'), 'utf8');
    const workflow = readFileSync(join(ROOT, '.github', 'workflows', 'release.yml'), 'utf8');
    const named = [...`${action}${workflow}`.matchAll(/scripts\/action\/\S+?\.sh/g)].map(([path]) => path);
    assert.equal(named.length, 4);
    for (const path of named) assert.equal(spawnSync('bash', ['-n', join(ROOT, path)]).status, 0, path);
  });

  it('uses the installed program when it is asked to', () => {
    using project = new TestProject();
    const { status, stdout } = step(project, 'install.sh', [], { ACOR_ACTION_VERSION: 'installed' });
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).ok, true);
  });

  it('reports a completed run in outputs and in the summary', () => {
    using project = new TestProject({ tools: ['quick'] });
    const { status, stderr } = step(project, 'run.sh', [], { ACOR_ACTION_RUN: 'run\nquick\n' });
    assert.equal(status, 0, stderr);
    const [runId] = project.runIds();
    const output = readFileSync(project.path('output'), 'utf8');
    assert.equal(output, `run-id=${runId}\nstate=completed\ndir=${project.path('.runs', runId!)}\n`);
    assert.match(readFileSync(project.path('summary'), 'utf8'), /^\| state \| completed \|$/m);
    assert.doesNotMatch(stderr, /::error/);
  });

  it('annotates a failed run, and gives text of a tool no meaning', () => {
    using project = new TestProject();
    const report = {
      type: 'error',
      code: 'E_HOSTILE',
      msg: 'bad | <b>`x`\n::error::second\nstate=completed',
      hint: '50%',
    };
    project.write(
      'tools/fails/cli.sh',
      `#!/bin/bash\nprintf '%s\\n' '${JSON.stringify({ v: 1, ...report })}'\nexit 1\n`,
      0o755,
    );
    const { status, stderr } = step(project, 'run.sh', [], { ACOR_ACTION_RUN: 'run\nfails' });
    assert.notEqual(status, 0);
    const annotations = stderr.split('\n').filter((line) => line.startsWith('::'));
    assert.equal(annotations.length, 1, stderr);
    assert.match(annotations[0]!, /^::error title=E_HOSTILE::.*%0A::error::second%0Astate=completed.*50%25/);
    const output = readFileSync(project.path('output'), 'utf8');
    assert.deepEqual(output.match(/^state=.*$/gm), ['state=failed']);
    assert.match(
      readFileSync(project.path('summary'), 'utf8'),
      /^\| message \| bad &#124; &#60;b&#62;&#96;x&#96; ::error/m,
    );
  });

  it('runs commands that stream nothing, and leaves what follows -- to the tool', () => {
    using project = new TestProject({ tools: ['quick', 'does'] });
    assert.equal(step(project, 'run.sh', [], { ACOR_ACTION_RUN: 'list\n' }).status, 0);
    const run = 'run\ndoes\n--\necho "$#" > "$ARTIFACTS_DIR/words"\n';
    assert.equal(step(project, 'run.sh', [], { ACOR_ACTION_RUN: run }).status, 0);
    const [runId] = project.runIds();
    assert.equal(readFileSync(project.path('.runs', runId!, 'artifacts/words'), 'utf8'), '1\n');
    const { status, stdout } = step(project, 'run.sh', [], { ACOR_ACTION_RUN: '' });
    assert.deepEqual([status, /E_USAGE.*input 'run' is empty/.test(stdout)], [1, true]);
  });

  it('passes each line as one argument, and runs none of it in a shell', () => {
    using project = new TestProject({ tools: ['quick'] });
    const { status } = step(project, 'run.sh', [], { ACOR_ACTION_RUN: 'run\n$(touch planted); quick' });
    assert.notEqual(status, 0);
    assert.match(readFileSync(project.path('summary'), 'utf8'), /E_TOOL_NOT_FOUND|E_USAGE/);
    assert.throws(() => readFileSync(project.path('planted')));
  });
});

describe('the release workflow', () => {
  /** A release folder with one program. */
  function release(project: TestProject): string {
    const folder = project.path('release');
    mkdirSync(folder);
    copyFileSync(join(ROOT, 'dist', 'acor'), join(folder, 'acor-linux-x64'));
    const { stdout } = spawnSync('sha256sum', ['acor-linux-x64'], { cwd: folder, encoding: 'utf8' });
    project.write('release/SHA256SUMS', stdout);
    return folder;
  }

  it('publishes only what passes its own test, with right checksums, under the tag of its version', () => {
    using project = new TestProject();
    const folder = release(project);
    assert.equal(step(project, 'check-release.sh', [folder, 'v0.1.0']).status, 0);
    using other = new TestProject();
    const refused = step(other, 'check-release.sh', [folder, 'v0.2.0']);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /the tag v0\.2\.0 is not the version 0\.1\.0/);
    project.write('release/SHA256SUMS', `${'0'.repeat(64)}  acor-linux-x64\n`);
    using third = new TestProject();
    assert.notEqual(step(third, 'check-release.sh', [folder, 'v0.1.0']).status, 0);
  });

  it('publishes the packages of the platforms before the one that needs them', () => {
    using project = new TestProject();
    for (const name of ['acor-0.1.0.tgz', 'acor-linux-x64-0.1.0.tgz', 'NOTES.md', 'SHA256SUMS'])
      project.write(`release/${name}`, '');
    // Both would publish for the whole world.
    for (const program of ['npm', 'gh'])
      project.write(`bin/${program}`, `#!/bin/sh\necho ${program} "$@" >>"$CALLS"\n`, 0o755);
    const calls = project.path('calls');
    assert.equal(
      step(project, 'publish.sh', [project.path('release'), 'v0.1.0'], { CALLS: calls }).status,
      0,
    );
    const lines = readFileSync(calls, 'utf8').trim().split('\n');
    assert.match(lines[0]!, /^npm publish .*acor-linux-x64-0\.1\.0\.tgz$/);
    assert.match(lines[1]!, /^npm publish .* acor-0\.1\.0\.tgz$/);
    assert.match(lines[2]!, /^gh release create v0\.1\.0 .*SHA256SUMS/);
    assert.doesNotMatch(lines[2]!, /\.tgz/);
  });
});
