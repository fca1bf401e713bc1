import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';

describe('an answer that was given beforehand', () => {
  it('has a warning in the answer when no question asked for it', async () => {
    using project = new TestProject({ tools: ['quick'] });
    const { ok, meta } = await project.envelope(['run', 'quick', '--no-stream', '--answer', 'nobody_asks=1']);
    assert.ok(ok);
    assert.deepEqual(meta.warnings, [
      "'nobody_asks': no question asked for this answer, which was given beforehand",
    ]);
  });

  it('has a warning in the answer of the run that waits, when its name or its value does not fit', async () => {
    using project = new TestProject({ tools: ['asks'] });
    project.write('tools/asks/tool.yaml', 'name: asks\nactions: [choose_speed]\n');
    for (const [answer, warning] of [
      [
        'choose_sped=slow',
        /'choose_sped': this answer was given beforehand.*the open question is 'choose_speed'/,
      ],
      ['choose_speed=sideways', /"sideways" is not an option of 'a-1'; expected one of: slow, fast/],
    ] as const) {
      const { code, error, meta } = await project.envelope([
        'run',
        'asks',
        '--no-stream',
        '--answer',
        answer,
      ]);
      assert.deepEqual([code, error.code], [2, 'E_ACTION_REQUIRED']);
      assert.match(meta.warnings.join('\n'), warning);
      await project.envelope(['answer', error.details.run_id, '--choice', 'fast']);
      const waited = await project.envelope(['wait', error.details.run_id]);
      assert.match(waited.meta.warnings.join('\n'), warning);
    }
    const right = await project.envelope(['run', 'asks', '--no-stream', '--answer', 'choose_speed=slow']);
    assert.deepEqual([right.ok, right.meta.warnings], [true, undefined], 'the control');
  });

  it('may be the id of an option that reads as a number', async () => {
    using project = new TestProject();
    project.write(
      'tools/marks/cli.sh',
      'echo "[QUESTION] Which?"; echo "1. One"; echo "2. Two"; echo; read -r line; echo "[CODEX_COMPLETE] done"\n',
    );
    project.write('tools/marks/tool.yaml', 'name: marks\nadapter: markers\nactions: [question]\n');
    const { data, error } = await project.envelope(['run', 'marks', '--no-stream', '--answer', 'question=2']);
    assert.equal(data?.state, 'completed', JSON.stringify(error));
    const { data: trail } = await project.envelope(['decisions', data.run_id]);
    assert.deepEqual([trail.decisions[0].answer, trail.decisions[0].source], ['2', 'beforehand']);
  });

  it('is refused where JSON would change it, as an answer to an open question is', async () => {
    using project = new TestProject({ tools: ['asks'] });
    project.write('tools/asks/tool.yaml', 'name: asks\nactions: [choose_speed]\n');
    const waiting = await project.envelope(['run', 'asks', '--no-stream']);
    const run = waiting.error.details.run_id;
    for (const [text, said] of [
      ['9007199254740993', /must not have the number 9007199254740993, which/],
      ['{"rows":1e400}', /must not have the number 1e400, which/],
    ] as const) {
      project.write('answers.yaml', `choose_speed: ${text}\n`);
      project.write('answer.json', text);
      for (const args of [
        ['run', 'asks', '--no-stream', '--answer', `choose_speed=${text}`],
        ['run', 'asks', '--no-stream', '--answers', 'answers.yaml'],
        ['answer', run, '--value', text],
        ['answer', run, '--file', 'answer.json'],
      ]) {
        const { error } = await project.envelope(args);
        assert.equal(error.code, 'E_USAGE', args.join(' '));
        assert.match(error.message, said);
      }
    }
    const twice = await project.envelope(['answer', run, '--value', '{"rows":1,"rows":2}']);
    assert.match(twice.error.message, /must not have the key 'rows' twice/);
    assert.equal((await project.envelope(['answer', run, '--value', '"slow"'])).ok, true, 'the control');
  });

  it('still holds for a run that is resumed after its supervisor was killed, until it has completed', async () => {
    using project = new TestProject({ tools: [], config: WITHOUT_SANDBOX });
    project.write(
      'tools/late/cli.sh',
      `#!/bin/sh
if [ "$ACOR_RESUME" != 1 ]; then touch "$WORKSPACE/../../../began"; exec sleep 1000; fi
echo "[QUESTION] Which?"; echo "1. One"; echo "2. Two"; echo; read -r line; echo "[CODEX_COMPLETE] took $line"
`,
      0o755,
    );
    project.write(
      'tools/late/tool.yaml',
      'name: late\nadapter: markers\nactions: [question]\nidempotent: true\n',
    );
    const started = await project.envelope(['run', 'late', '--detach', '--answer', 'question=2']);
    const runId = started.data.run_id;
    await until(() => existsSync(project.path('began')));
    await project.killSupervisor(runId);
    const { data, error } = await project.envelope(['resume', runId, '--no-stream']);
    assert.equal(data?.state, 'completed', JSON.stringify(error));
    const { data: trail } = await project.envelope(['decisions', runId]);
    assert.deepEqual([trail.decisions[0].answer, trail.decisions[0].source], ['2', 'beforehand']);
    // The supervisor removes it after the end that the command waits for.
    await until(() => !existsSync(project.path('.runs', runId, 'given-answers.json')));
  });

  it('that another has put into the folder of a run is not used', async () => {
    using project = new TestProject({ tools: ['asks'] });
    project.write('tools/asks/tool.yaml', 'name: asks\nactions: [choose_speed]\nidempotent: true\n');
    const { error } = await project.envelope(['run', 'asks', '--no-stream']);
    const runId = error.details.run_id;
    await project.killSupervisor(runId);
    const forged = { answers: [{ action: 'choose_speed', answer: 'slow', by: 'x', source: 'beforehand' }] };
    project.write(`.runs/${runId}/given-answers.json`, JSON.stringify(forged));
    const asked = await project.envelope(['resume', runId, '--no-stream']);
    assert.equal(asked.error?.code, 'E_ACTION_REQUIRED');
    await project.envelope(['cancel', runId]);
  });

  it('is refused before the start when a decision of the workflow can never accept it', async () => {
    using project = new TestProject({ tools: ['asks'] });
    project.write('tools/asks/tool.yaml', 'name: asks\nactions: [choose_speed]\n');
    project.write(
      '.acor/workflows/w.yaml',
      `name: w
steps:
  - { name: choose, type: ai_decision, decision_type: pick_way, instruction: Which?, options: [{ id: left }, { id: right }] }
  - { name: speed, tool: asks }
`,
    );
    const call = (...answers: string[]) =>
      project.envelope([
        'workflow',
        'run',
        'w',
        '--no-stream',
        ...answers.flatMap((each) => ['--answer', each]),
      ]);
    const refused = await call('pick_way=up');
    assert.deepEqual([refused.code, refused.error.code], [1, 'E_BAD_ANSWER']);
    assert.match(refused.error.message, /"up" is not an option of 'pick_way'; expected one of: left, right/);
    assert.deepEqual(project.runIds(), []);
    project.write('flows/v.yaml', readFileSync(project.path('.acor/workflows/w.yaml'), 'utf8'));
    const byPath = await project.envelope(['workflow', 'run', 'flows/v.yaml', '--answer', 'pick_way=up']);
    assert.deepEqual(byPath.meta.next, ['acor workflow graph flows/v.yaml']);
    const done = await call('pick_way=left', 'choose_speed=fast', 'none=1');
    assert.ok(done.ok, JSON.stringify(done.error));
    // The answer for the tool of a step is of use, although the workflow itself does not ask for it.
    assert.deepEqual(done.meta.warnings, [
      "'none': no question asked for this answer, which was given beforehand",
    ]);
  });
});
