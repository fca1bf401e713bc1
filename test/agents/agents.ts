import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../support/project.ts';
import { type Agent, AgentRig } from './rig.ts';
import { type Heard, type RunSlot, ScriptedModel } from './scripted-model.ts';
import { WAYS, type Ways } from './ways.ts';

for (const [agent, ways] of Object.entries(WAYS) as [Agent, Ways][]) {
  describe(agent, () => {
    it('finds the tools by the files of `acor init`, runs one, answers its question, and reads its artifact', async () => {
      using rig = await AgentRig.make(agent, ['asks_and_writes']);
      await using model = await ScriptedModel.start(conversation(ways));
      const { code, stdout, stderr } = await rig.run(model, 'Write the report.');
      const about = `${stdout}${stderr}\n${JSON.stringify(model.heard.map(({ results }) => results))}\n${model.problems}`;
      assert.equal(code, 0, about);
      const last = model.heard.at(-1)!.results;
      assert.match(last.at(-1) ?? '', /It went fast\./, about);
      const events = rig.events();
      const answered = events.find(({ type }) => type === 'action_answered');
      assert.equal(answered?.answer, 'fast');
      assert.equal(events.at(-1)!.state, 'completed');
      assert.equal(rig.project.runIds().length, 1, 'one call is one run');
    });

    it('gets the list of tools at the start of a session', async () => {
      using rig = await AgentRig.make(agent, ['right_hash']);
      await using model = await ScriptedModel.start(() => ({ say: 'done' }));
      const { code } = await rig.run(model, 'Nothing to do.');
      assert.deepEqual([code, model.problems], [0, []]);
      assert.match(model.heard[0]!.text, /acor run right_hash \[args…\]` Makes two artifacts/);
    });

    it('blocks starting a tool without ACOR when the project forbids it, and only then', async () => {
      for (const rule of ['deny', 'allow']) {
        using rig = await AgentRig.make(agent, ['right_hash']);
        rig.project.write('.acor/config.yaml', `version: 1\nsecurity: { direct_calls: ${rule} }\n`);
        const command = 'ARTIFACTS_DIR=. bash tools/right_hash/cli.sh';
        await using model = await ScriptedModel.start(({ results }) =>
          results.length === 0 ? ways.shell(command) : { say: 'done' },
        );
        const { code } = await rig.run(model, 'Run it.');
        const [result] = model.heard.at(-1)!.results;
        assert.equal(code, 0);
        assert.match(result ?? '', rule === 'deny' ? /Instead: acor run right_hash/ : /sha256/);
      }
    });
  });
}

describe('claude', () => {
  it('answers a dialog by a rule that was written while the run waits', async () => {
    using rig = await AgentRig.make('claude', ['asks_user']);
    const { data } = await rig.project.envelope(['run', 'asks_user', '--detach']);
    await until(() => rig.project.record(data.run_id)?.state === 'waiting_ai');
    rig.project.write('.acor/config.yaml', 'version: 1\nanswers: [{ action: choose_speed, answer: fast }]\n');
    const wait = WAYS.claude.tool('acor_wait');
    await using model = await ScriptedModel.start(({ results }) => {
      if (results.length === 0) return WAYS.claude.lookFor!([wait]);
      return results.length === 1 ? { call: wait, args: { run: data.run_id } } : { say: 'done' };
    });
    const { code, stdout } = await rig.run(model, 'Wait for it.');
    assert.equal(code, 0, stdout);
    const answered = rig.events().find(({ type }) => type === 'action_answered');
    assert.equal(answered?.answer, 'fast', stdout);
  });
});

/** The turns of a model that does the whole task; it takes what it needs from each result, as a model does. */
function conversation({ tool, lookFor }: Ways): (heard: Heard) => RunSlot {
  let searches: number | undefined;
  return ({ results: all, tools }) => {
    searches ??= tools.includes(tool('asks_and_writes')) ? 0 : 1;
    if (all.length < searches)
      return lookFor!(['asks_and_writes', 'acor_answer', 'acor_wait', 'acor_artifact_read'].map(tool));
    const results = all.slice(searches);
    const runId = /r-[0-9a-z]{16,}/.exec(results.join('\n'))?.[0] ?? '';
    switch (results.length) {
      case 0:
        return { call: tool('asks_and_writes'), args: { title: 'a' } };
      case 1:
        return { call: tool('acor_answer'), args: { run: runId, choice: 'fast', reason: 'no time' } };
      case 2:
        return { call: tool('acor_wait'), args: { run: runId } };
      case 3:
        return { call: tool('acor_artifact_read'), args: { run: runId, artifact: '1' } };
      default:
        return { say: 'The report is written.' };
    }
  };
}
