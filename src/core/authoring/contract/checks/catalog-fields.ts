import { catalogOf } from '../catalog-of.ts';
import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { fieldsOf, payloadOf } from '../printed.ts';

const FIELDS = [
  'name',
  'command',
  'category',
  'description',
  'parameters',
  'outputFields',
  'idempotent',
  'rateLimit',
  'example',
];
const OF_PARAMETERS = ['name', 'type', 'required', 'description'];

export const catalogFields: Check = {
  rule: 'catalog-fields',
  judge(observed) {
    const catalog = catalogOf(observed);
    if (catalog === undefined) return notJudged('there is no catalog');
    // A short list is complete when the entry of a single command has the rest.
    const [detail] = callsFor(observed, 'tools-detail');
    const entry = detail?.rc === 0 ? fieldsOf(payloadOf(detail.stdout)) : undefined;
    const isShort =
      entry?.['parameters'] !== undefined &&
      catalog.tools.every(({ parameters }) => parameters === undefined);
    const entries = isShort ? [entry] : catalog.tools;
    const missing = FIELDS.filter((field) => entries.some((tool) => !(field in tool)));
    const parameters = entries.flatMap(({ parameters }) => (Array.isArray(parameters) ? parameters : []));
    const ofParameters = OF_PARAMETERS.filter((field) =>
      parameters.some((each) => !(field in (fieldsOf(each) ?? {}))),
    );
    const all = [...missing, ...ofParameters.map((field) => `parameters[].${field}`)];
    const [call] = callsFor(observed, 'tools');
    return brokenBy([
      all.length === 0
        ? undefined
        : finding({
            rule: 'catalog-fields',
            severity: 'medium',
            message: `entries of the catalog have no ${all.join(', ')}`,
            evidence: [evidenceOf(observed.program, call!, 'stdout')],
            fix: `Add to every entry: ${all.join(', ')}.`,
            surface: [{ change: 'change', command: 'tools', what: `add ${all.join(', ')}`, breaks: false }],
          }),
    ]);
  },
};
