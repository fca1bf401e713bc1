import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { groupPlaces } from '../../src/core/sandbox/groups/group-places.ts';
import { groupNameOf } from '../../src/core/sandbox/groups/run-groups.ts';
import { ACOR, parseLines, processesOf, TestProject, until } from '../support/project.ts';

/** Fills COUNT times 4 MB of page tables, and keeps the larger number of them. */
const TABLES = `
import mmap, time
maps = [mmap.mmap(-1, 1000 << 21, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ) for _ in range(COUNT)]
for m in maps:
    m.madvise(15)
    for at in range(0, 1000 << 21, 1 << 21): m[at]
if COUNT > 4: time.sleep(60)`;

/** A limit, a script that exceeds it and one that does not, and the expected end of the first. */
const ATTACKS = [
  {
    resources: 'memory_mb: 60',
    script: `perl -e '$x = "a" x 110_000_000; sleep 60'`,
    control: `perl -e '$x = "a" x 10_000_000'`,
    code: 'E_MEMORY_LIMIT',
    says: /used \d+(\.\d+)? MB of memory; the limit is 60$/,
  },
  {
    // The tables of the kernel, which are not resident: one byte is read in each of many pages of nothing.
    resources: 'memory_mb: 60',
    script: `python3 -c "${TABLES.replaceAll('COUNT', '40')}"`,
    control: `python3 -c "${TABLES.replaceAll('COUNT', '4')}"`,
    code: 'E_MEMORY_LIMIT',
    says: /used \d+(\.\d+)? MB of memory; the limit is 60$/,
  },
  {
    resources: 'cpu_seconds: 0.3',
    script: 'while :; do :; done',
    control: ':',
    code: 'E_CPU_LIMIT',
    says: /used [\d.]+ s of processor time; the limit is 0\.3$/,
  },
  {
    resources: 'processes: 5',
    script: 'for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait',
    control: 'for i in 1 2 3; do sleep 0 & done; wait',
    code: 'E_PROCESS_LIMIT',
    says: /used \d+ processes at once; the limit is 5$/,
  },
  {
    resources: 'open_files: 40',
    script: `perl -e 'for (1..60) { open $f[$_], "<", "/dev/null" or die "$!\\n" }'`,
    control: `perl -e 'for (1..20) { open $f[$_], "<", "/dev/null" or die "$!\\n" }'`,
    code: 'E_OPEN_FILES_LIMIT',
    says: /failed with 'Too many open files'; the limit is 40 open files in each process$/,
  },
  {
    resources: 'file_mb: 1',
    script: 'head -c 3000000 /dev/zero > large',
    control: 'head -c 300000 /dev/zero > large',
    code: 'E_FILE_SIZE_LIMIT',
    says: /a file became too large; the limit is 1 MB in one file$/,
  },
  {
    resources: 'disk_mb: 5',
    script: 'for i in 1 2 3 4; do head -c 3000000 /dev/zero > f$i; done; sleep 60',
    control: 'head -c 3000000 /dev/zero > f',
    code: 'E_DISK_LIMIT',
    says: /used [\d.]+ MB in the folders of its run; the limit is 5$/,
  },
] as const;

const MODES = ['preferred', 'off'];

for (const mode of MODES) {
  describe(`a run with security.isolation: ${mode}`, () => {
    let project: TestProject;
    before(() => {
      project = new TestProject({
        config: `version: 1\nproject: { name: test }\nenvironment: { cancel_grace_s: 30 }\nsecurity: { isolation: '${mode}' }\n`,
      });
      for (const { resources } of ATTACKS) writeTool(project, nameOf(resources), resources);
    });
    after(() => project[Symbol.dispose]());

    for (const { resources, script, control, code, says } of ATTACKS) {
      it(`ends with ${code} and a hint to raise the limit, at once and with nothing left`, async () => {
        const { end, of } = await project.run([nameOf(resources), script]);
        const [error] = of('runner_error');
        assert.deepEqual([end.state, end.code, error?.code], ['failed', code, code]);
        assert.match(String(error!.msg), says);
        const limit = resources.split(':')[0];
        assert.match(String(error!.hint), new RegExp(`manifest: resources: \\{ ${limit}: [\\d.]+ \\}`));
        assert.deepEqual(processesOf(String(end.run_id)), []);
        const within = await project.run([nameOf(resources), control]);
        assert.equal(within.end.state, 'completed', within.stdout);
      });
    }

    it('completes no tool that wrote more to the disk than its limit before the first look', async () => {
      const write = (megabytes: number) =>
        `for ((i = 0; i < ${megabytes}; i++)); do head -c 1000000 /dev/zero > f$i; done`;
      const { end, of } = await project.run([nameOf('disk_mb: 5'), write(8)]);
      assert.deepEqual([end.state, end.code], ['failed', 'E_DISK_LIMIT']);
      assert.match(
        String(of('runner_error')[0]!.msg),
        /used [\d.]+ MB in the folders of its run; the limit is 5$/,
      );
      const { end: within } = await project.run([nameOf('disk_mb: 5'), write(4)]);
      assert.equal(within.state, 'completed');
    });
  });
}

