import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Ending, EndingRace } from '../../src/core/runner/ending.ts';
import { describeOverLimit } from '../../src/core/runner/resources/over-limit.ts';
import { ResourceWatch } from '../../src/core/runner/resources/resource-watch.ts';
import { groupPlaces } from '../../src/core/sandbox/groups/group-places.ts';
import type { SandboxBackend } from '../../src/core/sandbox/sandbox.ts';
import type { ResourceLimits } from '../../src/protocol/resource-limits.ts';
import { until } from '../support/project.ts';
import { SandboxRig } from '../support/sandbox-rig.ts';

const who = process.getuid?.() === 0 ? 'root' : 'an ordinary user';
const MB = 1_000_000;
/** For the end of a script that holds what it has taken until it is let go. */
const HOLD = 'echo ready; until [ -e go ]; do sleep 0.02; done';
const PERL_HOLD = '$|=1; print qq(ready\\n); select(undef, undef, undef, 0.02) until -e q(go)';

/** Uses so much processor time in a process of its own. */
const spin = (seconds: number) => `perl -e 'do { $i++ for 1..50000 } while (times)[0] < ${seconds}'`;

/** What every backend must hold a tool to. Each attack is shown to pass where its limit is larger. */
export function limitsContract(backend: SandboxBackend): void {
  describe(`under '${backend.name}', for ${who}, a tool`, () => {
    let rig: SandboxRig;
    before(async () => {
      rig = await SandboxRig.make();
    });
    after(() => rig.remove());

    /** Runs a script under limits. `peakMb`: it is let go once it was seen to use that much; without, it never is. */
    async function run(script: string, limits: ResourceLimits, peakMb?: number) {
      const go = join(rig.work, 'go');
      rmSync(go, { force: true });
      const race = new EndingRace();
      const watch = await ResourceWatch.prepare(rig.runId, limits, { mayMove: false, places: groupPlaces() });
      try {
        const running = await rig.start(backend, script, {
          request: { limits, commands: ['perl', 'python3'] },
          groups: watch.groupFds,
        });
        watch.start(race, {
          rootPid: running.rootPid,
          keepers: running.keepers,
          strays: () => running.tree.orphans(),
          folders: [rig.work],
          diskEveryMs: 100,
        });
        const ended = running.ended.then(({ exit }) => race.end({ kind: 'exited', exit }));
        if (peakMb !== undefined) {
          await until(
            () =>
              race.winner !== undefined ||
              (running.stdout().includes('ready') && (watch.peakBytes ?? 0) >= peakMb * MB),
          );
          if (race.winner === undefined) writeFileSync(go, '');
        }
        const first = await race.first;
        watch.stop();
        await running.tree.kill();
        await ended;
        const facts = { message: undefined, exitCodes: {}, stderrLog: running.errors };
        return { ending: await watch.judge(first, facts), stderr: running.stderr() };
      } finally {
        await watch.close();
      }
    }

    async function assertHeld(
      script: string,
      code: string,
      [small, large]: [ResourceLimits, ResourceLimits],
      peakMb?: number,
    ): Promise<void> {
      const held = await run(script, small);
      assert.equal(codeOf(held.ending), code, held.stderr);
      rig.clean();
      const control = await run(script, large, peakMb);
      assert.equal(codeOf(control.ending), 'rc 0', control.stderr);
      rig.clean();
    }

    it('may take so much memory in one process', () =>
      assertHeld(
        `perl -e '$x = "a" x 100_000_000; ${PERL_HOLD}'`,
        'E_MEMORY_LIMIT',
        [{ memory_mb: 60 }, { memory_mb: 400 }],
        100,
      ));

    it('may take so much memory in many processes', () =>
      assertHeld(
        `for i in 1 2 3; do perl -e '$x = "a" x 30_000_000; ${PERL_HOLD}' & done; wait`,
        'E_MEMORY_LIMIT',
        [{ memory_mb: 60 }, { memory_mb: 400 }],
        90,
      ));

    const SHARED = `python3 -c '
import mmap, os, time
shared = mmap.mmap(-1, 100_000_000)
for at in range(0, 100_000_000, 4096): shared[at] = 1
os.fork()
sum(shared[at] for at in range(0, 100_000_000, 4096))
print("ready", flush=True)
while not os.path.exists("go"): time.sleep(0.02)
'`;

    it('may take so much memory that it maps and shares', () =>
      assertHeld(SHARED, 'E_MEMORY_LIMIT', [{ memory_mb: 60 }, { memory_mb: 400 }], 200));

    it('is not charged twice for what two of its processes share', async () => {
      const { ending, stderr } = await run(SHARED, { memory_mb: 160 }, 200);
      assert.equal(codeOf(ending), 'rc 0', stderr);
    });

    it('may compute so long in one process', () =>
      assertHeld(spin(0.5), 'E_CPU_LIMIT', [{ cpu_seconds: 0.3 }, { cpu_seconds: 20 }]));

    it('may compute so long in a chain of short processes', () =>
      assertHeld(`for i in 1 2 3 4 5 6; do ${spin(0.1)}; done`, 'E_CPU_LIMIT', [
        { cpu_seconds: 0.4 },
        { cpu_seconds: 20 },
      ]));

    it('may have so many processes', () =>
      assertHeld(
        `for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & done; ${HOLD}; kill $(jobs -p)`,
        'E_PROCESS_LIMIT',
        [{ processes: 6 }, { processes: 40 }],
        1,
      ));

    it('may have so many files open', () =>
      assertHeld(
        `perl -e 'for (1..60) { open $f[$_], "<", "/dev/null" or die "$!\n" }'`,
        'E_OPEN_FILES_LIMIT',
        [{ open_files: 40 }, { open_files: 200 }],
      ));

    it('may write so large a file', () =>
      assertHeld('head -c 3000000 /dev/zero > large', 'E_FILE_SIZE_LIMIT', [
        { file_mb: 1 },
        { file_mb: 20 },
      ]));

    it('may write so much in many files', () =>
      assertHeld(
        `for i in {1..12}; do head -c 1000000 /dev/zero > f$i; done; ${HOLD}; rm -f f*`,
        'E_DISK_LIMIT',
        [{ disk_mb: 8 }, { disk_mb: 60 }],
        1,
      ));

    it('has a /tmp of so many bytes', { skip: backend.tier > 1 }, async () => {
      const fill = 'head -c 9000000 /dev/zero > /tmp/f';
      const { stderr } = await run(fill, { tmp_mb: 4 });
      assert.match(stderr, /No space left on device/);
      assert.equal(codeOf((await run(fill, { tmp_mb: 40 })).ending), 'rc 0');
    });

    it('may keep so many files in memory', { skip: backend.tier > 1 }, async () => {
      const make = (count: number) =>
        `perl -e 'for (1..${count}) { open F, q(>), qq(/tmp/f$_) or die } ${PERL_HOLD}'`;
      assert.equal(codeOf((await run(make(55_000), {}, 1_000)).ending), 'E_DISK_LIMIT');
      assert.equal(codeOf((await run(make(500), {}, 1)).ending), 'rc 0');
    });

    it('of an ordinary size is not kept from anything by the limits of a level', async () => {
      const limits = { cpu_seconds: 60, memory_mb: 512, processes: 64, open_files: 256, disk_mb: 200 };
      const { ending, stderr } = await run(
        `python3 -c 'import json, threading; t = threading.Thread(target=print); t.start(); t.join()'`,
        limits,
      );
      assert.equal(codeOf(ending), 'rc 0', stderr);
    });
  });
}

function codeOf(ending: Ending): string {
  if (ending.kind === 'over-limit') return describeOverLimit(ending).code;
  return ending.kind === 'exited' ? `rc ${ending.exit.rc ?? ending.exit.signal}` : ending.kind;
}
