import { ACOR_VERSION } from '../../../util/version.ts';
import { commandNames } from './commands.ts';
import { decisionsInShort } from './decisions.ts';
import { recovery } from './errors.ts';
import type { Facts } from './facts.ts';
import { runInShort } from './runs.ts';
import { type Section, section } from './section.ts';
import { strangerCode } from './stranger-text.ts';
import { toolsSection } from './tools.ts';

/** How every command answers. */
export const ANSWERS: Section = section('How it answers', [
  'stdout is one line of JSON: `{"ok":true,"data":…,"meta":…}` or `{"ok":false,"error":{code,message,hint,class,retryable,action,details},"meta":…}`.',
  '- `meta.next` holds the exact commands that lead on. Prefer them to your own.',
  '- Exit code 0: done. 1: failed. 2: blocked: something must be provided first (an answer, an approval, a runtime).',
  '- Nothing prompts, and stdin is read only where you give `-` for it.',
  '- `--fields a,b.c`, `--limit N`, `--offset N` make any answer smaller; changing commands mostly take `--dry-run`.',
]);

/** What an agent has to know to use the project; everything else is a topic. */
export function overview(facts: Facts): Section[] {
  return [
    section('What this is', [
      `ACOR ${ACOR_VERSION} runs the tools of this project${rootOf(facts)} for you: arguments checked, in a sandbox, with deadlines, every event recorded. You decide; tools do.`,
    ]),
    ANSWERS,
    toolsSection(facts),
    runInShort(),
    decisionsInShort(),
    recovery(facts),
    commandNames(facts),
    ...(facts.withExamples ? [session(facts)] : []),
  ];
}

/** The commands of a usual session, in their order. */
const SESSION = ['list', 'describe', 'run', 'answer', 'wait', 'artifacts', 'retry', 'cancel'];

function session({ commands }: Facts): Section {
  const ops = SESSION.flatMap((word) => commands.find(({ command }) => command === word)?.op ?? []);
  return section(
    'Examples',
    ops.map(({ example, summary }) => `- \`${example}\` ${summary}`),
  );
}

function rootOf({ project }: Facts): string {
  return project === undefined ? '' : ` (${strangerCode(project.config.root)})`;
}
