import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { READ_AT_START } from '../../src/core/host/host-folder.ts';
import { SERVED } from '../../src/host/call-host.ts';
import { hostCallsContract } from '../contracts/host-calls.ts';
import { HostProject, NO_HOST } from '../support/host.ts';
import { installedCommand } from '../support/installed-package.ts';
import { ACOR, LAUNCHER, parseLines, ROOT, until, WITHOUT_SANDBOX } from '../support/project.ts';

const folder = mkdtempSync(join(tmpdir(), 'acor-installed-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const COMMAND = installedCommand(folder, ROOT, ACOR);
const CALLER = join(ROOT, 'src', 'host', 'call-host.pl');

hostCallsContract('the installed command', COMMAND);

describe('the installed command', { skip: NO_HOST }, () => {
  const makeProject = () =>
    new HostProject({ tools: ['quick', 'holds'], config: WITHOUT_SANDBOX, program: COMMAND });

  /** Which program is the process of a call, by a run that waits for a file. */
  async function callerOf(project: HostProject, prefix: readonly string[] = []): Promise<string> {
    const gone = project.path('gone', String(Math.random()));
    project.write('gone/here', '');
    const script = `exec ${[...prefix, `'${COMMAND}'`].join(' ')} run holds '${gone}'`;
    const running = project.startProgram('sh', ['-c', script], { env: project.auto });
    await running.event('heartbeat');
    const program = readlinkSync(`/proc/${running.child.pid}/exe`);
    writeFileSync(gone, '');
    const { code, stderr } = await running.finished;
    assert.deepEqual([code, stderr], [0, '']);
    return program.replace(/^.*\//, '').replace(/[\d.]+$/, '');
  }

  it('calls a host that waits by a small program, and runs by itself in every other case', async () => {
    await using project = makeProject();
    assert.equal(await callerOf(project), 'acor');
    await project.warmUp();
    assert.equal(await callerOf(project), 'perl');
    for (const prefix of [
      'ACOR_HOST=off',
      'PERL5OPT=-w',
      'PERL5LIB=/tmp',
      'PERL_UNICODE=S',
      'PERL_HASH_SEED_DEBUG=1',
      'TZ=Asia/Tokyo',
      // Bytes that are no text.
      `X="$(printf '\\377')"`,
    ])
      assert.equal(await callerOf(project, ['env', prefix]), 'acor', prefix);
    assert.equal(await callerOf(project, ['nice', '-n', '5']), 'acor');
    assert.equal(await callerOf(project), 'perl');
  });

  it('needs no language of the caller, and hides none from the tool', async () => {
    await using project = makeProject();
    for (const LC_ALL of ['xx_YY.UTF-8', 'C.UTF-8', '', undefined]) {
      const env = { ...project.auto, ...(LC_ALL !== undefined && { LC_ALL }) };
      const answers = [];
      // The first call runs by itself: a process reads the language at its start.
      while (answers.length < 2) {
        const { stdout, stderr } = await project.acor(
          ['exec', '--', 'sh', '-c', 'echo "language: ${LC_ALL-none}"'],
          { env },
        );
        answers.push([parseLines(stdout).find(({ type }) => type === 'log')?.msg, stderr]);
        await until(() => project.sockets().some((name) => name.endsWith('.idle')));
      }
      assert.deepEqual(answers[0], answers[1]);
      assert.match(String(answers[0]![0]), /^language: /);
      await project.stop();
    }
  });

  it('runs without standard input, output or error, as the program does', async () => {
    await using project = makeProject();
    await project.warmUp();
    for (const closed of ['<&-', '2>&-', '<&- 2>&-']) {
      const { status, stdout } = spawnSync('sh', ['-c', `"$ACOR" run quick ${closed}`], {
        cwd: project.root,
        env: { ...project.environment(project.auto), ACOR: COMMAND },
        encoding: 'utf8',
      });
      assert.equal(status, 0, closed);
      assert.equal(parseLines(stdout).at(-1)!.state, 'completed');
    }
  });

  it('loads no module of Perl, which would take as long as the rest', async () => {
    await using project = makeProject();
    const { pid } = await project.warmUp();
    // Perl loads this when it compiles a mention of its list of error names.
    project.write('modules/Errno.pm', "die 'a module was loaded'");
    const call = ['-I', project.path('modules'), CALLER, project.path('runtime', 'acor', 'host')];
    const { status, stdout, stderr } = spawnSync(
      '/usr/bin/perl',
      [...call, readlinkSync(`/proc/${pid}/exe`), 'run', 'quick'],
      { cwd: project.root, env: { ...project.environment(project.auto), LC_ALL: 'C' }, encoding: 'utf8' },
    );
    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(
      project.record(String(parseLines(stdout)[0]!.run_id))!.supervisor.pid,
      pid,
      'the host has run it',
    );
  });

  it('knows the commands that a host serves, and the variables that a process reads at its start', () => {
    const listed = /case \$\{1-\} in\n\s*([\w| ]+)\) ;;/.exec(readFileSync(LAUNCHER, 'utf8'))![1]!;
    assert.deepEqual(new Set(listed.split(' | ')), SERVED);
    assert.equal(/at_start = qr\/(.+)\/;/.exec(readFileSync(CALLER, 'utf8'))![1], READ_AT_START.source);
  });
});
