import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import { durationWords } from '../../compose/time-words.ts';
import type { runInsights } from '../../operations/run/run-insights.ts';
import { hanging, tableOf } from './views.ts';

type Data = DataOf<typeof runInsights>;

const MAX_TOOLS = 10;
const NONE = 'No run has ended here yet.';

export const insightsPresenter = {
  data: (data: Data, screen) =>
    data.applied === null
      ? [toolsOf(data, screen), proposalsOf(data, screen)].join('\n\n')
      : changeOf(data.applied),
} satisfies Presenter;

function toolsOf({ tools }: Data, screen: Screen): string {
  const rows = tools.slice(0, MAX_TOOLS).map((each) => ({
    tool: safeLine(each.tool),
    runs: each.runs,
    failed: each.failed,
    retried: each.retried,
    median: each.median_s === null ? '' : durationWords(each.median_s),
    'of 95%': each.p95_s === null ? '' : durationWords(each.p95_s),
    cost: each.cost_usd === null ? '' : `$${each.cost_usd.toFixed(2)}`,
    'ended with': each.codes.map(({ code, runs }) => `${safeLine(code)} ${runs}`).join(', '),
  }));
  const rest = tools.length - rows.length;
  return [tableOf(rows, screen, ['tool'], NONE), ...(rest > 0 ? [`and ${rest} more tools`] : [])].join('\n');
}

function proposalsOf({ proposals, runs_read: read }: Data, screen: Screen): string {
  if (proposals.length === 0) return read === 0 ? '' : `They suggest no change.`;
  return proposals
    .map(({ n, what, why }) =>
      [
        styled(`${n}. ${hanging(safeLine(what), 3, screen)}`, 'bold', screen),
        `   ${hanging(safeLine(why), 3, screen)}`,
      ].join('\n'),
    )
    .join('\n');
}

function changeOf({ file, diff, dry_run }: NonNullable<Data['applied']>): string {
  const lines = diff.split('\n').map(safeLine);
  return [...lines, `${dry_run ? 'Would change' : 'Changed'} ${safeLine(file)}`].join('\n');
}
