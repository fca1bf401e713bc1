import * as z from 'zod';
import type { Person } from '../../compose/person.ts';
import type { Approval, ApprovalState } from '../../core/guard/approval-state.ts';
import type { ApprovalStore } from '../../core/guard/approvals.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { approve } from '../../protocol/next-steps.ts';
import { userName } from '../../util/users.ts';

export const approvalLine = z.object({
  tool: z.string(),
  state: z
    .enum(['valid', 'stale', 'gone', 'revoked', 'missing'])
    .describe('gone: the tool does not exist any more. missing: with --dry-run, a person would be asked.'),
  digest: z.string(),
  by: z.string(),
  at: z.string(),
  changed: z.array(z.string()).describe('The files that made it stale.'),
});

/** One approval, as `acor approve` shows it. */
export type ApprovalLine = z.output<typeof approvalLine>;

/** What to approve, and what it may do, in plain sentences. */
interface Subject {
  kind: 'tool' | 'plugin';
  /** The name that the person types; also the key of the stored approval. */
  name: string;
  words: readonly string[];
}

/** Shows a person what they approve, and stores the approval after they typed its name. Throws E_APPROVAL_REQUIRED. */
export async function giveApproval(
  store: ApprovalStore,
  root: string,
  { kind, name, words }: Subject,
  { digest, files }: Extract<ApprovalState, { digest: string }>,
  digestNow: () => string | Promise<string>,
  person: Person,
): Promise<ApprovalLine> {
  const subject = `${kind} '${name}'`;
  const next = [approve(name)];
  const about = [
    `Approve the ${subject} in ${root}?`,
    '',
    ...words,
    '',
    'The approval covers the current content of these files, and no files that they load from elsewhere:',
    ...files.map((file) => `${file.name}, SHA-256 ${file.sha256}`),
  ];
  const typed = await person.askForText(about, `To approve it, type its name (${name})`);
  if (typed !== name) {
    throw new AcorError('E_APPROVAL_REQUIRED', `${subject} was not approved: its name was not typed`, {
      hint: `To approve it, a person types ${name} at the prompt.`,
      next,
    });
  }
  if ((await digestNow()) !== digest) {
    throw new AcorError('E_APPROVAL_REQUIRED', `${subject} changed while the person was reading it`, {
      hint: 'Read the new version, and approve it then.',
      next,
    });
  }
  const given = { by: userName(), at: new Date().toISOString() };
  store.write({ version: 1, root, tool: name, digest, files, ...given });
  return { tool: name, state: 'valid', digest, ...given, changed: [] };
}

/** The line of an approval that is already valid. */
export function validLine(tool: string, { digest, by, at }: Approval): ApprovalLine {
  return { tool, state: 'valid', digest, by, at: at ?? '', changed: [] };
}

/** The line of an approval for which a person would be asked. */
export function askedLine(tool: string, state: Extract<ApprovalState, { digest: string }>): ApprovalLine {
  const line = { tool, state: state.state, digest: state.digest };
  if (state.state === 'missing') return { ...line, by: '', at: '', changed: [] };
  return { ...line, ...state.given, changed: state.changed };
}
