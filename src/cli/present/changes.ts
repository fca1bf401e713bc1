import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { type Look, styled } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { runDiff } from '../../operations/run/run-diff.ts';
import { hanging } from './views.ts';

type Data = DataOf<typeof runDiff>;
type Change = Data['changes'][number];
type Entry = NonNullable<Change['before']>;

const LOOKS: Readonly<Record<Change['change'], Look>> = {
  added: 'green',
  modified: 'yellow',
  mode: 'yellow',
  deleted: 'red',
};

const REFUSED = {
  special: 'never put in place: a pipe, device or socket',
  leads_out: 'never put in place: a link that leads out',
};

/** The changes of a run: each with its whole path on a line of its own, and its text below it. */
export const changesPresenter = {
  data: ({ changes, places, effects }: Data, screen) =>
    [
      ...(changes.length === 0
        ? [noneWords(places, screen)]
        : changes.map((each) => changeView(each, screen))),
      ...effects.map(({ ts, effect, by, count }) =>
        styled(`${count} ${effect} by ${safeLine(by)} at ${ts}`, 'dim', screen),
      ),
    ].join('\n'),
} satisfies Presenter;

function noneWords(places: Data['places'], screen: Screen): string {
  const none =
    places.length === 0
      ? 'The run has no layer and no snapshot.'
      : `No undecided changes: ${places.map(({ path, state }) => `${path} (${state})`).join(', ')}`;
  return styled(hanging(safeLine(none), 0, screen), 'dim', screen);
}

function changeView(
  { path, change, before, after, refused, executed, patch }: Change,
  screen: Screen,
): string {
  const notes = [entryWords(before, after), ...(refused === undefined ? [] : [REFUSED[refused]])];
  const shown = notes.filter((note) => note !== '').join('; ');
  return [
    // Never cut or wrapped: the path is what the person decides about.
    `${styled(change.padEnd('modified'.length), LOOKS[change], screen)}  ${safeLine(path)}${shown === '' ? '' : `  (${shown})`}`,
    ...(executed === undefined ? [] : [styled(`  MAY BE EXECUTED LATER (${executed})`, 'red', screen)]),
    ...(patch === undefined ? [] : patchLines(patch, screen)),
  ].join('\n');
}

/** The mode, where it changes or is new, and where a link leads. */
function entryWords(before: Entry | null, after: Entry | null): string {
  if (after === null) return before?.kind === 'file' ? '' : (before?.kind ?? '');
  const kind = after.kind === 'file' ? [] : [after.kind];
  const leads = after.leads_to === undefined ? [] : [`to ${safeLine(after.leads_to)}`];
  const isNewMode = after.kind !== 'link' && before !== null && before.mode !== after.mode;
  return [...kind, ...leads, ...(isNewMode ? [`mode ${before.mode} to ${after.mode}`] : [])].join(' ');
}

/** Without the two lines with the path. */
function patchLines(patch: string, screen: Screen): string[] {
  const lines = patch.trimEnd().split('\n');
  const from = lines.findIndex((line) => line.startsWith('@@'));
  return lines.slice(Math.max(0, from)).map((line) => {
    const look = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim';
    return `  ${styled(safeLine(line), look, screen)}`;
  });
}
