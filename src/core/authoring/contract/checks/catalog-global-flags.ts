import { catalogOf } from '../catalog-of.ts';
import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

export const catalogGlobalFlags: Check = {
  rule: 'catalog-global-flags',
  judge(observed) {
    const catalog = catalogOf(observed);
    if (catalog === undefined) return notJudged('there is no catalog');
    const [call] = callsFor(observed, 'tools');
    return brokenBy([
      Array.isArray(catalog.globalFlags)
        ? undefined
        : finding({
            rule: 'catalog-global-flags',
            severity: 'low',
            message: 'the catalog has no globalFlags',
            evidence: [evidenceOf(observed.program, call!, 'stdout')],
            fix: 'Add globalFlags: the flags that every command takes.',
          }),
    ]);
  },
};
