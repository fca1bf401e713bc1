import { catalogOf } from '../catalog-of.ts';
import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { fieldsOf, payloadOf } from '../printed.ts';
import { leaves } from '../surface.ts';

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
