import { catalogOf } from '../catalog-of.ts';
import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { fieldsOf, payloadOf } from '../printed.ts';

export const catalogDetail: Check = {
  rule: 'catalog-detail',
  judge(observed) {
    const [call] = callsFor(observed, 'tools-detail');
    if (call === undefined || catalogOf(observed) === undefined) return notJudged('there is no catalog');
    const isDetail = call.rc === 0 && fieldsOf(payloadOf(call.stdout))?.['name'] === call.args[1];
    return brokenBy([
      isDetail
        ? undefined
        : finding({
            rule: 'catalog-detail',
            severity: 'low',
            message: `'${observed.program} tools <name>' does not answer with the entry of that name`,
            evidence: [
              evidenceOf(observed.program, call, 'exit'),
              evidenceOf(observed.program, call, 'stdout'),
            ],
            fix: 'Answer with the one entry as data.',
          }),
    ]);
  },
};
