import { type OverBudget, rounded } from './run-spending.ts';

/** The action of the question. */
export const ASK_FOR_MORE = 'budget';

/** The option that allows as much again. */
export const MORE = 'continue';

/** The question at a limit of cost: may as much again be spent? No answer means no. */
export function questionForMore(what: 'task' | 'workflow', { usd, limit }: OverBudget) {
  return {
    action_id: `budget-${limit.usd}`,
    action: ASK_FOR_MORE,
    audience: 'user' as const,
    msg: `The ${what} has cost ${usd} USD; ${limit.by} allows ${limit.usd}. May it spend more?`,
    context: { usd, limit_usd: limit.usd, by: limit.by },
    options: [
      { id: MORE, label: `Continue, up to ${rounded(usd + limit.usd)} USD` },
      { id: 'stop', label: 'Stop here' },
    ],
    default: 'stop',
  };
}
