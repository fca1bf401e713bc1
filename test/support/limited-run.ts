import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ending, EndingRace } from '../../src/core/run/attempt/ending.ts';
import { describeOverLimit } from '../../src/core/run/attempt/resources/over-limit.ts';
import { ResourceWatch } from '../../src/core/run/attempt/resources/resource-watch.ts';
import { groupPlaces } from '../../src/core/sandbox/groups/group-places.ts';
import type { SandboxBackend } from '../../src/core/sandbox/sandbox.ts';
import type { ResourceLimits } from '../../src/protocol/resource-limits.ts';
import { until } from './project.ts';
import type { SandboxRig } from './sandbox-rig.ts';

const MB = 1_000_000;
/** For the end of a script: it keeps its resources until it is released. */
export const HOLD = 'echo ready; until [ -e go ]; do sleep 0.05; done';
export const PERL_HOLD = '$|=1; print qq(ready\\n); select(undef, undef, undef, 0.02) until -e q(go)';

/** Takes 100 MB that two processes map and share. */
export const SHARED_MEMORY = `python3 -c '
import mmap, os, time
shared = mmap.mmap(-1, 100_000_000)
for at in range(0, 100_000_000, 4096): shared[at] = 1
os.fork()
sum(shared[at] for at in range(0, 100_000_000, 4096))
print("ready", flush=True)
while not os.path.exists("go"): time.sleep(0.02)
'`;

/** Runs a script under limits; returns its end: a code, or `rc 0`. `peakMb`: release the script after it used that much; without, never. */
export async function runLimited(
  rig: SandboxRig,
  backend: SandboxBackend,
  script: string,
  limits: ResourceLimits,
  peakMb?: number,
) {
  const go = join(rig.work, 'go');
  rmSync(go, { force: true });
  const race = new EndingRace();
  await using watch = await ResourceWatch.prepare({ runId: rig.runId, folder: rig.work }, limits, {
    mayMove: false,
    places: groupPlaces(),
  });
  const running = await rig.start(backend, script, {
    request: { limits, commands: ['perl', 'python3'] },
    groups: watch.groupFds,
  });
  watch.start(race, {
    rootPid: running.rootPid,
    sandboxProcessDepth: running.sandboxProcessDepth,
    strays: () => running.tree.orphans(),
    folders: [rig.work],
    copiedBytes: 0,
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
  return { came: codeOf(await watch.judge(first, facts)), stderr: running.stderr() };
}

function codeOf(ending: Ending): string {
  if (ending.kind === 'over-limit') return describeOverLimit(ending).code;
  return ending.kind === 'exited' ? `rc ${ending.exit.rc ?? ending.exit.signal}` : ending.kind;
}
