import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as z from 'zod';
import { captureCli } from './capture-cli.ts';
import { type CliDefinition, defineCli } from './define-cli.ts';
import { readRate } from './limit-rate.ts';
import { defineOperation, type OperationResult } from './operation.ts';
import type { Hooks } from './strict.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'strict-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** A shelf of books, whose state this process has. */
function shelf(more: Partial<CliDefinition<undefined>> = {}) {
  const books = ['Emma', 'Ulysses'];
  const calls: string[] = [];
  const add = defineOperation({
    name: 'book.add',
    summary: 'Add a book.',
    effect: 'writes',
    idempotent: false,
    rateLimit: null,
    input: z.object({ title: z.string().describe('Its title.') }),
    output: z.object({ count: z.int() }),
    positionals: ['title'],
    example: 'shelf add Emma',
    async run({ title }) {
      calls.push(`add ${title}`);
      if (title === 'bad') throw new Error('no room');
      books.push(title);
      return { kind: 'data', data: { count: books.length } };
    },
  });
  const drop = defineOperation({
    name: 'book.drop',
    summary: 'Remove the books with a letter.',
    effect: 'destroys',
    idempotent: true,
    rateLimit: null,
    input: z.object({
      letter: z.string().describe('The letter.'),
      dry_run: z.boolean().default(false).describe('Only list them.'),
    }),
    output: z.object({ dropped: z.array(z.string()) }),
    example: 'shelf drop --letter m',
    async run({ letter, dry_run }) {
      calls.push(`drop${dry_run ? ' dry' : ''}`);
      const dropped = books.filter((title) => title.includes(letter));
      if (!dry_run) for (const title of dropped) books.splice(books.indexOf(title), 1);
      return { kind: 'data', data: { dropped } };
    },
  });
  const list = defineOperation({
    name: 'book.list',
    summary: 'List the books.',
    effect: 'reads',
    idempotent: true,
    rateLimit: '2/h',
    input: z.object({ wrong: z.boolean().default(false).describe('Answer nonsense.') }),
    output: z.object({ books: z.array(z.string()) }),
    example: 'shelf list',
    run: async ({ wrong }) => ({ kind: 'data', data: { books: wrong ? (7 as never) : books } }),
  });
  const cli = defineCli({
    name: 'shelf',
    version: '1.0.0',
    summary: 'Keeps books.',
    commands: { add, drop, list },
    ...more,
  });
  const state = mkdtempSync(join(folder, 'state-'));
  const call = async (...argv: string[]) => {
    const { exit, stdout } = await captureCli(cli, argv, { env: { XDG_STATE_HOME: state } });
    return { exit, ...JSON.parse(stdout) };
  };
  return { cli, call, calls, books, state };
}

describe('a rate limit', () => {
  it('refuses the call beyond it, says when to call again, and counts the calls of all processes', async () => {
    const { call, state } = shelf();
    assert.equal((await call('list')).ok, true);
    assert.equal((await call('list')).ok, true);
    const { exit, error } = await call('list');
    assert.deepEqual([exit, error.code, error.retryable], [1, 'E_RATE_LIMIT', true]);
    assert.match(error.hint, /^Call it again in \d+ s\.$/);
    // As another process left it an hour ago.
    const file = join(state, 'shelf', 'rates', 'book.list.json');
    const times: number[] = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify(times.map((at) => at - 3_600_000)));
    assert.equal((await call('list')).ok, true);
  });

  it('is read in the usual words', () => {
    assert.deepEqual(readRate('60/min'), { calls: 60, windowMs: 60_000 });
    assert.deepEqual(readRate('5/s'), { calls: 5, windowMs: 1000 });
    assert.deepEqual(readRate('1000/day'), { calls: 1000, windowMs: 86_400_000 });
    assert.equal(readRate('often'), undefined);
  });
});

describe('a plan', () => {
  it('has a token, and is done exactly or not at all', async () => {
    const { call, books } = shelf();
    const planned = await call('drop', '--letter', 'm', '--dry-run');
    assert.deepEqual(planned.data, { dropped: ['Emma'] });
    assert.deepEqual(planned.meta.next, [`shelf drop --letter m --plan ${planned.meta.plan}`]);
    books.push('Emmeline');
    const { exit, error } = await call('drop', '--letter', 'm', '--plan', planned.meta.plan);
    assert.deepEqual([exit, error.code], [1, 'E_CONFLICT']);
    assert.deepEqual(error.details.would, { dropped: ['Emma', 'Emmeline'] });
    assert.deepEqual(books, ['Emma', 'Ulysses', 'Emmeline']);
    const done = await call('drop', '--letter', 'm', '--plan', error.details.plan);
    assert.deepEqual([done.ok, books], [true, ['Ulysses']]);
  });
});

