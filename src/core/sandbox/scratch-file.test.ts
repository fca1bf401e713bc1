import assert from 'node:assert/strict';
import { closeSync, type Dirent, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/support/project.ts';
import { SandboxRig } from '../../../test/support/sandbox-rig.ts';
import { loadRuntime } from '../process/load-runtime.ts';
import { bubblewrap } from './backends/bubblewrap.ts';
import { heldValue } from './scratch-file.ts';

const VALUE = 'a value that is nowhere else';
const probe = await bubblewrap.probe();
const skip = probe.available ? false : probe.detail;

describe('a secret that is passed by descriptor', () => {
  let rig: SandboxRig;
  before(async () => {
    rig = await SandboxRig.make();
    rmSync(join(rig.run, 'secrets', 'TOKEN'));
  });
  after(() => rig.remove());

  it('is read once, up to the size of the largest secret, and leaves no file', async () => {
    const runtime = await loadRuntime();
    for (const size of [8, 4097, 65_536]) {
      const bytes = Buffer.alloc(size, 'x');
      const fd = heldValue(runtime, rig.work, bytes);
      assert.deepEqual(readdirSync(rig.work), []);
      const read = Buffer.alloc(size + 1);
      assert.equal(readSync(fd, read), size);
      assert.equal(readSync(fd, read), 0);
      closeSync(fd);
    }
  });

  for (const level of ['minimal', 'privileged'] as const) {
    it(`is a file that a ${level} tool can read and not change, and in no file of the machine`, {
      skip,
    }, async () => {
      const folder = join(rig.run, 'secrets');
      const running = await rig.start(
        bubblewrap,
        `cd ${folder}; ls -A; stat -c '%a %u' . A B; id -u; cat A; wc -c < B
         (echo x >> A) 2>/dev/null && echo written; rm -f A 2>/dev/null && echo removed; touch C 2>/dev/null && echo made
         chmod 644 A 2>/dev/null && echo opened; ls /proc/self/fd | wc -l; grep CapEff /proc/self/status
         echo up; until [ -e ${rig.work}/done ]; do sleep 0.05; done`,
        {
          secrets: { A: `${VALUE}\n`, B: 'y'.repeat(65_536) },
          request: { level, ...(level === 'privileged' && { network: 'host' }) },
        },
      );
      await until(() => /^up$/m.test(running.stdout()));
      const found = [...filesWith(VALUE, rig.root), ...filesWith(VALUE, '/dev/shm')];
      running.tree.kill();
      await running.ended;
      const [a, b, ofFolder, ofA, ofB, uid, ...rest] = running.stdout().split('\n');
      assert.deepEqual([a, b], ['A', 'B']);
      assert.deepEqual([ofFolder, ofA, ofB], [`700 ${uid}`, `600 ${uid}`, `600 ${uid}`]);
      assert.deepEqual(rest.slice(0, 4), [VALUE, '65536', '4', 'CapEff:\t0000000000000000']);
      assert.deepEqual(
        rest.filter((line) => /written|removed|made|opened/.test(line)),
        [],
      );
      // What it prints itself is in the file of its output.
      assert.deepEqual(
        found.filter((path) => !/\/out-\d+$/.test(path)),
        [],
      );
      assert.deepEqual(readdirSync(folder), []);
    });
  }
});

/** Another user's folders and files are left out, and what is gone by now. */
function filesWith(text: string, folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesWith(text, path);
    return entry.isFile() && contains(path, text) ? [path] : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function contains(path: string, text: string): boolean {
  try {
    return readFileSync(path).includes(text);
  } catch {
    return false;
  }
}
