import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { assertWrittenInDocs } from '../support/written-docs.ts';
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

/** Where each agent has the arguments of the server, and how it writes its own timeout for a call. */
const SETTINGS: Readonly<
  Record<Agent, { file: string; timeout: readonly [written: string, short: string] }>
> = {
  claude: { file: '.mcp.json', timeout: ['600000', '4000'] },
  codex: { file: '.codex/config.toml', timeout: ['tool_timeout_sec = 600', 'tool_timeout_sec = 4'] },
  gemini: { file: '.gemini/settings.json', timeout: ['600000', '4000'] },
};
/** The limit of a call that `acor init` writes. */
const WRITTEN_LIMIT = '570';
const GIVES_UP = 'continues with a run whose call it has given up';

/** Every tool that the situations call: some agents show tools only to a model that has looked for them. */
const CALLED = [
  ...['asks_any', 'tries', 'needs', 'waits', 'acor_answer', 'acor_wait', 'acor_resume', 'acor_run'],
  ...['acor_runs', 'acor_explain'],
];

/** The outcome of each situation that was tried, by agent and situation. */
const outcomes = new Map<string, 'yes' | '**no**'>();

for (const agent of Object.keys(WAYS) as Agent[])
  describe(`${agent} in the situations`, () => {
    const skip = !AgentRig.has(agent) && `${agent} is not installed: npm run test:agents`;
    const inSituation = (situation: string, live: (rig: AgentRig) => Promise<void>) =>
      it(situation, { skip }, async () => {
        using rig = await AgentRig.make(agent, ['asks_any']);
        writeSituationTools(rig.project);
        outcomes.set(`${agent} ${situation}`, '**no**');
        await live(rig);
        outcomes.set(`${agent} ${situation}`, 'yes');
      });

    for (const [situation, live] of Object.entries(SITUATIONS))
      inSituation(situation, async (rig) => {
        change(rig, WRITTEN_LIMIT, String(CALL_LIMIT_S));
        await live(agentOf(rig));
      });

    inSituation(GIVES_UP, async (rig) => {
      change(rig, ...SETTINGS[agent].timeout);
      const { results } = await agentOf(rig).converse((seen) => {
        const last = seen.at(-1);
        if (last === undefined) return { tool: 'waits', args: {} };
        if (/at last/.test(last)) return { say: 'done' };
        if (seen.length === 1) return { tool: 'acor_runs', args: {} };
        rig.project.write('signals/go', '');
        const run = rig.project.runIds()[0]!;
        // Codex cancels with the same words at its timeout and at the wish of its user: such a run can be resumed.
        return { tool: /cancelled/.test(last) ? 'acor_resume' : 'acor_wait', args: { run } };
      });
      assert.match(results.at(-1)!, /at last/);
      if (agent !== 'codex') assert.match(results[1]!, /running/);
      assert.equal(rig.project.runIds().length, 1);
    });
  });

after(() => {
  const agents = Object.keys(WAYS) as Agent[];
  const situations = [...Object.keys(SITUATIONS), GIVES_UP];
  // A part of the situations makes no table.
  if (outcomes.size < agents.length * situations.length) return;
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rows = situations.map((situation) =>
    row([situation, ...agents.map((agent) => outcomes.get(`${agent} ${situation}`)!)]),
  );
  const heads = [
    row(['the agent', ...agents.map(AgentRig.nameOf)]),
    row(['---', ...agents.map(() => '---')]),
  ];
  assertWrittenInDocs(
    'agents.md',
    { name: 'situations', by: 'test/agents/live-situations.ts' },
    [...heads, ...rows].join('\n'),
  );
});

/** Changes the settings of the agent. */
function change(rig: AgentRig, from: string, to: string): void {
  const { file } = SETTINGS[rig.agent];
  const text = readFileSync(rig.project.path(file), 'utf8');
  assert.ok(text.includes(from), text);
  rig.project.write(file, text.replace(from, to));
}

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
