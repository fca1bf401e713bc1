import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type * as z from 'zod';
import { acceptedLines, rejectedLines } from '../../../test/support/corpus.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { checkMessage, originOf } from './check-message.ts';
import { envelope } from './envelope.ts';
import { RUNNER_EVENTS } from './runner-events.ts';
import { TASK_MESSAGES, TOOL_MESSAGES } from './tool-messages.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const BY_TYPE: Readonly<Record<string, z.ZodType>> = { ...TOOL_MESSAGES, ...TASK_MESSAGES };
const accepted = acceptedLines();
const rejected = rejectedLines();
const fromTools = accepted.filter((entry) => !Object.hasOwn(RUNNER_EVENTS, entry.subject));

describe('a question with an option that has an empty id', () => {
  it('is reported with the place of the option, and that the id may not be empty', () => {
    const options = [{ id: 'a' }, { id: '', label: 'None' }];
    const message = { v: 1, type: 'action_required', ts: '2026-01-01T00:00:00Z', run_id: 'r-1' };
    assert.deepEqual(checkMessage({ ...message, action: 'pick', action_id: 'a-1', options }), {
      field: 'options[1].id',
      expected: 'a string that is not empty',
    });
  });
});

describe('the corpus', () => {
  it('has accepted and refused lines of every type that a tool may write', () => {
    for (const type of Object.keys(BY_TYPE)) {
      assert.ok(
        accepted.some((entry) => entry.subject === type),
        `corpus/accept/${type}.jsonl`,
      );
      assert.ok(
        rejected.some((entry) => entry.subject === type),
        `corpus/reject/${type}.jsonl`,
      );
    }
    assert.ok(fromTools.length > 60 && rejected.length > 150);
  });

  it('has an accepted line of every event that the runner writes', () => {
    for (const type of Object.keys(RUNNER_EVENTS)) {
      assert.ok(
        accepted.some((entry) => entry.subject === type),
        `corpus/accept/${type}.jsonl`,
      );
    }
  });

  it('keeps each line in the file of its type', () => {
    for (const { subject, message, at } of accepted) {
      if (subject === 'unknown') assert.equal(originOf(message['type'] as string), 'unknown', at);
      else assert.equal(message['type'], subject, at);
    }
    for (const { subject, message, at } of rejected) {
      if (subject !== 'envelope') assert.equal(message['type'], subject, at);
    }
  });
});

describe('the schemas and the hand-written check', () => {
  it('both accept every accepted line of a tool', () => {
    for (const { message, at } of fromTools) {
      assert.deepEqual(checkMessage(message), undefined, at);
      assert.equal(holdsBySchema(message), true, at);
    }
  });

  it('both refuse every refused line, and the check names a field and what it must be', () => {
    for (const { message, at, why } of rejected) {
      const problem = checkMessage(message);
      assert.ok(problem !== undefined, `${at}: ${why}`);
      assert.match(problem.field, /^[a-z_0-9.[\]]+$/, at);
      assert.ok(problem.expected.length > 0, at);
      assert.equal(holdsBySchema(message), false, `${at}: ${why}`);
    }
  });

  it('agree on what is left of the corpus after one or two changes', () => {
    const random = new SeededRandom(20_250_830);
    const counts = { held: 0, refused: 0 };
    for (let round = 0; round < 400; round++) {
      for (const { message, at } of fromTools) {
        const mutant = mutate(message as Json, random);
        if (!isObject(mutant)) continue;
        const bySchema = holdsBySchema(mutant);
        const byHand = checkMessage(mutant) === undefined;
        if (byHand !== bySchema) {
          assert.fail(
            `${at}: by hand ${byHand}, by schema ${bySchema}: ${JSON.stringify(mutant).slice(0, 500)}`,
          );
        }
        counts[byHand ? 'held' : 'refused']++;
      }
    }
    assert.ok(counts.held > 5_000 && counts.refused > 5_000, JSON.stringify(counts));
  });
});

describe('the check of one field', () => {
  it('names the place inside a list', () => {
    const message = rejected.find((entry) => entry.why === 'the second artifact is at fault')?.message;
    assert.deepEqual(checkMessage(message ?? {}), { field: 'artifacts[1]', expected: 'an object' });
  });

  it('lets an unknown type pass whatever its own fields are', () => {
    const message = {
      v: 1,
      type: 'metric_sample',
      ts: '2025-08-30T12:34:56Z',
      run_id: 'r-1',
      pct: 'high',
      code: 1,
    };
    assert.equal(checkMessage(message), undefined);
  });
});

describe('who may write a type', () => {
  it('distinguishes tools, orchestrators, the runner and others', () => {
    for (const type of Object.keys(TOOL_MESSAGES)) assert.equal(originOf(type), 'tool');
    for (const type of Object.keys(TASK_MESSAGES)) assert.equal(originOf(type), 'orchestrator');
    for (const type of Object.keys(RUNNER_EVENTS)) assert.equal(originOf(type), 'runner');
    for (const type of ['constructor', 'toString', '__proto__', 'hasOwnProperty', '', 'START']) {
      assert.equal(originOf(type), 'unknown', type);
    }
  });
});

