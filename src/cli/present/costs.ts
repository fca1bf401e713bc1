import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { runCost } from '../../operations/run/run-cost.ts';
import type { RunCost } from '../../protocol/run-cost.ts';
import { tableOf } from './views.ts';

type Data = DataOf<typeof runCost>;

export const costsPresenter = { data: costsView } satisfies Presenter;

/** What the runs cost, and what is left of today's budget. */
function costsView({ costs, usd, today_usd, day_limit_usd }: Data, screen: Screen): string {
  const rows = costs.map((cost) => ({
    of: cost.of ?? '-',
    runs: cost.runs,
    usd: dollars(cost.usd, cost.unpriced_runs > 0),
    input: cost.input_tokens,
    cached: cost.cache_read_tokens,
    output: cost.output_tokens,
  }));
  const table = tableOf(rows, screen, ['of'], 'No run has reported tokens or a price.');
  if (costs.length === 0) return table;
  const limit = day_limit_usd === null ? '' : ` of ${dollars(day_limit_usd, false)}`;
  const sum = `${dollars(
    usd,
    costs.some(({ unpriced_runs }) => unpriced_runs > 0),
  )} in all, ${dollars(today_usd, false)}${limit} today`;
  return `${table}\n\n${styled(sum, 'bold', screen)}`;
}

/** The cost of one run in words. */
export function costWords(cost: RunCost): string {
  const { usd, source, priced_by, unpriced = [], children_usd } = cost;
  const by = priced_by === undefined ? source : priced_by;
  const unknown = unpriced.length === 0 ? '' : `price of ${unpriced.join(', ')} tokens unknown`;
  const own = usd === null ? '' : `${dollars(usd, unpriced.length > 0)}${by === null ? '' : ` (${by})`}`;
  const children = children_usd === undefined ? '' : `its runs ${dollars(children_usd, false)}`;
  return [own, unknown, children].filter((part) => part !== '').join('  ');
}

function dollars(usd: number | null, isLowerBound: boolean): string {
  if (usd === null) return 'unknown';
  return `${isLowerBound ? 'at least ' : ''}${usd >= 1 ? usd.toFixed(2) : Number(usd.toPrecision(3))} USD`;
}
