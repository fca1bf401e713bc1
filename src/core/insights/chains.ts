import { sep } from 'node:path';
import { isAdHoc } from '../../protocol/names.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { type Change, examplesOf, MIN_REPEATS, type Proposal, type Rule } from './proposal.ts';
import { draftWorkflow, type Link } from './workflow-draft.ts';

/** A run continues another when it begins within this time after the other's end. */
const SOON_MS = 3_600_000;
/** So many earlier runs of the caller are compared. */
const MAX_BACK = 10;

/** Tools that a caller runs one after the other on the same files. `folderOf` is the folder of a run, with its artifacts. */
export function chains(folderOf: (runId: string) => string): Rule {
  return ({ runs, tools, workflows }) => {
    const able = runs.filter(
      ({ state, parent, tool, kind, given_args: args }) =>
        state === 'completed' && parent === null && kind === 'tool' && args !== null && !isAdHoc(tool),
    );
    const found = [...Map.groupBy(able, ({ caller }) => caller ?? '').values()].flatMap((own) =>
      chainsOf(own, folderOf),
    );
    return [...Map.groupBy(found, (chain) => chain.map(({ run }) => run.tool).join(' '))].flatMap(
      ([, alike]) => {
        const isThere = alike[0]!.every(({ run }) => tools.has(run.tool));
        if (!isThere || alike.length < MIN_REPEATS) return [];
        const { name, text } = draftWorkflow(alike);
        return workflows.includes(name) ? [] : [proposal(alike, { kind: 'workflow', name, text })];
      },
    );
  };
}

/** The chains of one caller's runs, each as long as it gets. */
function chainsOf(runs: readonly RunRecord[], folderOf: (runId: string) => string): Link[][] {
  const chainTo = new Map<RunRecord, Link[]>();
  const continued = new Set<RunRecord>();
  runs.forEach((run, at) => {
    const before = runs.slice(Math.max(0, at - MAX_BACK), at).reverse();
    const last = before.find((earlier) => isContinuation(earlier, run, folderOf));
    if (last !== undefined) continued.add(last);
    const sofar = last === undefined ? [] : chainTo.get(last)!;
    chainTo.set(run, [...sofar, { run, folder: folderOf(run.run_id) + sep }]);
  });
  return [...chainTo]
    .filter(([run, chain]) => chain.length > 1 && !continued.has(run))
    .map(([, chain]) => chain);
}

/** Whether a run names a file that the earlier one named or made. */
function isContinuation(earlier: RunRecord, run: RunRecord, folderOf: (runId: string) => string): boolean {
  const pause = Date.parse(run.created_at) - Date.parse(earlier.ended_at ?? '');
  if (!(pause >= 0 && pause <= SOON_MS) || earlier.tool === run.tool) return false;
  const known = new Set(pathsOf(earlier));
  const own = folderOf(earlier.run_id) + sep;
  return pathsOf(run).some((path) => known.has(path) || path.startsWith(own));
}

/** The arguments that look like paths, without the flags that they are joined to. */
function pathsOf({ given_args: args }: RunRecord): string[] {
  return args!
    .map((word) => (word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word))
    .filter((word) => !word.startsWith('-') && /[/.]/.test(word) && /[A-Za-z]/.test(word));
}

function proposal(alike: readonly Link[][], change: Extract<Change, { kind: 'workflow' }>): Proposal {
  const newest = alike.at(-1)!;
  const names = newest.map(({ run }) => run.tool);
  return {
    kind: 'workflow',
    about: names,
    what: `Write the workflow ${change.name}, which runs ${names.join(', then ')}.`,
    why: `They ran ${alike.length} times one after the other, on the same files.`,
    runs: alike.length,
    of: alike.length,
    examples: examplesOf(alike.map((chain) => chain.at(-1)!.run)),
    change,
    next: [],
  };
}
