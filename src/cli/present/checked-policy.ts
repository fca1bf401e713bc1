import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { policyCheck } from '../../operations/project/policy-check.ts';
import { policyStatusWords } from '../../operations/tool/policy-status-text.ts';

export const checkedPolicyPresenter = {
  data: ({ tool, level, ...status }: DataOf<typeof policyCheck>) =>
    [`${tool} (${level})`, ...policyStatusWords(status, tool)].map(safeLine).join('\n'),
} satisfies Presenter;