describe('the limits of a run', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['quick'] });
    writeTool(project, 'limited', 'memory_mb: 60');
    project.write('tools/in_bun/cli.ts', 'console.log([1, 2, 3].map((n) => n * 2).join());\n');
  });
  after(() => project[Symbol.dispose]());

  it('are reported at the start with what enforces each of them', async () => {
    const { of } = await project.run(['limited', ':']);
    const { limits, enforced } = of('runner_start')[0]!.isolation as Record<string, Record<string, unknown>>;
    assert.ok(['watchdog', 'cgroup'].includes(String(limits!.memory)));
    assert.deepEqual(
      [limits!.cpu, limits!.processes, limits!.open_files, limits!.output, limits!.time],
      [null, 'watchdog', 'kernel', 'runner', 'runner'],
    );
    assert.ok((enforced as unknown as string[]).includes('resources'));
  });

  it('are shown before anything starts', async () => {
    const { data } = await project.envelope(['run', 'quick', '--dry-run']);
    assert.deepEqual(data.limits.resources, {
      cpu_seconds: 60,
      memory_mb: 512,
      processes: 64,
      open_files: 256,
      disk_mb: 200,
      tmp_mb: 64,
    });
  });

  it('of the level minimal let a tool in TypeScript run', async () => {
    const { end, of } = await project.run(['in_bun']);
    assert.equal(end.state, 'completed', JSON.stringify(of('runner_error')));
  });

  it('are never above the limits of the process that runs ACOR', async () => {
    project.write('tools/minimal/tool.yaml', 'name: minimal\nversion: 1.0.0\nadapter: plain\n');
    project.write('tools/minimal/cli.sh', '#!/bin/bash\nulimit -n\n');
    const opened = async (line: string) => {
      const { stdout } = await promisify(execFile)('bash', ['-c', line, ACOR], { cwd: project.root });
      return parseLines(stdout).find(({ type }) => type === 'log')?.msg;
    };
    assert.equal(await opened('ulimit -n 200; "$0" run minimal'), '200');
    assert.equal(await opened('"$0" run minimal'), '256');
  });

  it('are reported with the usage of all processes together, also for a killed tool', async () => {
    const { end } = await project.run(['limited', `perl -e '$x = "a" x 110_000_000; sleep 60'`]);
    const usage = end.usage as { cpu_s: number; max_rss_bytes: number };
    assert.ok(usage.max_rss_bytes > 60_000_000 && usage.cpu_s > 0, JSON.stringify(usage));
  });

  it('leave no control group behind when the supervisor is killed', {
    skip: groupPlaces().length === 0,
  }, async () => {
    const env = { ACOR_SECURITY_ISOLATION: 'off' };
    const running = project.start(['run', 'limited', 'echo ready; sleep 600'], { env });
    const { run_id } = await running.event('log');
    const name = groupNameOf({ runId: String(run_id), folder: project.path('.runs', String(run_id)) });
    const groups = groupPlaces().map(({ folder }) => join(folder, name));
    assert.ok(groups.every(existsSync));
    running.child.kill('SIGKILL');
    await running.finished;
    await until(() => processesOf(String(run_id)).length === 0);
    await project.acor(['health', '--fix']);
    assert.equal((await project.envelope(['show', String(run_id)])).data.code, 'E_RUNNER_LOST');
    assert.deepEqual(groups.filter(existsSync), []);
  });
});

function nameOf(resources: string): string {
  return `limited_${resources.split(':')[0]}`;
}

function writeTool(project: TestProject, name: string, resources: string): void {
  project.write(
    `tools/${name}/tool.yaml`,
    `name: ${name}\nversion: 1.0.0\nadapter: plain\nresources: { ${resources} }\npermissions: { commands: [perl, head, sleep, python3] }\n`,
  );
  project.write(`tools/${name}/cli.sh`, '#!/bin/bash\neval "$1"\n');
}
