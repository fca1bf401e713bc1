import { catalogOf } from '../catalog-of.ts';
import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

export const catalogOrder: Check = {
  rule: 'catalog-order',
  judge(observed) {
    const catalog = catalogOf(observed);
    if (catalog === undefined) return notJudged('there is no catalog');
    const keys = catalog.tools.map(
      ({ category, name }) => `${String(category ?? '')}\0${String(name ?? '')}`,
    );
    const isOrdered = keys.every((key, at) => at === 0 || keys[at - 1]! <= key);
    const [call] = callsFor(observed, 'tools');
    return brokenBy([
      isOrdered
        ? undefined
        : finding({
            rule: 'catalog-order',
            severity: 'low',
            message: 'the catalog is not ordered by category, then name',
            evidence: [evidenceOf(observed.program, call!, 'stdout')],
            fix: 'Sort the entries by category, then by name.',
          }),
    ]);
  },
};