describe('an idempotency key', () => {
  it('does a call once, answers its repetition alike, and refuses another input', async () => {
    const { call, calls } = shelf();
    const first = await call('add', 'Dune', '--idempotency-key', 'k1');
    const again = await call('add', 'Dune', '--idempotency-key', 'k1');
    assert.deepEqual([first.data, again.data, calls], [{ count: 3 }, { count: 3 }, ['add Dune']]);
    assert.match(again.meta.warnings[0], /nothing was done/);
    assert.equal((await call('add', 'Other', '--idempotency-key', 'k1')).error.code, 'E_CONFLICT');
    assert.equal((await call('add', 'Other', '--idempotency-key', 'k2')).data.count, 4);
  });

  it('forgets a call that failed, and does not repeat one that was killed', async () => {
    const { call, calls, state } = shelf();
    assert.equal((await call('add', 'bad', '--idempotency-key', 'k')).error.code, 'E_UNKNOWN');
    assert.equal((await call('add', 'bad', '--idempotency-key', 'k')).error.code, 'E_UNKNOWN');
    assert.deepEqual(calls, ['add bad', 'add bad']);
    await call('add', 'Dune', '--idempotency-key', 'killed');
    const keys = join(state, 'shelf', 'keys');
    const file = join(keys, readdirSync(keys)[0]!);
    const { answer: _, ...kept } = JSON.parse(readFileSync(file, 'utf8'));
    const gone = spawnSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).stdout;
    writeFileSync(file, JSON.stringify({ ...kept, owner: { ...kept.owner, pid: Number(gone) } }));
    const { error } = await call('add', 'Dune', '--idempotency-key', 'killed');
    assert.equal(error.code, 'E_OUTCOME_UNKNOWN');
    assert.ok(error.hint.includes(file));
    // The control: the caller that began lives, so that its answer may still come.
    writeFileSync(file, JSON.stringify(kept));
    const { error: waiting } = await call('add', 'Dune', '--idempotency-key', 'killed');
    assert.deepEqual([waiting.code, waiting.class, waiting.retryable], ['E_CONFLICT', 'retryable', true]);
    assert.match(waiting.action, /repeat the call/);
    assert.doesNotMatch(waiting.action, /do not retry/);
  });
});

describe('the answer of an operation', () => {
  it('fits its schema, or is a failure', async () => {
    const { call } = shelf();
    const { error } = await call('list', '--wrong');
    assert.equal(error.code, 'E_RESULT_INVALID');
    assert.match(error.message, /book\.list.*: books: /);
  });
});

describe('hooks', () => {
  it('see each call with its outcome, may refuse it, and the context is closed behind them', async () => {
    const seen: string[] = [];
    const { call } = shelf({
      hooks: {
        before({ operation, input }) {
          seen.push(`before ${operation} ${JSON.stringify(input)}`);
          if (input['title'] === 'secret')
            throw Object.assign(new Error('not this one'), { code: 'E_CONFLICT' });
        },
        after: ({ operation }, { ok, code }) => void seen.push(`after ${operation} ${ok} ${code}`),
      },
      close: () => void seen.push('closed'),
    });
    await call('add', 'Dune');
    await call('add', 'bad');
    assert.equal((await call('add', 'secret')).error.code, 'E_CONFLICT');
    assert.deepEqual(seen, [
      'before book.add {"title":"Dune"}',
      'after book.add true undefined',
      'closed',
      'before book.add {"title":"bad"}',
      'after book.add false E_UNKNOWN',
      'closed',
      'before book.add {"title":"secret"}',
      'closed',
    ]);
  });

  it('get the code of the answer, once for each call, whatever is thrown', async () => {
    const codes: unknown[] = [];
    const after: Hooks<undefined>['after'] = (_, { code }) => void codes.push(code);
    const stopped = new AbortController();
    stopped.abort();
    const thrown = [
      null,
      Object.assign(new Error('gone'), { code: 'ENOENT' }),
      stopped.signal.reason,
      Object.assign(new Error('mine'), { code: 'E_CONFLICT' }),
    ];
    for (const each of thrown) {
      const { error } = await failing(each, { after }, stopped.signal);
      assert.equal(codes.pop(), error.code);
      assert.deepEqual(codes, []);
    }
    const cancelled = await failing(stopped.signal.reason, {}, stopped.signal);
    assert.equal(cancelled.error.code, 'E_CANCELLED');
    assert.equal((await failing(null)).error.message, 'shelf failed unexpectedly: null');
  });

  it('are not called again when `after` throws', async () => {
    let calls = 0;
    const after = () => {
      calls++;
      throw new Error('the hook failed');
    };
    const { call } = shelf({ hooks: { after } });
    assert.match((await call('add', 'Dune')).error.message, /the hook failed/);
    assert.equal(calls, 1);
  });

  it('see the end of events that fail', async () => {
    const seen: unknown[] = [];
    const events = { kind: 'events' as const, stream: true, events: noEvents() };
    const hooks: Hooks<undefined> = { after: (_, { ok, code }) => void seen.push([ok, code]) };
    const ended = () => Promise.reject(new Error('lost'));
    await failing(undefined, hooks, undefined, { ...events, ended });
    assert.deepEqual(seen, [[false, 'E_UNKNOWN']]);
  });
});

async function* noEvents(): AsyncGenerator<Uint8Array> {}

/** The answer of a command that throws, or has a result. */
async function failing(
  thrown: unknown,
  hooks: Hooks<undefined> = {},
  signal = new AbortController().signal,
  result?: OperationResult<{ count: number }>,
) {
  const add = defineOperation({
    name: 'book.add',
    summary: 'Add a book.',
    effect: 'reads',
    idempotent: true,
    rateLimit: null,
    input: z.object({}),
    output: z.object({ count: z.int() }),
    example: 'shelf add',
    async run() {
      if (result === undefined) throw thrown;
      return result;
    },
  });
  const app = defineCli({
    name: 'shelf',
    version: '1.0.0',
    summary: 'Keep books.',
    commands: { add },
    hooks,
  });
  return JSON.parse((await captureCli(app, ['add'], { signal })).stdout);
}
