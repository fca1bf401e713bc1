import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { isFinal } from '../../src/protocol/run.ts';
import { identify, isRunning } from '../../src/util/process-table.ts';
import { HostProject, NO_HOST } from '../support/host.ts';
import { processesOf, until } from '../support/project.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const ROUNDS = Number(process.env['ACOR_HOST_KILLS'] ?? 6);
/** The longest time between the call and the kill, so that kills fall before, into and behind the run. */
const MAX_DELAY_MS = 250;

/** Each start of it leaves a line outside of its run, and takes some turns. */
const TOOL = `#!/bin/bash
echo "$1" >> "$2"
for n in 1 2 3 4 5; do echo '{"type":"progress","current":'$n',"total":5}'; sleep 0.01; done
echo '{"type":"result","status":"ok"}'
`;

it('a call whose host or caller is killed at any moment runs its tool at most once, loses no end, and leaves nothing', {
  timeout: 600_000,
  skip: NO_HOST,
}, async () => {
  const seed = Math.floor(Math.random() * 1_000_000);
  const random = new SeededRandom(seed);
  await using project = new HostProject({
    config: "version: 1\nenvironment: { cancel_grace_s: 0.3 }\nsecurity: { isolation: 'off' }\n",
  });
  project.write('tools/marks/cli.sh', TOOL, 0o755);
  project.write(
    'tools/marks/tool.yaml',
    'name: marks\nversion: 1.0.0\ndescription: Leaves a mark.\nextra_args: true\n',
  );
  const marks = project.path('marks');
  let kills = 0;
  for (let round = 0; kills < ROUNDS; round++) {
    const what = `seed ${seed}, round ${round}`;
    const before = new Set(project.runIds());
    const { pid } = await project.warmUp();
    const host = identify(pid);
    const call = project.start(['run', 'marks', `round-${round}`, marks], { env: project.auto });
    const victim = random.pick(['host', 'caller'] as const);
    const delayMs = random.below(MAX_DELAY_MS);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (victim === 'host') process.kill(pid, 'SIGKILL');
    else if (call.child.exitCode === null) call.child.kill('SIGKILL');
    kills++;
    const { code, stdout } = await call.finished;
    // The process of the host waits again, or has ended: it creates no run any more.
    await until(() => !isRunning(host) || project.sockets().some((name) => name.endsWith('.idle')));
    await project.acor(['health', '--fix'], { env: project.off });
    // Where the process was killed while it created the run, there is no record, and no tool was started.
    const ids = project.runIds().filter((id) => !before.has(id) && project.record(id) !== undefined);
    assert.ok(ids.length <= 1, `${what}: ${ids}`);
    for (const id of ids) {
      await until(() => processesOf(id).length === 0);
      assert.ok(isFinal(project.record(id)!.state), `${what}: ${id} is ${project.record(id)!.state}`);
    }
    const started = existsSync(marks) ? readFileSync(marks, 'utf8').split('\n') : [];
    assert.ok(started.filter((line) => line === `round-${round}`).length <= 1, `${what}: the tool ran twice`);
    if (code === 0) {
      assert.match(stdout, /"type":"runner_end".*"state":"completed"/, what);
      assert.ok(started.includes(`round-${round}`), what);
    }
    const verified = await project.envelope(['verify'], { env: project.off });
    assert.ok(verified.ok, `${what}: ${JSON.stringify(verified.error)}`);
  }
});
