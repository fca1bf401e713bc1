import { showRun } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { examplesOf, MIN_REPEATS, type Proposal, type Rule } from './proposal.ts';

/** A code that ends this share of a tool's runs is worth a look. */
const OFTEN = 0.2;
/** Each has a rule of its own, or is no fault of the tool. */
const OTHERS = ['E_DEADLINE', 'E_CANCELLED'];

/** Codes with which a tool fails again and again. */
export function failures(isRetryable: (code: string) => boolean): Rule {
  return ({ runs, tools }) =>
    [...Map.groupBy(runs, ({ tool }) => tool)].flatMap(([tool, own]) => {
      const failed = own.filter(({ state, code }) => state === 'failed' && !OTHERS.includes(code ?? ''));
      return [...Map.groupBy(failed, ({ code }) => code ?? 'E_UNKNOWN')]
        .filter(([, said]) => said.length >= MIN_REPEATS && said.length >= own.length * OFTEN)
        .map(([code, said]) =>
          proposal({ code, said, of: own.length, entry: tools.get(tool), isRetryable: isRetryable(code) }),
        );
    });
}

interface Found {
  code: string;
  said: readonly RunRecord[];
  of: number;
  entry: ToolEntry | undefined;
  isRetryable: boolean;
}

/** Retries are proposed for a failure that may pass, when repeating a run is harmless and the manifest has none. */
function proposal({ code, said, of, entry, isRetryable }: Found): Proposal {
  const { run_id, tool, message } = said.at(-1)!;
  const retries = isRetryable && entry?.manifest.idempotent === true && !entry.manifest.retry;
  return {
    kind: retries ? 'retries' : 'failure',
    about: [tool, code],
    what: retries ? `Let ACOR try ${tool} up to 3 times.` : `Find out why ${tool} ends with ${code}.`,
    why: `${said.length} of ${of} runs ended with ${code}${message === null ? '' : `, the newest: ${message}`}.`,
    runs: said.length,
    of,
    examples: examplesOf(said),
    change: retries ? { kind: 'manifest', tool, path: ['retry'], value: { max_attempts: 3 } } : null,
    next: [showRun(run_id)],
  };
}
