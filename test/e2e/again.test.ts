import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { processesOf, readRun, TestProject, until } from '../support/project.ts';

const hasPython = spawnSync('sh', ['-c', 'command -v python3']).status === 0;

describe('a run that is resumed or retried', hasPython ? {} : { skip: 'python3 is not here' }, () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['steps', 'steps_once', 'quick', 'asks', 'waits'] });
  });
  after(() => project[Symbol.dispose]());

  /** Runs a tool until it blocks, and kills its supervisor with SIGKILL. */
  async function killedRun(tool: string): Promise<string> {
    const running = project.start(['run', tool]);
    const { run_id } = await running.event('heartbeat');
    running.child.kill('SIGKILL');
    await running.finished;
    await until(() => processesOf(String(run_id)).length === 0);
    return String(run_id);
  }

  function assertOneRun(runId: string): void {
    const events = project.events(runId);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    assert.deepEqual([...new Set(events.map(({ run_id }) => run_id))], [runId]);
  }

  it('continues from its checkpoints after its supervisor was killed, and repeats nothing', async () => {
    const runId = await killedRun('steps');
    const resumed = readRun(await project.acor(['resume', runId]));
    assert.deepEqual([resumed.code, resumed.end.state, resumed.end.attempt], [0, 'completed', 2]);
    assert.deepEqual(resumed.of('start')[0]!.args, { done: 2, resume: '1' });
    assert.deepEqual(resumed.of('result')[0]!.data, { done: ['1', '2', '3', '4', '5'] });
    assert.equal(resumed.events[0]!.type, 'runner_state');
    assertOneRun(runId);
    const { data } = await project.envelope(['verify', runId]);
    assert.deepEqual([data.ok, data.runs[0].sealed], [true, true]);
    assert.equal((await project.envelope(['show', runId])).data.state, 'completed');
  });

  it('continues after a failure, also from another shell and detached from it', async () => {
    const failed = await project.run(['steps', '--how', 'fails']);
    const runId = String(failed.end.run_id);
    const { data } = await project.envelope(['resume', runId, '--detach']);
    assert.equal(data.run_id, runId);
    const waited = await project.envelope(['wait', runId]);
    assert.deepEqual([waited.code, waited.data.result.data.done.length], [0, 5]);
    assertOneRun(runId);
  });

  it('starts from the beginning with retry', async () => {
    const failed = await project.run(['steps', '--how', 'fails']);
    const retried = readRun(await project.acor(['retry', String(failed.end.run_id)]));
    assert.deepEqual([retried.end.state, retried.end.attempt], ['completed', 2]);
    assert.deepEqual(retried.of('start')[0]!.args, { done: 0, resume: '0' });
  });

  it('is rejected when the tool was stopped midway and is not idempotent, unless forced', async () => {
    const runId = await killedRun('steps_once');
    const { code, error } = await project.envelope(['resume', runId]);
    assert.deepEqual([code, error.code], [1, 'E_OUTCOME_UNKNOWN']);
    assert.match(error.hint, /--force/);
    const forced = readRun(await project.acor(['resume', runId, '--force']));
    assert.equal(forced.end.state, 'completed');
  });

  it('is resumed without force when the tool heeded the cancel file at its deadline, as after a cancel', async () => {
    // The tool has a minute to look at the cancel file, however busy the machine is.
    using patient = new TestProject({ config: 'version: 1\nenvironment: { cancel_grace_s: 60 }\n' });
    const tool = (more: string) => `#!/bin/bash
[ "$ACOR_RESUME" = 1 ] && echo '{"type":"result","status":"ok"}' && exit
touch "$CHECKPOINT_DIR/one"
until [ -e "$CANCEL_FILE" ]; do sleep 0.05; done
${more}
`;
    patient.write('tools/heeds/cli.sh', tool('echo \'{"type":"cancelled","reason":"asked"}\'; exit 130'));
    patient.write('tools/other/cli.sh', tool('exit 1'));
    for (const name of ['heeds', 'other'])
      patient.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n`);
    const ended = async (name: string) => patient.envelope(['run', name, '--timeout', '0.3', '--no-stream']);
    const heeded = await ended('heeds');
    const runId = heeded.error.details.run_id;
    assert.deepEqual([heeded.error.code, heeded.meta.next[0]], ['E_DEADLINE', `acor resume ${runId}`]);
    const resumed = await patient.envelope(['resume', runId, '--no-stream']);
    assert.equal(resumed.data.state, 'completed');
    // The control: another exit code does not say that it left in order.
    const left = await ended('other');
    assert.match(left.meta.next.join(), /acor resume r-\S+ --force/);
    const refused = await patient.envelope(['resume', left.error.details.run_id, '--no-stream']);
    assert.equal(refused.error.code, 'E_OUTCOME_UNKNOWN');
  });

  it('is not repeated when it was cancelled after its tool had reported its result, alone or as a step', async () => {
    using patient = new TestProject({ config: 'version: 1\nenvironment: { cancel_grace_s: 60 }\n' });
    // It notes that it works, waits until it is cancelled, and ends as `last` says.
    const tool = (last: string) => `#!/bin/bash
[ "$ACOR_RESUME" = 1 ] && echo '{"type":"result","status":"ok"}' && exit
echo '{"type":"progress","pct":50}'
until [ -e "$CANCEL_FILE" ]; do sleep 0.05; done
echo '${last}'
`;
    patient.write('tools/finishes/cli.sh', tool('{"type":"result","status":"ok"}'));
    patient.write('tools/heeds/cli.sh', tool('{"type":"cancelled","reason":"asked"}'));
    for (const name of ['finishes', 'heeds'])
      patient.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n`);
    patient.write('workflows/pays.yaml', 'name: pays\nsteps: [{ name: a, tool: finishes }]\n');
    const cancelled = async (...command: string[]) => {
      const { data } = await patient.envelope([...command, '--detach']);
      await until(async () => (await patient.acor(['logs', data.run_id])).stdout.includes('"pct":50'));
      const ended = await patient.envelope(['cancel', data.run_id]);
      assert.equal(ended.data.state, 'cancelled', JSON.stringify(ended));
      return data.run_id as string;
    };

    const finished = await cancelled('run', 'finishes');
    const refused = await patient.envelope(['resume', finished, '--no-stream']);
    assert.equal(refused.error.code, 'E_OUTCOME_UNKNOWN');
    assert.match(refused.error.message, /had reported its result/);
    assert.ok(!(await patient.envelope(['show', finished])).meta.next.includes(`acor resume ${finished}`));
    const forced = await patient.envelope(['resume', finished, '--force', '--no-stream']);
    assert.equal(forced.data.state, 'completed');

    const workflow = await cancelled('workflow', 'run', 'pays');
    const again = await patient.envelope(['workflow', 'resume', workflow, '--no-stream']);
    assert.equal(again.error.code, 'E_OUTCOME_UNKNOWN');
    // The control: one that did not finish is repeated.
    const heeded = await patient.envelope(['resume', await cancelled('run', 'heeds'), '--no-stream']);
    assert.equal(heeded.data.state, 'completed');
  });

  it('is resumed by one of two concurrent callers', async () => {
    const runId = await killedRun('steps');
    const both = await Promise.all([project.acor(['resume', runId]), project.acor(['resume', runId])]);
    const outcomes = both.map(({ code }) => code).sort();
    assert.equal(outcomes[0], 0, JSON.stringify(both));
    assert.ok(outcomes[1] !== 0, JSON.stringify(both));
    const ends = project
      .events(runId)
      .filter(({ type, state }) => type === 'runner_end' && state === 'completed');
    assert.equal(ends.length, 1);
    assertOneRun(runId);
  });

  it('is rejected when it is completed or still live', async () => {
    const { end } = await project.run(['quick']);
    assert.equal((await project.envelope(['resume', String(end.run_id)])).error.code, 'E_USAGE');
    const { data } = await project.envelope(['run', '--detach', 'waits']);
    const going = await project.envelope(['resume', data.run_id]);
    assert.match(going.error.message, /has not ended/);
    await project.envelope(['cancel', data.run_id]);
  });

  it('does not repeat a question that was answered in an earlier attempt', async () => {
    const asked = await project.acor(['run', 'asks']);
    const runId = JSON.parse(asked.stdout.split('\n')[0]!).run_id as string;
    await project.killSupervisor(runId);
    await until(() => processesOf(runId).length === 0);
    const resumed = readRun(await project.acor(['resume', runId, '--answer', 'choose_speed=slow']));
    assert.deepEqual(resumed.of('result')[0]?.data, { answer: 'slow' }, resumed.stdout);
    assertOneRun(runId);
  });
});
