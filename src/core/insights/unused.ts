import { describeTool } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import type { Past } from './past.ts';
import { examplesOf, MIN_RUNS, type Proposal, type Rule } from './proposal.ts';

/** Hosts that a tool may reach and never did, and inputs that no run has passed. */
export const unused: Rule = async (past) => {
  const groups = [...Map.groupBy(past.runs, ({ tool }) => tool)].filter(([, own]) => own.length >= MIN_RUNS);
  const found = await Promise.all(
    groups.map(async ([tool, own]) => {
      const entry = past.tools.get(tool);
      return entry === undefined
        ? []
        : [...(await unusedHosts(entry, own, past)), ...unusedInputs(entry, own)];
    }),
  );
  return found.flat();
};

/** Only exact hosts with a port: which host a pattern stands for cannot be counted. */
async function unusedHosts(entry: ToolEntry, runs: readonly RunRecord[], past: Past): Promise<Proposal[]> {
  const allowed = entry.manifest.permissions.network.egress_allow;
  const exact = allowed.filter((each) => typeof each === 'string' && /^[^*]+:\d+$/.test(each));
  if (exact.length === 0) return [];
  const logged = await Promise.all(runs.map(async (run) => ({ run, hosts: await past.hostsOf(run.run_id) })));
  const known = logged.flatMap(({ run, hosts }) => (hosts === undefined ? [] : [{ run, hosts }]));
  if (known.length < MIN_RUNS) return [];
  const reached = new Set(known.flatMap(({ hosts }) => hosts));
  const never = exact.filter((each) => !reached.has(String(each)));
  if (never.length === 0) return [];
  const rest = allowed.filter((each) => !never.includes(each));
  return [
    {
      kind: 'host',
      about: [entry.name],
      what: `Take ${never.join(', ')} from the hosts of ${entry.name}.`,
      why: `None of ${known.length} runs connected to ${never.length === 1 ? 'it' : 'them'}.`,
      runs: known.length,
      of: runs.length,
      examples: examplesOf(known.map(({ run }) => run)),
      change: {
        kind: 'manifest',
        tool: entry.name,
        path: ['permissions', 'network', 'egress_allow'],
        value: rest,
      },
      next: [],
    },
  ];
}

/** An input may be needed tomorrow: the caller of `--apply` decides that it is not. */
function unusedInputs({ name, manifest }: ToolEntry, runs: readonly RunRecord[]): Proposal[] {
  const given = runs.filter(({ given_args: args }) =>
    args?.every((word) => !word.startsWith('--input-json')),
  );
  if (given.length < MIN_RUNS) return [];
  const passed = new Set(
    given.flatMap(({ given_args: args }) => args!.map((word) => word.split('=', 1)[0]!.replaceAll('_', '-'))),
  );
  const without = (manifest.inputs ?? [])
    .filter(({ name: input, required, positional }) => !required && !positional && !passed.has(flagOf(input)))
    .map(({ name: input }) => input);
  const never = without.map(flagOf);
  if (never.length === 0) return [];
  return [
    {
      kind: 'input',
      about: [name],
      what: `See whether ${name} needs ${never.join(', ')}: an agent reads each input before each call.`,
      why: `None of ${given.length} runs passed ${never.length === 1 ? 'it' : 'them'}.`,
      runs: given.length,
      of: runs.length,
      examples: examplesOf(given),
      change: { kind: 'inputs', tool: name, without },
      next: [describeTool(name)],
    },
  ];
}

function flagOf(input: string): string {
  return `--${input.replaceAll('_', '-')}`;
}
