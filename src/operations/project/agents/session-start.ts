import { agoWords } from '../../../compose/time-words.ts';
import type { IndexedRun, RunIndex } from '../../../core/ports/run-index.ts';
import type { AcorApp } from '../../acor-app.ts';
import { liveRuns } from '../../run/live-runs.ts';
import { gatherFacts } from '../../system/explain/facts.ts';
import { untrustedText } from '../../system/explain/section.ts';
import { toolsSection } from '../../system/explain/tools.ts';
import type { HookAnswer, HookInput } from './hook-input.ts';

/** Only this many of the newest runs are read, so that the agent does not wait. */
const LOOKED_AT = 100;
const SHOWN = 5;
const LATELY_MS = 24 * 3_600_000;

/** The context that an agent gets when its session begins: the tools, the runs that wait for an answer or continue, the runs that failed or were cancelled in the last day. */
export async function sessionStart({ hook_event_name }: HookInput, app: AcorApp): Promise<HookAnswer> {
  const facts = await gatherFacts(app, false);
  const index = await facts.project?.index();
  const runs = index === undefined ? [] : (await index.query({ limit: LOOKED_AT })).runs;
  if (facts.tools.length === 0 && facts.trouble === undefined && runs.length === 0) return undefined;
  const tools = toolsSection(facts);
  const parts = [
    'Run the tools of this project with ACOR: `acor run <tool> … --no-stream`, or the tools of the MCP server `acor`. `acor explain` explains the rest.',
    `## ${tools.heading}\n\n${tools.text}`,
    ...listed(
      'Runs that wait for an answer (`acor show <run>` has the commands)',
      index && (await waiting(index)),
    ),
    ...listed('Runs that continue now (`acor wait <run>`)', index && (await running(app))),
    ...listed('Failed in the last 24 hours', lately(runs, 'failed')),
    ...listed('Cancelled in the last 24 hours', lately(runs, 'cancelled')),
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
      if (isOpen) lines.push(`- ${run_id} ${tool}: ${untrustedText(String(asked.action), 60)}${whose}`);
    }
  }
  return lines;
}

async function running(app: AcorApp): Promise<string[]> {
  return (await liveRuns(app))
    .filter(({ state }) => state !== 'waiting_ai')
    .map(({ run_id, tool, created_at }) => `- ${run_id} ${tool} (${agoWords(created_at)})`);
}

/** The tools whose newest run failed or was cancelled; an older end that a later run fixed is left out. */
function lately(runs: readonly IndexedRun[], end: 'failed' | 'cancelled'): string[] {
  const since = new Date(Date.now() - LATELY_MS).toISOString();
  const last = [...Map.groupBy(runs, ({ tool }) => tool).values()].map(([newest]) => newest!);
  return last
    .filter(({ state, created_at }) => state === end && created_at > since)
    .map(({ run_id, tool, code, message, created_at }) => {
      const why = [code, message].filter(Boolean).map((text) => untrustedText(text!, 120));
      return `- ${run_id} ${tool}: ${why.join(': ')} (${agoWords(created_at)})`;
    });
}
