import { realpathSync } from 'node:fs';
import * as z from 'zod';
import type { OperationContext } from '../../compose/operation.ts';
import { approvalRequired, executedBy } from '../../core/guard/approval-state.ts';
import { ApprovalStore } from '../../core/guard/approvals.ts';
import { RunGuard } from '../../core/guard/run-guard.ts';
import { refuseViolations } from '../../core/policy/decision.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { describeTool, LIST_APPROVALS, LIST_TOOLS, runTool } from '../../protocol/next-steps.ts';
import type { AcorApp, Project } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { approvePlugin, listedPlugin } from '../project/approve-plugin.ts';
import { toolWords } from './describe-permissions.ts';
import { type ApprovalLine, approvalLine, askedLine, giveApproval, validLine } from './give-approval.ts';

export const toolApprove = acorOperation({
  name: 'tool.approve',
  summary: 'Let a privileged tool or a plugin run: a person reads what it may do, and types its name.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    tool: z.string().optional().describe('The name of the tool, or plugin:<name>.'),
    list: z.boolean().default(false).describe('List the approvals of this project.'),
    revoke: z.boolean().default(false).describe('Revoke the approval of the tool.'),
    dry_run: z
      .boolean()
      .default(false)
      .describe('Show what would be approved or revoked, and change nothing.'),
  }),
  output: z.object({ root: z.string(), approvals: z.array(approvalLine) }),
  positionals: ['tool'],
  list: 'approvals',
  example: 'acor approve data_migrator',
  moreExamples: ['acor approve plugin:notify', 'acor approve --list', 'acor approve data_migrator --revoke'],
  async run(input, ctx) {
    const project = await ctx.app.project();
    const root = realpathSync(project.config.root);
    const store = new ApprovalStore(ctx.env);
    if (input.list)
      return { kind: 'data', data: { root, approvals: await listed(project, store, root, ctx.env) } };
    if (input.tool === undefined) {
      throw new AcorError('E_USAGE', 'expected the name of a tool or plugin', {
        hint: 'Add the name of a tool, or plugin:<name>.',
        next: [LIST_TOOLS],
      });
    }
    const { tool } = input;
    const line = input.revoke
      ? revoked(store, root, tool, input.dry_run)
      : await (tool.startsWith('plugin:')
          ? approvePlugin(project, store, root, tool, input.dry_run, ctx)
          : approved(project, store, root, await project.registry.find(tool), input.dry_run, ctx));
    return { kind: 'data', data: { root, approvals: [line] } };
  },
});

async function approved(
  project: Project,
  store: ApprovalStore,
  root: string,
  tool: ToolEntry,
  dryRun: boolean,
  ctx: OperationContext<AcorApp>,
): Promise<ApprovalLine> {
  const { config, workspaces } = project;
  const guard = await RunGuard.open(tool, { config, runsDir: workspaces.root, env: ctx.env, cwd: ctx.cwd });
  refuseViolations(tool.name, await guard.violations());
  const state = await guard.approval();
  if (state.state === 'not_needed') {
    const { level } = tool.manifest.permissions;
    throw new AcorError('E_USAGE', `tool '${tool.name}' has the level ${level}, which needs no approval`, {
      hint: 'Run it without an approval.',
      next: [runTool(tool.name)],
    });
  }
  if (state.state === 'valid') return validLine(tool.name, state.approval);
  if (dryRun) return askedLine(tool.name, state);
  // Only a person may approve: an agent must not approve its own tools.
  if (ctx.person === null) throw approvalRequired(tool.name, state, [describeTool(tool.name)]);
  const words = await toolWords(project, tool, ctx);
  const subject = { kind: 'tool', name: tool.name, words } as const;
  const digestNow = async () => (await executedBy(tool, { config, env: ctx.env })).digest;
  return giveApproval(store, root, subject, state, digestNow, ctx.person);
}

function revoked(store: ApprovalStore, root: string, tool: string, dryRun: boolean): ApprovalLine {
  const found = store.read(root, tool);
  if (dryRun ? found === undefined : !store.remove(root, tool)) {
    throw new AcorError('E_USAGE', `'${tool}' has no approval by a person in ${root}`, {
      hint: 'Check the name in the list of approvals. To revoke an approval by a policy file, edit that file.',
      next: [LIST_APPROVALS],
    });
  }
  const { digest = '', by = '', at = '' } = found ?? {};
  return { tool, state: 'revoked', digest, by, at, changed: [] };
}

async function listed(
  { registry, plugins, config }: Project,
  store: ApprovalStore,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ApprovalLine[]> {
  const tools = await registry.list();
  return Promise.all(
    store.list(root).map(async (given): Promise<ApprovalLine> => {
      const { tool: name, digest, by, at, files } = given;
      if (name.startsWith('plugin:')) return listedPlugin(plugins, given);
      const tool = tools.find((each) => each.name === name && each.problems.length === 0);
      const line = { tool: name, digest, by, at };
      if (tool === undefined) return { ...line, state: 'gone', changed: [] };
      const now = await executedBy(tool, { config, env });
      if (now.digest === digest) return { ...line, state: 'valid', changed: [] };
      const changed = now.files.filter((file) => !files.some((each) => each.sha256 === file.sha256));
      return { ...line, state: 'stale', changed: changed.map((file) => file.name) };
    }),
  );
}
