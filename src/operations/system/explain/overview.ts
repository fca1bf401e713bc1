import { ACOR_VERSION } from '../../../util/version.ts';
import { CALL_ANSWERS } from './calls.ts';
import { commandNames } from './commands.ts';
import { decisionsInShort } from './decisions.ts';
import { recovery } from './errors.ts';
import type { Facts } from './facts.ts';
import { runInShort } from './runs.ts';
import { type Section, section, untrustedCode } from './section.ts';
import { toolsSection } from './tools.ts';

/** How every command answers. */
export const ANSWERS: Section = section('How it answers', [
  'stdout is one line of JSON: `{"ok":true,"data":…,"meta":…}` or `{"ok":false,"error":{code,message,hint,class,retryable,action,details},"meta":…}`.',
  '- `meta.next` has the exact commands that come next. Prefer them to your own.',
  '- Exit code 0: done. 1: failed. 2: blocked: the run needs something first (an answer, an approval, a runtime).',
  '- No command prompts, and ACOR reads stdin only where you pass `-`.',
  '- `--fields a,b.c`, `--limit N`, `--offset N`, `--max-tokens N` make any answer smaller; most commands that change something have `--dry-run`.',
]);

/** What an agent must know to use the project; everything else is a topic. */
export function overview(facts: Facts): Section[] {
  return [
    section('What this is', [
      `ACOR ${ACOR_VERSION} runs the tools of this project${rootOf(facts)} for you: it checks arguments, confines tools in a sandbox, enforces deadlines, and records every event. You decide; tools execute.`,
    ]),
    facts.hasCalls ? CALL_ANSWERS : ANSWERS,
    toolsSection(facts),
    runInShort(facts),
    decisionsInShort(facts),
    recovery(facts),
    ...(facts.hasCalls ? [] : [commandNames(facts)]),
    ...(facts.withExamples && !facts.hasCalls ? [session(facts)] : []),
  ];
}

/** The commands of a usual session, in order. */
const SESSION = ['list', 'describe', 'run', 'answer', 'wait', 'artifacts', 'retry', 'cancel'];

function session({ commands }: Facts): Section {
  const ops = SESSION.flatMap((word) => commands.find(({ command }) => command === word)?.op ?? []);
  return section(
    'Examples',
    ops.map(({ example, summary }) => `- \`${example}\` ${summary}`),
  );
}

function rootOf({ project }: Facts): string {
  return project === undefined ? '' : ` (${untrustedCode(project.config.root)})`;
}
