import { categoryOf, type LoadedRoute } from '../../../compose/catalog.ts';
import { helpWords } from '../../../compose/help-words.ts';
import type { AcorApp } from '../../acor-app.ts';
import type { Facts } from './facts.ts';
import { type Section, section } from './section.ts';

/** The names of all commands, by category. */
export function commandNames({ commands }: Facts): Section {
  const groups = Map.groupBy(commands, ({ op }) => categoryOf(op));
  return section('Commands', [
    ...[...groups].map(
      ([category, group]) => `- ${category}: ${group.map(({ command }) => command).join(', ')}`,
    ),
    'Details: `acor <command> --help`, or as data `acor tools <command>`.',
  ]);
}

/** Every command: its usage and summary. */
export function commandSections({ commands, withExamples }: Facts): Section[] {
  const groups = Map.groupBy(commands, ({ op }) => categoryOf(op));
  return [...groups].map(([category, group]) =>
    section(
      category,
      group.flatMap(({ command, op }) => {
        const { usage, examples } = helpWords(op, `acor ${command}`);
        return [
          `- \`${usage}\` ${op.summary}`,
          ...(withExamples ? examples.map((each) => `  - \`${each}\``) : []),
        ];
      }),
    ),
  );
}

/** One command with its arguments and flags. */
export function commandDetail({ command, op }: LoadedRoute<AcorApp>): Section[] {
  const { about, usage, places, flags, examples } = helpWords(op, `acor ${command}`);
  return [
    section(`acor ${command}`, [...about, `\`${usage}\``]),
    ...(places.length + flags.length === 0
      ? []
      : [
          section(
            'Arguments',
            [...places, ...flags].map(([name, text]) => `- \`${name}\` ${text}`),
          ),
        ]),
    section(
      'Examples',
      examples.map((each) => `- \`${each}\``),
    ),
  ];
}
