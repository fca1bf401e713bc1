import * as z from 'zod';
import { LinearPattern } from './linear-pattern.ts';
import { parseMapPath } from './map-path.ts';
import { LOG_LEVELS } from './v1/wire.ts';

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** The message types that a rule can produce, with their required fields. */
const MAP_TARGETS = {
  progress: [],
  heartbeat: [],
  log: ['msg'],
  action_required: ['action'],
  artifact: ['path'],
  result: [],
  error: ['msg'],
} as const satisfies Record<string, readonly string[]>;

export type MapTarget = keyof typeof MAP_TARGETS;

/** Fields that the runner fills in, or that another part of the rule sets. */
const NOT_TO_SET = ['type', 'v', 'seq', 'run_id'];

/**
 * One rule of `adapter: jsonl-map`: a message that matches all of `when` becomes an event of type `to` with these
 * fields.
 */
export const mapRule = z.strictObject({
  match: z
    .string()
    .min(1)
    .optional()
    .describe('For adapter text-map: the pattern of a line, such as (?<pct>[0-9.]+)%.'),
  when: z
    .record(z.string(), scalar)
    .default({})
    .describe('Fields and the values that they must have; a field is a name, or a path that begins with $.'),
  to: z.enum(Object.keys(MAP_TARGETS) as [MapTarget, ...MapTarget[]]).describe('The type of the event.'),
  fields: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Fields of the event: values, or paths into the message such as "$.percent_done * 100".'),
});

export type MapRule = z.output<typeof mapRule>;

type Found = { path: (string | number)[]; rule: string; message: string; fix: string };

/** The problems of the rules beyond their format. Rules that are invalid themselves are skipped. */
export function* mapMistakes(map: unknown, adapter: unknown): Generator<Found> {
  const isMapping = adapter === 'jsonl-map' || adapter === 'text-map';
  if (map === undefined && isMapping) {
    const example =
      adapter === 'jsonl-map'
        ? '{ when: { event: done }, to: result }'
        : "{ match: '(?<pct>[0-9.]+)%', to: progress, fields: { pct: $.pct } }";
    yield {
      path: ['adapter'],
      rule: 'adapter-needs-map',
      message: `'adapter: ${adapter}' needs the rules in 'map'`,
      fix: `Add map, such as: map: [${example}].`,
    };
  }
  if (map === undefined) return;
  if (!isMapping) {
    yield {
      path: ['map'],
      rule: 'map-needs-adapter',
      message: "'map' goes with 'adapter: jsonl-map' or 'adapter: text-map'",
      fix: 'Add one of them, or remove map.',
    };
  }
  for (const [index, given] of (Array.isArray(map) ? map : []).entries()) {
    const { success, data } = mapRule.safeParse(given);
    if (!success) continue;
    yield* ruleMistakes(data, ['map', index]);
    if (isMapping) yield* matchMistakes(data, adapter, ['map', index]);
  }
}

function* matchMistakes(
  { match, when }: MapRule,
  adapter: 'jsonl-map' | 'text-map',
  at: (string | number)[],
): Generator<Found> {
  const isText = adapter === 'text-map';
  if (isText !== (match !== undefined) || (isText && Object.keys(when).length > 0)) {
    yield {
      path: at,
      rule: 'map-match',
      message: isText ? "a rule of text-map has 'match' and no 'when'" : "'match' is for text-map",
      fix: isText ? "Write the pattern of the line: match: '(?<pct>[0-9.]+)%'." : "Write 'when'.",
    };
  }
  if (match === undefined || !isText) return;
  try {
    new LinearPattern(match);
  } catch (error) {
    yield {
      path: [...at, 'match'],
      rule: 'pattern',
      message: `'${match}' is not a valid pattern: ${(error as Error).message}`,
      fix: 'Fix the pattern; backreferences and look-around are not supported.',
    };
  }
}

function* ruleMistakes({ when, to, fields }: MapRule, at: (string | number)[]): Generator<Found> {
  for (const name of Object.keys(when))
    if (name.startsWith('$')) yield* pathMistakes(name, [...at, 'when', name]);
  for (const name of MAP_TARGETS[to]) {
    if (fields[name] !== undefined) continue;
    yield {
      path: at,
      rule: 'map-field',
      message: `a rule to ${to} must set '${name}'`,
      fix: `Add to its fields: ${name}: $.<field>.`,
    };
  }
  for (const [name, value] of Object.entries(fields)) {
    const place = [...at, 'fields', name];
    if (NOT_TO_SET.includes(name)) {
      yield {
        path: place,
        rule: 'map-field',
        message: `'${name}' cannot be set by a rule`,
        fix: "Remove it; the event's type is the rule's 'to'.",
      };
    }
    if (
      to === 'log' &&
      name === 'level' &&
      !isPath(value) &&
      !(LOG_LEVELS as readonly unknown[]).includes(value)
    ) {
      yield {
        path: place,
        rule: 'map-field',
        message: `'${value}' is not a log level`,
        fix: `Write one of: ${LOG_LEVELS.join(', ')}.`,
      };
    }
    yield* valueMistakes(value, place);
  }
}

function* valueMistakes(value: unknown, at: (string | number)[]): Generator<Found> {
  if (isPath(value)) yield* pathMistakes(value, at);
  else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value))
      yield* valueMistakes(each, [...at, Array.isArray(value) ? Number(key) : key]);
}

function* pathMistakes(text: string, at: (string | number)[]): Generator<Found> {
  if (parseMapPath(text) !== undefined) return;
  yield {
    path: at,
    rule: 'map-path',
    message: `'${text}' is not a valid path`,
    fix: 'Write $, $.name, $.list[0], $["odd name"], optionally with a factor: "$.done * 100".',
  };
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('$');
}
