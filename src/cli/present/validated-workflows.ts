import type { DataOf } from '../../compose/operation.ts';
import { styled } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { workflowValidate } from '../../operations/workflow/workflow-validate.ts';
import { findingLines } from './findings.ts';

type Data = DataOf<typeof workflowValidate>;

export const validatedWorkflowsPresenter = {
  data({ findings, workflows }: Data, screen) {
    const verdict = findings.length === 0 ? 'no problems found' : `${findings.length} warnings, no error`;
    return [
      ...findingLines(findings, screen),
      styled(`${workflows} workflows looked at: ${verdict}`, 'green', screen),
    ].join('\n');
  },
  failure: ({ findings }: Data, screen) => findingLines(findings, screen),
} satisfies Presenter;
