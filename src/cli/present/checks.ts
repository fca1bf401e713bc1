import type { DataOf } from '../../compose/operation.ts';
import { styled } from '../../compose/style.ts';
import { cellText } from '../../compose/table.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { agentsCheck } from '../../operations/project/agents-check.ts';
import type { policyCheck } from '../../operations/project/policy-check.ts';
import { policyStatusWords } from '../../operations/tool/policy-status-text.ts';

type Data = DataOf<typeof agentsCheck>;

export const checkedAgentsPresenter = {
  data(data: Data, screen) {
    const { agents, program } = data;
    if (agents.length === 0) return 'This project has no files for agents yet.';
    const path = program ?? styled('not on the PATH, where agents look for it', 'yellow', screen);
    return [...linesOf(data).map((line) => cellText(line, screen)), `acor: ${path}`].join('\n');
  },
  failure: linesOf,
} satisfies Presenter;

function linesOf({ files }: Data): string[] {
  return files.flatMap(({ path, state, detail, fix }) => [
    `${state.padEnd(10)}  ${path}`,
    ...(fix === null
      ? []
      : [`            ${detail}`, ...fix.split('\n').map((line) => `            ${line}`)]),
  ]);
}

export const checkedPolicyPresenter = {
  data: (data: DataOf<typeof policyCheck>) => policyLines(data).join('\n'),
  failure: policyLines,
} satisfies Presenter;

function policyLines({ tool, level, ...status }: DataOf<typeof policyCheck>): string[] {
  return [`${tool} (${level})`, ...policyStatusWords(status)].map(safeLine);
}
