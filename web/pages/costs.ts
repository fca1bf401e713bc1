import { html } from 'htm/preact';
import { useAnswer } from '../connection.ts';
import { Bar } from '../parts/bar.ts';
import { Failure } from '../parts/failure.ts';
import { plain } from '../parts/plain-text.ts';
import { hrefOf } from '../route.ts';

const GROUPS = ['day', 'tool', 'task', 'caller'] as const;

/** What the runs have cost, by day, tool, task or caller. */
export function CostsPage({ query }: { query: URLSearchParams }) {
  const by = GROUPS.find((each) => each === query.get('by')) ?? 'day';
  const answer = useAnswer('run.cost', { by }, { limit: 100 });
  return html`
    <h1>Costs</h1>
    <p>By ${GROUPS.map((each) => html`<a key=${each} href=${hrefOf('costs', undefined, { by: each })} aria-current=${each === by ? 'true' : undefined}>${each}</a>${' '}`)}</p>
    ${answer?.ok === false && html`<${Failure} answer=${answer} />`}
    ${answer?.ok && html`<${Chart} by=${by} data=${answer.data} />`}`;
}

type Costs = Extract<NonNullable<ReturnType<typeof useAnswer<'run.cost'>>>, { ok: true }>['data'];

function Chart({ by, data: { costs, usd, today_usd, day_limit_usd } }: { by: string; data: Costs }) {
  const limit = day_limit_usd === null ? '' : ` of $${day_limit_usd} a day`;
  if (costs.length === 0) return html`<p>No run has cost money or used tokens.</p>`;
  const tokensOf = (each: Costs['costs'][number]) => each.input_tokens + each.output_tokens;
  const most = Math.max(...costs.map((each) => each.usd ?? 0));
  const mostTokens = Math.max(...costs.map(tokensOf));
  return html`
    <p>${usd === null ? 'No price is known.' : `$${usd} in all`}, today $${today_usd}${limit}.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Costs"><table>
      <thead><tr><th scope="col">${by}</th><th scope="col">Cost</th><th scope="col">Tokens</th><th scope="col">of these from a cache</th><th scope="col">Runs</th></tr></thead>
      <tbody>
        ${costs.map(
          (each) => html`<tr key=${each.of}>
            <th scope="row">${plain(each.of ?? 'none')}</th>
            <td>${each.usd === null ? 'unknown' : `$${each.usd}`}${each.unpriced_runs > 0 && ` and ${each.unpriced_runs} without a price`}<${Bar} to=${most === 0 ? 0 : (each.usd ?? 0) / most} /></td>
            <td>${tokensOf(each)}<${Bar} to=${mostTokens === 0 ? 0 : tokensOf(each) / mostTokens} name="tokens" /></td>
            <td>${each.cache_read_tokens}</td>
            <td>${each.runs}</td>
          </tr>`,
        )}
      </tbody>
    </table></div>`;
}
