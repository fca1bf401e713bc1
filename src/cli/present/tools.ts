import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { mark, styled } from '../../compose/style.ts';
import { cellText } from '../../compose/table.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { pluginList } from '../../operations/project/plugin-list.ts';
import type { toolAdopt } from '../../operations/tool/tool-adopt.ts';
import type { toolApprove } from '../../operations/tool/tool-approve.ts';
import type { toolList } from '../../operations/tool/tool-list.ts';
import type { workflowList } from '../../operations/workflow/workflow-list.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { hanging, pairsOf, tableOf } from './views.ts';

export const toolsPresenter = {
  data({ tools }: DataOf<typeof toolList>, screen) {
    const rows = tools.map(
      ({ name, status, version, language, level, description, problems, notes = [] }) => ({
        tool: name,
        version,
        language,
        level,
        description:
          status === 'ok'
            ? [description, ...notes].filter((text) => text !== '').join(' | ')
            : `${mark('failed', screen)} broken: ${problems[0]}`,
      }),
    );
    const none = 'No tools found. Create one: acor template python --name mine';
    return tableOf(rows, screen, ['tool'], none, (column, text) =>
      column === 'description' && text.startsWith(mark('failed', screen)) ? 'red' : undefined,
    );
  },
} satisfies Presenter;

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
      ...drafts.slice(0, 1).map(({ files }) => files),
      ...passed_over.map(({ command, why }) => `passed over ${command.join(' ')}: ${why}`),
      `asked, in the sandbox: ${asked.map((words) => words.join(' ')).join('; ')}`,
    ]
      .map(safeLine)
      .join('\n'),
} satisfies Presenter;

export const approvalsPresenter = {
  data({ approvals }: DataOf<typeof toolApprove>, screen) {
    const rows = approvals.map(({ tool, state, by, at, changed }) => ({
      tool,
      state: changed.length > 0 ? `${state}: ${changed.join(', ')} changed` : state,
      by,
      at,
    }));
    return tableOf(rows, screen, ['tool'], 'Nothing of this project is approved.');
  },
} satisfies Presenter;

export const describedPresenter = { data: describeView } satisfies Presenter;

function describeView(data: Readonly<Record<string, unknown>>, screen: Screen): string {
  const { usage, description, inputs, examples, name: _name, ...facts } = data;
  if (Array.isArray(data.words)) return `${data.name}\n${data.words.join('\n')}`;
  if (typeof usage !== 'string') return pairsOf(data, screen);
  const rows = ((inputs ?? []) as Readonly<Record<string, unknown>>[]).map((input) => ({
    input: input.short === undefined ? input.name : `${input.name}, ${input.short}`,
    type: input.type,
    required: input.required ? 'yes' : '',
    default: input.default,
    description: input.description,
  }));
  const calls = ((examples ?? []) as { args: string[] }[]).map(
    ({ args }) => `  acor run ${cellText(shellCommand([String(data.name), ...args]), screen)}`,
  );
  return [
    styled(usage, 'bold', screen),
    // Indented, so that no line of it looks like one of the following.
    hanging(String(description ?? ''), 2, screen),
    tableOf(rows, screen, ['input'], 'It declares no inputs; ACOR passes the arguments unchanged.'),
    pairsOf(flat(facts), screen),
    calls.length > 0 ? `${styled('examples', 'bold', screen)}\n${calls.join('\n')}` : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Flattens nested facts to dotted names; lists of plain values stay whole, and empty ones are omitted. */
function flat(facts: Readonly<Record<string, unknown>>, prefix = ''): Record<string, unknown> {
  const entries = Object.entries(facts).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && !key.endsWith('_schema')
      ? Object.entries(flat(value as Readonly<Record<string, unknown>>, `${prefix}${key}.`))
      : [[`${prefix}${key}`, value] as const],
  );
  return Object.fromEntries(entries);
}

export const pluginsPresenter = {
  data({ plugins }: DataOf<typeof pluginList>, screen) {
    const rows = plugins.map(({ name, state, hooks, file, problems }) => ({
      plugin: name,
      state: state.replace('_', ' '),
      hooks: hooks?.join(' '),
      file: problems.length === 0 ? file : `${file}: ${problems.join('; ')}`,
    }));
    return tableOf(
      rows,
      screen,
      ['plugin'],
      "No plugins: the configuration names none. List their files under 'plugins'.",
    );
  },
} satisfies Presenter;

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
