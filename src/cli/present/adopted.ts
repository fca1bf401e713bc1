import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { toolAdopt } from '../../operations/tool/tool-adopt.ts';

export const adoptedPresenter = {
  data: ({ drafts, dry_run, asked, passed_over }: DataOf<typeof toolAdopt>) =>
    [
      ...drafts.flatMap(({ name, file, inputs, uncertain, left_out, not_understood, manifest }) => [
        `${name}: ${inputs} inputs; to be checked: ${uncertain.length}, left out: ${left_out.length}, not understood: ${not_understood.length}`,
        `  ${dry_run ? 'would be' : 'written to'} ${file}`,
        ...(manifest === undefined
          ? []
          : manifest
              .trimEnd()
              .split('\n')
              .map((line) => `  ${line}`)),
      ]),
      ...passed_over.map(({ command, why }) => `passed over ${command.join(' ')}: ${why}`),
      `asked, in the sandbox: ${asked.map((words) => words.join(' ')).join('; ')}`,
    ]
      .map(safeLine)
      .join('\n'),
} satisfies Presenter;