describe('the schemas of the runner events', () => {
  it('accept their own examples', () => {
    for (const { subject, message, at } of accepted) {
      const schema = RUNNER_EVENTS[subject as keyof typeof RUNNER_EVENTS];
      if (schema === undefined) continue;
      const parsed = schema.safeParse(message);
      assert.ok(parsed.success, `${at}: ${parsed.error?.message}`);
      assert.deepEqual(parsed.data, message, `${at}: nothing is taken away`);
    }
  });

  it('refuse an example that lacks one of its fields', () => {
    const optional = new Set(['trace_id', 'span_id', 'seq', 'reason', 'hint', 'retryable', 'code', 'line']);
    const extra = new Set(['expected_codes', 'actual']);
    let refused = 0;
    for (const { subject, message, at } of accepted) {
      const schema = RUNNER_EVENTS[subject as keyof typeof RUNNER_EVENTS];
      if (schema === undefined) continue;
      for (const field of Object.keys(message)) {
        if (optional.has(field) || extra.has(field)) continue;
        // An answer may be null, so a missing one looks the same.
        if (field === 'answer') continue;
        // Logs of earlier builds do not name the kind of a run.
        if (subject === 'runner_start' && field === 'kind') continue;
        // Nor do their ends say what happened.
        if (subject === 'runner_end' && field === 'message') continue;
        const { [field]: _, ...rest } = message;
        assert.equal(schema.safeParse(rest).success, false, `${at} without ${field}`);
        refused++;
      }
    }
    assert.ok(refused > 60);
  });
});

function holdsBySchema(message: Record<string, unknown>): boolean {
  const type = message['type'];
  const known = typeof type === 'string' && Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type] : undefined;
  return (known ?? envelope).safeParse(message).success;
}

/** The message with one or two of its values, at any depth, dropped, replaced, wrapped or added. */
function mutate(message: Json, random: SeededRandom): Json {
  let mutant = message;
  for (let changes = random.chance(0.3) ? 2 : 1; changes > 0; changes--) mutant = change(mutant, random, 0);
  return mutant;
}

function change(value: Json, random: SeededRandom, depth: number): Json {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.7)) {
    const index = random.below(value.length);
    const rest = value.slice();
    if (random.chance(0.2)) rest.splice(index, 1);
    else rest[index] = change(rest[index] as Json, random, depth + 1);
    return rest;
  }
  if (isObject(value) && (depth === 0 || random.chance(0.7))) return changeObject(value, random, depth);
  return replacement(value, random);
}

function changeObject(value: { [key: string]: Json }, random: SeededRandom, depth: number): Json {
  const keys = Object.keys(value);
  const changed: { [key: string]: Json } = { ...value };
  if (keys.length === 0 || random.chance(0.25)) {
    define(changed, random.pick(FIELDS), replacement('x', random));
    return changed;
  }
  const key = random.pick(keys);
  if (random.chance(0.2)) delete changed[key];
  else define(changed, key, change(value[key] as Json, random, depth + 1));
  return changed;
}

/** As JSON.parse does it: an assignment to `__proto__` would change the prototype instead. */
function define(object: { [key: string]: Json }, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function replacement(value: Json, random: SeededRandom): Json {
  switch (random.below(6)) {
    case 0:
      return [value];
    case 1:
      return { value };
    case 2:
      return typeof value === 'string'
        ? value + random.pick(['\n', ' ', 'é', '\u0000'])
        : JSON.stringify(value);
    default:
      return random.pick(VALUES);
  }
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const TYPES = [...Object.keys(BY_TYPE), ...Object.keys(RUNNER_EVENTS), 'metric_sample', 'constructor', ''];

const FIELDS = [
  ...new Set(fromTools.flatMap((entry) => Object.keys(entry.message))),
  'seq',
  'path',
  'sha256',
  'media_type',
  'id',
  'label',
  'description',
  'constructor',
  'prototype',
  '__proto__',
  'hasOwnProperty',
  'toString',
];

const VALUES: readonly Json[] = [
  null,
  true,
  false,
  '',
  'x',
  'ok',
  'ai',
  'user',
  'info',
  'critical',
  'E_UNKNOWN',
  'E_é',
  '0',
  '2025-08-30T12:34:56Z',
  '2025-08-30T12:34:56.5+00:00',
  'a'.repeat(32),
  '0123456789abcdef',
  'f'.repeat(64),
  'F'.repeat(64),
  'x'.repeat(100_000),
  0,
  -0,
  1,
  -1,
  0.1,
  1.5,
  100,
  100.00000000000001,
  101,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  1e308,
  -1e308,
  5e-324,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  [],
  [[]],
  [null],
  ['x'],
  [{}],
  [{ path: 'a' }, { path: 'b', sha256: 'f'.repeat(64) }],
  [{ id: 'a' }, { id: 'b', label: '' }],
  {},
  { constructor: 1 },
  { constructor: {} },
  JSON.parse('{"__proto__":{"v":1}}') as Json,
  { path: 'a' },
  ...TYPES,
];
