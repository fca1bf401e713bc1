import { realpathSync } from 'node:fs';
import type { OperationContext } from '../../compose/operation.ts';
import { whyNotApproved } from '../../core/guard/approval-state.ts';
import type { ApprovalStore, StoredApproval } from '../../core/guard/approvals.ts';
import { pluginNamed } from '../../core/plugins/find-plugins.ts';
import { readPluginFiles } from '../../core/plugins/plugin-files.ts';
import type { Plugins } from '../../core/plugins/plugins.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_APPROVALS } from '../../protocol/next-steps.ts';
import type { AcorApp, Project } from '../acor-app.ts';
import { type ApprovalLine, askedLine, giveApproval, validLine } from '../tool/give-approval.ts';

const WORDS = [
  'It is a module that runs with all your rights, outside of any sandbox, each time tools are listed or run in this project.',
  'It can hide tools, reject runs, lower their limits, read their events, and define how tools of its languages start.',
  'Read it first, and the files that it imports by relative paths.',
];

/** Has a person approve a plugin, by `plugin:<name>`. Throws E_APPROVAL_REQUIRED where no person sits at a terminal. */
export async function approvePlugin(
  { plugins }: Project,
  store: ApprovalStore,
  root: string,
  approvalName: string,
  dryRun: boolean,
  ctx: OperationContext<AcorApp>,
): Promise<ApprovalLine> {
  const { file, approval } = pluginNamed(plugins?.found ?? [], nameIn(approvalName));
  if (approval.state === 'broken') {
    throw new AcorError('E_CONFIG_INVALID', `'${approvalName}' cannot be read: ${approval.why}`, {
      hint: `Fix ${file}, or remove it from 'plugins' in the configuration.`,
      next: [
        {
          operation: 'config.show',
          input: { key: 'plugins' },
          why: 'List the configured plugins.',
        },
      ],
    });
  }
  if (approval.state === 'valid') return validLine(approvalName, approval.approval);
  if (dryRun) return askedLine(approvalName, approval);
  if (ctx.person === null) {
    const { read: _, ...state } = approval;
    throw new AcorError(
      'E_APPROVAL_REQUIRED',
      `'${approvalName}' does not run: ${whyNotApproved(approval)}`,
      {
        hint: 'A person must read the plugin and approve it at a terminal.',
        details: { ...state, plugin: nameIn(approvalName) },
        next: [LIST_APPROVALS],
      },
    );
  }
  const digestNow = () => readPluginFiles(realpathSync(file), root).digest;
  const subject = { kind: 'plugin', name: approvalName, words: WORDS } as const;
  return giveApproval(store, root, subject, approval, digestNow, ctx.person);
}

/** The state of a stored approval of a plugin. */
export function listedPlugin(
  plugins: Plugins | undefined,
  { tool, digest, by, at, files }: StoredApproval,
): ApprovalLine {
  const line = { tool, digest, by, at };
  const approval = plugins?.found.find(({ name }) => name === nameIn(tool))?.approval;
  if (approval === undefined || approval.state === 'broken') return { ...line, state: 'gone', changed: [] };
  if (approval.read.digest === digest) return { ...line, state: 'valid', changed: [] };
  if (approval.state === 'stale') return { ...line, state: 'stale', changed: approval.changed };
  const changed = approval.read.files.filter((file) => !files.some((each) => each.sha256 === file.sha256));
  return { ...line, state: 'stale', changed: changed.map(({ name }) => name) };
}

function nameIn(approvalName: string): string {
  return approvalName.slice('plugin:'.length);
}
