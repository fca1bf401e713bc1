import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { landlock } from '../../src/core/sandbox/backends/landlock.ts';
import { needsMounts, ProjectWithMounts } from '../support/mount-namespace.ts';
import { readRun } from '../support/project.ts';

const BWRAP = '/usr/bin/bwrap';
const CONFIG = 'version: 1\nenvironment: { cancel_grace_s: 0.3 }\n';
const isHere =
  existsSync(BWRAP) && (await bubblewrap.probe()).available && (await landlock.probe()).available;
const options = isHere ? needsMounts : { skip: 'needs bubblewrap to hide, and Landlock' };

/** Nothing of the program is left to be trusted. */
const HIDE = `mount --bind /dev/null ${BWRAP}`;
const SAYS = 'isolated by landlock';

describe('a machine where the strongest sandbox is not to be had', () => {
  it('runs tools by the next one, and says so once', options, async () => {
    using project = await ProjectWithMounts.open({ config: CONFIG });
    project.write('tools/hello', '#!/bin/bash\necho hello\n', 0o755);
    project.shell(HIDE);
    const runs = [];
    for (let number = 0; number < 3; number++) runs.push(readRun(await project.acor(['run', 'hello'])));
    for (const { end, of, stdout } of runs) {
      assert.equal(end.state, 'completed', stdout);
      assert.equal((of('runner_start')[0]!.isolation as { backend: string }).backend, 'landlock');
    }
    const told = runs.map(
      ({ of }) => of('runner_warning').filter(({ msg }) => String(msg).includes(SAYS)).length,
    );
    assert.deepEqual(told, [1, 0, 0]);
  });

  it('has the sandbox tried out anew after one that worked has failed a run', options, async () => {
    using project = await ProjectWithMounts.open({ config: CONFIG });
    project.write('tools/hello', '#!/bin/bash\necho hello\n', 0o755);
    const backendOf = async () => {
      const run = readRun(await project.acor(['run', 'hello']));
      return [
        (run.of('runner_start')[0]!.isolation as { backend: string }).backend,
        run.end.state,
        run.end.code,
      ];
    };
    assert.deepEqual((await backendOf()).slice(0, 2), ['bubblewrap', 'completed']);
    // The kernel's answer to this namespace of users changes, and nothing that the kept result is bound to.
    project.shell('echo 0 > /proc/sys/user/max_pid_namespaces');
    assert.deepEqual(await backendOf(), ['bubblewrap', 'failed', 'E_SANDBOX_UNAVAILABLE']);
    assert.deepEqual((await backendOf()).slice(0, 2), ['landlock', 'completed']);
  });
});
