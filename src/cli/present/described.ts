import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import { cellText } from '../../compose/table.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { shellCommand } from '../../util/shell-quote.ts';
import { hanging, pairsOf, tableOf } from './views.ts';

export const describedPresenter = { data: describeView } satisfies Presenter;

function describeView(data: Readonly<Record<string, unknown>>, screen: Screen): string {
  const { usage, description, inputs, examples, name: _name, ...facts } = data;
  if (Array.isArray(data.words)) return `${data.name}\n${data.words.join('\n')}`;
  if (typeof usage !== 'string') return pairsOf(data, screen);
  const rows = ((inputs ?? []) as Readonly<Record<string, unknown>>[]).map((input) => ({
    input: input.name,
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
