import { loadAll } from './catalog.ts';
import type { CliApp } from './cli-app.ts';
import { globalRows } from './help-words.ts';
import { type Parameter, parametersOf } from './parameters.ts';
import { calledAs } from './write-command.ts';

/** One part of the guide. */
export interface GuideSection {
  heading: string;
  /** Markdown. */
  text: string;
}

/** How an agent uses a program of the kit, made from its declarations. */
export async function guideOf<C>(
  app: Pick<CliApp<C>, 'name' | 'callAs' | 'routes' | 'errors'>,
): Promise<GuideSection[]> {
  const { errors = {} } = app;
  const commands = await loadAll(app.routes);
  const inputs = commands.flatMap(({ op }) => parametersOf(op));
  const has = (key: string) => inputs.some((each) => each.key === key);
  const changes = [
    ...(has('dry_run') || has('dryRun') ? ['`--dry-run` shows what a command would change.'] : []),
    ...(has('plan') ? ['Its token in `meta.plan`, passed as `--plan`, does exactly that, or nothing.'] : []),
    ...(has('idempotency_key')
      ? ['A call repeated with the same `--idempotency-key` does nothing and answers as the first one.']
      : []),
  ];
  const sections: GuideSection[] = [
    {
      heading: 'Answers',
      text: [
        'Each command writes one JSON object on one line to stdout: `{"ok":true,"data":…,"meta":…}`, or',
        '`{"ok":false,"error":{"code","message","hint","action"},"meta":…}`. Texts for people are on stderr.',
        '`meta.next` has commands that lead on, `error.hint` the fix. Never parse the texts.',
      ].join('\n'),
    },
    {
      heading: 'Exit codes',
      text: '0 done, 1 failed, 2 blocked: something must be provided first, see `error.hint`.',
    },
    { heading: 'Commands', text: commands.map((each) => `- ${commandLine(calledAs(app), each)}`).join('\n') },
    {
      heading: 'Flags of every command',
      text: globalRows(new Set())
        .map(([flag, about]) => `- \`${flag}\` ${about}`)
        .join('\n'),
    },
    ...(changes.length === 0 ? [] : [{ heading: 'Changes', text: changes.join('\n') }]),
    {
      heading: 'Errors',
      text: Object.entries(errors)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([code, { action }]) => `- \`${code}\` ${action}`)
        .join('\n'),
    },
  ];
  return sections;
}

/** The guide as one document. */
export function guideText(
  { name, version, summary }: Pick<CliApp<never>, 'name' | 'version' | 'summary'>,
  sections: readonly GuideSection[],
): string {
  const parts = sections.map(({ heading, text }) => `## ${heading}\n\n${text}\n`);
  return `# ${name} ${version}\n\n${summary}\n\n${parts.join('\n')}`;
}

function commandLine(program: string, { command, op }: Awaited<ReturnType<typeof loadAll>>[number]): string {
  const words = parametersOf(op).filter(({ isRequired }) => isRequired);
  const call = [program, command, ...words.map(wordsOf)].join(' ');
  const effect = op.effect === 'reads' ? '' : ` (${op.effect})`;
  const instead = op.deprecated === undefined ? '' : ` Deprecated, use \`${op.deprecated.use}\`.`;
  return `\`${call}\`${effect}: ${op.summary}${instead} For example \`${op.example}\`.`;
}

function wordsOf({ isPositional, flag }: Parameter): string {
  return isPositional ? `<${flag}>` : `--${flag} <${flag}>`;
}
