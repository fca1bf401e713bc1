import * as z from 'zod';
import { userFolder } from '../../core/config/find.ts';
import type { ApprovalState } from '../../core/guard/approval-state.ts';
import { RunGuard, type SettledRun } from '../../core/guard/run-guard.ts';
import type { Violation } from '../../core/policy/decision.ts';
import { grantRoots, resolveCheckedArguments, untrustedRoots } from '../../core/registry/arguments.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import { chooseBackend, type SandboxPolicy } from '../../core/sandbox/choose.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import type { Project } from '../acor-app.ts';

const digested = z.array(z.object({ name: z.string(), sha256: z.string() }));

const violationShape = z.object({
  path: z.string().describe('The key of the manifest, or the argument, that requests it.'),
  asked: z.unknown(),
  allowed: z.unknown(),
  by: z.string().describe('The line of the policy that rejects it.'),
  rule: z.string(),
  fix: z.string(),
});

const approvalShape = z.object({
  state: z.enum(['not_needed', 'valid', 'missing', 'stale']),
  digest: z.string().nullable().describe('Of the current manifest and entry.'),
  by: z.string().nullable().describe('The person who approved it, or the line of the policy file.'),
  at: z.string().nullable(),
  files: digested,
  changed: z.array(z.string()).describe('The files that made it stale.'),
});

/** The status of a tool by the policy and the approvals. */
export const policyStatusShape = z.object({
  allowed: z.boolean().describe('Whether the policy allows it.'),
  violations: z.array(violationShape),
  files: z.array(
    z.object({ source: z.enum(['system', 'user', 'project']), file: z.string(), engine: z.string() }),
  ),
  approval: approvalShape,
  masked: z
    .array(z.string())
    .optional()
    .describe(
      'For a call: the names of its secret inputs and of the stored secrets in it. ACOR masks them for policy engines and in this answer.',
    ),
});

export type PolicyStatus = z.output<typeof policyStatusShape>;

/** Evaluates the policy and the approvals for a tool; with `args` also for that call. Reports violations and does not throw on them. */
export async function policyStatusOf(
  project: Project,
  tool: ToolEntry,
  ask: {
    cwd: string;
    env: Readonly<Record<string, string | undefined>>;
    caller: string | undefined;
    args?: readonly string[];
  },
): Promise<PolicyStatus> {
  const { config, store } = project;
  const guard = await RunGuard.open(tool, { ...ask, config, runsDir: store.root });
  const { masked, ...run } = await subjectOf(project, tool, ask);
  const violations: Violation[] = await guard.allViolations(run);
  return {
    allowed: violations.length === 0,
    violations,
    files: guard.layers.map(({ source, file, policy }) => ({
      source,
      file,
      engine: policy.engine ?? 'builtin',
    })),
    approval: flat(await guard.approval()),
    ...(masked && { masked }),
  };
}

async function subjectOf(
  { config, store, workspaces }: Project,
  tool: ToolEntry,
  { cwd, env, args }: Parameters<typeof policyStatusOf>[2],
): Promise<SettledRun & { masked?: string[] }> {
  const tier = await tierHere(config.config.security);
  if (args === undefined) return { args: [], grants: [], staged: [], tier };
  const resolved = await resolveCheckedArguments(tool, [...args], {
    cwd,
    readsFiles: true,
    roots: grantRoots(config, cwd),
    untrustedRoots: untrustedRoots(config, cwd),
    protectedRoots: [store.root, `${config.root}/.acor`],
    stagingDir: workspaces.of('r-0000000000000000').staging,
  });
  const shown = resolved.args.map((arg, index) => (resolved.secretArgs.includes(index) ? '[secret]' : arg));
  const inputs = Object.keys(resolved.values).filter((name) => resolved.values[name] === '[secret]');
  const { callRedaction } = await import('../../core/run/secrets/plan-secrets.ts');
  const redaction = callRedaction(config, tool, resolved, env);
  if (redaction === null) return { ...resolved, args: shown, tier, masked: inputs };
  const shownBytes = Buffer.from(JSON.stringify([shown, resolved.grants, resolved.staged, cwd]));
  const masked = [...new Set([...inputs, ...redaction.search()(shownBytes)])];
  const hide = <T>(data: T): T => redaction.data(data);
  return { ...resolved, args: hide(shown), tier, hide, masked };
}

/** The tier of the sandbox that a run would get; null when there is none, and ACOR would reject the run. */
async function tierHere(wish: SandboxPolicy): Promise<number | null> {
  try {
    return (await chooseBackend(wish, userFolder('XDG_CACHE_HOME', '.cache', process.env))).backend.tier;
  } catch (error) {
    if (error instanceof AcorError) return null;
    throw error;
  }
}

function flat(state: ApprovalState): PolicyStatus['approval'] {
  const none = { digest: null, by: null, at: null, files: [], changed: [] };
  switch (state.state) {
    case 'not_needed':
      return { ...none, state: 'not_needed' };
    case 'valid':
      return { ...none, state: 'valid', ...state.approval, files: state.files };
    case 'missing':
      return { ...none, state: 'missing', digest: state.digest, files: state.files };
    case 'stale': {
      const { digest, files, changed, given } = state;
      return { state: 'stale', digest, files, changed, by: given.by, at: given.at };
    }
  }
}
