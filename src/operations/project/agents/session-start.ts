import { agoWords } from '../../../compose/time-words.ts';
import type { IndexedRun, RunIndex } from '../../../core/ports/run-index.ts';
import type { AcorApp } from '../../acor-app.ts';
import { gatherFacts } from '../../system/explain/facts.ts';
import { strangerText } from '../../system/explain/stranger-text.ts';
import { toolsSection } from '../../system/explain/tools.ts';
import type { HookAnswer, HookInput } from './hook-input.ts';
import { newestRuns } from './newest-runs.ts';

const SHOWN = 5;
const LATELY_MS = 24 * 3_600_000;

/** What an agent is told as its session begins: the tools that there are now, what waits for an answer, what failed lately. */
export async function sessionStart({ hook_event_name }: HookInput, app: AcorApp): Promise<HookAnswer> {
  const facts = await gatherFacts(app, false);
  const runs = facts.project === undefined ? [] : await newestRuns(await facts.project.index());
  if (facts.tools.length === 0 && facts.trouble === undefined && runs.length === 0) return undefined;
  const tools = toolsSection(facts);
  const index = await facts.project?.index();
  const parts = [
    'The tools of this project are run with ACOR: `acor run <tool> … --no-stream`, or the tools of the MCP server `acor`. `acor explain` tells the rest.',
    `## ${tools.heading}\n\n${tools.text}`,
    ...listed(
      'Runs that wait for an answer (`acor show <run>` has the commands)',
      index && (await waiting(index)),
    ),
    ...listed('Failed lately', failed(runs)),
  ];
  const additionalContext = parts.join('\n\n');
  return { hookSpecificOutput: { hookEventName: hook_event_name, additionalContext } };
}

function listed(heading: string, lines: readonly string[] = []): string[] {
  if (lines.length === 0) return [];
  const left = lines.length - SHOWN;
  const more = left > 0 ? [`- and ${left} more: \`acor runs\``] : [];
  return [`## ${heading}\n\n${[...lines.slice(0, SHOWN), ...more].join('\n')}`];
}

async function waiting(index: RunIndex): Promise<string[]> {
  const lines = [];
  for (const { run, questions } of await index.questions({ isOpen: true })) {
    const { run_id, tool, state } = run;
    if (state !== 'waiting_ai') continue;
    for (const { asked, isOpen } of questions) {
      const whose = asked.audience === 'user' ? ', for the user' : '';
      if (isOpen) lines.push(`- ${run_id} ${tool}: ${strangerText(String(asked.action), 60)}${whose}`);
    }
  }
  return lines;
}

/** The last run of each tool, where it failed: what was put right since is of no interest. */
function failed(runs: readonly IndexedRun[]): string[] {
  const since = new Date(Date.now() - LATELY_MS).toISOString();
  const last = [...Map.groupBy(runs, ({ tool }) => tool).values()].map(([newest]) => newest!);
  return last
    .filter(({ state, created_at }) => state === 'failed' && created_at > since)
    .map(({ run_id, tool, code, message, created_at }) => {
      const why = [code, message].filter(Boolean).map((text) => strangerText(text!, 120));
      return `- ${run_id} ${tool}: ${why.join(': ')} (${agoWords(created_at)})`;
    });
}
