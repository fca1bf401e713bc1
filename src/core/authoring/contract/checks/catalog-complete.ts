import { catalogOf } from '../catalog-of.ts';
import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { leaves } from '../surface.ts';

/** Commands about the program itself may be in none of both. */
const INFRASTRUCTURE = /^(?:tools|health|help|version|complete|completion|completions)\b/;

export const catalogComplete: Check = {
  rule: 'catalog-complete',
  judge(observed) {
    const catalog = catalogOf(observed);
    if (catalog === undefined) return notJudged('there is no catalog');
    const { program, surface } = observed;
    const listed = catalog.tools.map(({ command }) => String(command ?? '').replace(/^\S+\s+/, ''));
    const helped = leaves(surface).map(({ words }) => words.join(' '));
    const isPart = (one: string, other: string) => one === other || one.startsWith(`${other} `);
    const unlisted = helped.filter(
      (each) =>
        !INFRASTRUCTURE.test(each) && !listed.some((other) => isPart(other, each) || isPart(each, other)),
    );
    const unhelped =
      surface.unread > 0
        ? []
        : listed.filter((each) => !INFRASTRUCTURE.test(each) && !helped.some((other) => isPart(each, other)));
    const [call] = callsFor(observed, 'tools');
    const differs = (commands: string[], message: string) =>
      commands.length === 0
        ? undefined
        : finding({
            rule: 'catalog-complete',
            severity: 'medium',
            message: `${message}: ${commands.join(', ')}`,
            commands,
            evidence: [evidenceOf(program, call!, 'stdout')],
            fix: 'Generate help and catalog from one registry.',
          });
    return brokenBy([
      differs(unlisted, 'the help names commands that the catalog has not'),
      differs(unhelped, 'the catalog has commands that no help names'),
    ]);
  },
};
