import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { workflowList } from '../../operations/workflow/workflow-list.ts';
import { tableOf } from './views.ts';

export const workflowsPresenter = {
  data({ workflows }: DataOf<typeof workflowList>, screen) {
    const rows = workflows.map(({ name, steps, inputs, description, problem }) => ({
      workflow: name,
      steps,
      inputs: inputs.join(' '),
      description: problem ?? description,
    }));
    return tableOf(
      rows,
      screen,
      ['workflow'],
      'No workflows yet: they are .yaml, .yml or .json files in .acor/workflows/ and workflows/.',
    );
  },
} satisfies Presenter;
