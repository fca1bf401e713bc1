import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Agent, AgentRig } from './rig.ts';
import { type RunSlot, ScriptedModel } from './scripted-model.ts';
import {
  CALL_LIMIT_S,
  SITUATIONS,
  type SituationAgent,
  type Step,
  writeSituationTools,
} from './situations.ts';
import { WAYS } from './ways.ts';

/** Where each agent has the arguments of the server. */
const SETTINGS: Readonly<Record<Agent, string>> = {
  claude: '.mcp.json',
  codex: '.codex/config.toml',
  gemini: '.gemini/settings.json',
};

/** Every tool that the situations call: some agents show tools only to a model that has looked for them. */
const CALLED = [
  ...['asks_any', 'tries', 'needs', 'waits', 'acor_answer', 'acor_wait', 'acor_resume', 'acor_run'],
  ...['acor_runs', 'acor_explain'],
];

for (const agent of Object.keys(WAYS) as Agent[])
  describe(`${agent} in the situations`, () => {
    const skip = !AgentRig.has(agent) && `${agent} is not installed: npm run test:agents`;
    for (const [situation, live] of Object.entries(SITUATIONS))
      it(situation, { skip }, async () => {
        using rig = await AgentRig.make(agent, ['asks_any']);
        writeSituationTools(rig.project);
        const settings = SETTINGS[agent];
        const text = readFileSync(rig.project.path(settings), 'utf8');
        rig.project.write(settings, text.replace('570', String(CALL_LIMIT_S)));
        await live(agentOf(rig));
      });
  });

function agentOf(rig: AgentRig): SituationAgent {
  return {
    project: rig.project,
    async converse(next) {
      let results: string[] = [];
      await using model = await ScriptedModel.start(slotsOf(rig.agent, next, (seen) => (results = seen)));
      const { stdout, stderr } = await rig.run(model, 'Do it.');
      if (model.problems.length > 0) throw new Error(`${model.problems}\n${stdout}${stderr}`);
      return { results, text: model.heard.map(({ text }) => text).join('\n') };
    },
    async killedDuring(next, isTime) {
      await using model = await ScriptedModel.start(slotsOf(rig.agent, next, () => {}));
      const running = rig.start(model, 'Do it.');
      await isTime();
      running.child.kill('SIGKILL');
      await running.finished;
    },
  };
}

/** The steps as turns of the agent's model, after a search for the tools where the agent wants one. */
function slotsOf(
  agent: Agent,
  next: (results: string[]) => Step,
  onResults: (results: string[]) => void,
): Parameters<typeof ScriptedModel.start>[0] {
  const { tool, lookFor } = WAYS[agent];
  let searches: number | undefined;
  return ({ results: all, tools }): RunSlot => {
    searches ??= lookFor === undefined || tools.includes(tool('acor_wait')) ? 0 : 1;
    if (all.length < searches) return lookFor!(CALLED.map(tool));
    const results = all.slice(searches);
    onResults(results);
    const step = next(results);
    return 'say' in step ? step : { call: tool(step.tool), args: { ...step.args } };
  };
}
