import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import { cellText } from '../../compose/table.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { ShownFile } from '../../operations/project/shapes.ts';

interface Written {
  files: readonly ShownFile[];
  dry_run: boolean;
  notes?: readonly string[];
}

/** `acor init`. */
export const initPresenter = titled<{ root: string }>(({ root }) => [
  `What would happen in ${root}:`,
  `The project ${root}:`,
]);

/** `acor template`. */
export const templatePresenter = titled<{ folder: string }>(({ folder }) => [
  `What would be written to ${folder}:`,
  `A tool in ${folder}:`,
]);

/** `acor workflow template`. */
export const workflowTemplatePresenter = titled<{ name: string }>(({ name }) => [
  `What would be written for the workflow ${name}:`,
  `The workflow ${name}:`,
]);

/** `acor agents plugin`. */
export const pluginPresenter = titled<{ folder: string }>(({ folder }) => [
  `What would be written to ${folder}:`,
  `The plugin in ${folder}:`,
]);

/** `acor agents remove`. */
export const removedAgentsPresenter = titled<{ root: string }>(({ root }) => [
  `What would be taken out of ${root}:`,
  `The files for agents in ${root}:`,
]);

/** A title (for a dry run or not), the files and the notes. */
function titled<T>(titles: (data: T) => [string, string]) {
  return {
    data(data: Written & T, screen) {
      const [planned, done] = titles(data);
      const { files, dry_run, notes = [] } = data;
      return [dry_run ? planned : done, filesView(files, screen), ...notes].join('\n');
    },
  } satisfies Presenter;
}

const LOOKS = {
  create: 'green',
  merge: 'green',
  change: 'green',
  replace: 'yellow',
  move: 'yellow',
  remove: 'yellow',
  could_not: 'red',
} as const;

/** The files for a person: what happened to each, and below it why and what to do. */
function filesView(files: readonly ShownFile[], screen: Screen): string {
  return files
    .flatMap(({ path, action, why, by_hand, lines = [] }) => {
      const word = action.replace('_', ' ').padEnd(9);
      const look = action === 'keep' || action === 'unchanged' ? 'dim' : LOOKS[action];
      const below = [
        ...lines.flatMap(({ line, before, after }) => [
          `line ${line}: ${before}`,
          `${' '.repeat(6)}→ ${after}`,
        ]),
        ...[why, by_hand].filter((each) => each !== undefined),
      ];
      return [
        `${styled(word, look, screen)}  ${cellText(path, screen)}`,
        ...below.map((each) => `${' '.repeat(11)}${styled(cellText(each, screen), 'dim', screen)}`),
      ];
    })
    .join('\n');
}
