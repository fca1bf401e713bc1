import type { Person } from '../../compose/person.ts';
import type { Approval, ApprovalState } from '../../core/guard/approval-state.ts';
import type { ApprovalStore } from '../../core/guard/approvals.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { approve } from '../../protocol/next-steps.ts';
import { userName } from '../../util/user-name.ts';
import { commandOf } from '../command-forms.ts';
import type { ApprovalLine } from './approval-line.ts';

/** What is to be approved, and what it may do, in plain sentences. */
interface Subject {
  kind: 'tool' | 'plugin';
  /** What is typed, and under which the approval is kept. */
  name: string;
  words: readonly string[];
}

/** Shows a person what they approve, and keeps the approval once they have typed its name. Throws E_APPROVAL_REQUIRED. */
export async function giveApproval(
  store: ApprovalStore,
  root: string,
  { kind, name, words }: Subject,
  { digest, files }: Extract<ApprovalState, { digest: string }>,
  digestNow: () => string,
  person: Person,
): Promise<ApprovalLine> {
  const article = `${kind} '${name}'`;
  const step = approve(name);
  const command = commandOf(step);
  const about = [
    `${kind === 'tool' ? 'Tool' : 'Plugin'} '${name}' in ${root} asks to be approved.`,
    '',
    ...words,
    '',
    'The approval holds for these files as they are now, and for no others that they may load:',
    ...files.map((file) => `${file.name}, SHA-256 ${file.sha256}`),
  ];
  const typed = await person.askForText(about, `To approve it, type its name (${name})`);
  if (typed !== name) {
    throw new AcorError('E_APPROVAL_REQUIRED', `${article} was not approved: its name was not typed`, {
      hint: `Nothing has changed. To approve it, a person types ${name} when asked by: ${command}`,
      next: [step],
    });
  }
  if (digestNow() !== digest) {
    throw new AcorError('E_APPROVAL_REQUIRED', `${article} changed while it was being read`, {
      hint: `Look again: ${command}`,
      next: [step],
    });
  }
  const given = { by: userName(), at: new Date().toISOString() };
  store.write({ version: 1, root, tool: name, digest, files, ...given });
  return { tool: name, state: 'valid', digest, ...given, changed: [] };
}

/** One that there is already. */
export function validLine(tool: string, { digest, by, at }: Approval): ApprovalLine {
  return { tool, state: 'valid', digest, by, at: at ?? '', changed: [] };
}
