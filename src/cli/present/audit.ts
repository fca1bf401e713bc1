import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { composeAudit } from '../../operations/compose/compose-audit.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { hanging } from './views.ts';

type Data = DataOf<typeof composeAudit>;

const LOOKS = { critical: 'red', high: 'red', medium: 'yellow', low: 'dim' } as const;

export const auditPresenter = {
  data: (data: Data, screen) => linesOf(data, screen).join('\n'),
  failure: (data: Data, screen) => linesOf(data, screen),
} satisfies Presenter;

function linesOf(data: Data, screen: Screen): string[] {
  if (data.dry_run) return data.calls.map(({ args }) => safeLine(shellCommand([data.program, ...args])));
  const { counts, score } = data;
  return [
    ...data.findings.flatMap((each) => findingLines(each, screen)),
    `Score ${score.value} of 100 (${score.earned} of ${score.of} points). ${counts.critical} critical, ${counts.high} high, ${counts.medium} medium, ${counts.low} low.`,
  ];
}

function findingLines(each: Data['findings'][number], screen: Screen): string[] {
  const [first] = each.evidence;
  return [
    `${styled(each.severity, LOOKS[each.severity], screen)} ${each.rule}: ${hanging(safeLine(each.message), 2, screen)}`,
    ...(first === undefined
      ? []
      : [`  ${hanging(safeLine(`${first.command} (${first.stream}): ${first.bytes}`), 2, screen)}`]),
    `  ${hanging(safeLine(each.fix), 2, screen)}`,
    '',
  ];
}
