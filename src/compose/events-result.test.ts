import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { eventsResult } from './events-result.ts';
import { runNotes } from './fixtures/run-notes.ts';
import {
  AppError,
  type CliApp,
  callOperation,
  defineOperation,
  type EventsResult,
  type Operation,
  type StreamEnd,
} from './index.ts';
import { LineQueue } from './line-queue.ts';

const line = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);

/** Counts to three. The result is in `seen`. */
function counting(seen: string[]): EventsResult<{ how: string }> {
  async function* count(): AsyncGenerator<Uint8Array, 'done' | 'left'> {
    try {
      for (const n of [1, 2, 3]) {
        seen.push(`yields ${n}`);
        yield line({ n });
      }
      return 'done';
    } finally {
      seen.push('closed');
    }
  }
  return eventsResult(count(), {
    stream: true,
    left: 'left',
    end: async (how): Promise<StreamEnd<{ how: string }>> => ({
      answer: { kind: 'data', data: { how } },
    }),
  });
}

const described = {
  summary: 'Does something.',
  effect: 'reads' as const,
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output: z.unknown(),
  example: 'app do',
};

const app: CliApp<undefined> = {
  name: 'app',
  version: '1',
  summary: 'An application.',
  routes: [],
  errorInfo: () => undefined,
  openContext: () => undefined,
};

function call(run: Operation<undefined>['run'], extra: object = {}) {
  const op = defineOperation<undefined, z.ZodObject, z.ZodType>({ ...described, name: 'thing.do', run });
  const { signal } = new AbortController();
  return callOperation(app, op, {}, { context: undefined, cwd: '/', env: {}, signal, ...extra });
}

describe('a result of events', () => {
  it('ends as what it follows does, once the events are read', async () => {
    const seen: string[] = [];
    const result = counting(seen);
    const lines: string[] = [];
    for await (const chunk of result.events) lines.push(Buffer.from(chunk).toString());
    assert.deepEqual(lines, ['{"n":1}\n', '{"n":2}\n', '{"n":3}\n']);
    assert.deepEqual((await result.ended()).answer, { kind: 'data', data: { how: 'done' } });
  });

  it('is followed to its end for a caller that reads no events', async () => {
    const seen: string[] = [];
    assert.deepEqual((await counting(seen).ended()).answer, { kind: 'data', data: { how: 'done' } });
    assert.deepEqual(seen, ['yields 1', 'yields 2', 'yields 3', 'closed']);
  });

  it('yields no more than is read, and closes what it follows when the reader leaves', async () => {
    const seen: string[] = [];
    const result = counting(seen);
    for await (const _ of result.events) break;
    assert.deepEqual((await result.ended()).answer, { kind: 'data', data: { how: 'left' } });
    assert.deepEqual(seen, ['yields 1', 'closed']);
  });

  it('ends once, however often it is asked how', async () => {
    let ends = 0;
    const result = eventsResult((async function* () {})(), {
      stream: true,
      left: undefined,
      end: async (): Promise<StreamEnd<number>> => ({ answer: { kind: 'data', data: ++ends } }),
    });
    assert.deepEqual(
      await Promise.all([result.ended(), result.ended()]).then((all) => all[0] === all[1]),
      true,
    );
    assert.equal(ends, 1);
  });
});

describe('a call of an operation', () => {
  it('answers data', async () => {
    const next = [{ command: 'app go', why: 'Go on.' }];
    const envelope = await call(async () => ({ kind: 'data', data: { a: 1 }, next }));
    assert.deepEqual([envelope.ok && envelope.data, envelope.meta.next], [{ a: 1 }, next]);
  });

  it('answers the data of a document, and hands its text on', async () => {
    const texts: string[] = [];
    const onDocument = (text: string) => void texts.push(text);
    const envelope = await call(async () => ({ kind: 'document', document: '# A', data: { a: 1 } }), {
      onDocument,
    });
    assert.deepEqual([envelope.ok && envelope.data, texts], [{ a: 1 }, ['# A']]);
  });

  it('hands events on while they come, and answers how they ended', async () => {
    const got: unknown[] = [];
    const onEvents = (lines: Uint8Array) => {
      got.push(JSON.parse(Buffer.from(lines).toString()));
      return 'more';
    };
    const envelope = await call(async () => counting([]), { onEvents });
    assert.deepEqual(got, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    assert.deepEqual(envelope.ok && envelope.data, { how: 'done' });
  });

  it('stops reading when it has enough, and reads nothing when no one wants events', async () => {
    const enough = await call(async () => counting([]), { onEvents: () => 'enough' });
    assert.deepEqual(enough.ok && enough.data, { how: 'left' });
    const unread = await call(async () => counting([]));
    assert.deepEqual(unread.ok && unread.data, { how: 'done' });
  });

  it('answers a failure with its data, whether it is returned, thrown or the end of events', async () => {
    const error = new AppError('E_BROKEN', 'It broke.');
    const returned = await call(async () => ({ kind: 'failure', error, data: { a: 1 } }));
    assert.deepEqual(!returned.ok && [returned.error.code, returned.error.details], ['E_BROKEN', { a: 1 }]);
    const thrown = await call(async () => {
      throw error;
    });
    assert.equal(!thrown.ok && thrown.error.code, 'E_BROKEN');
    const ended = await call(async () => ({
      ...counting([]),
      ended: async () => ({ answer: { kind: 'failure', error } }),
    }));
    assert.equal(!ended.ok && ended.error.code, 'E_BROKEN');
  });
});

describe('a command that has events', () => {
  it('copies them to stdout as they are, and ends with the exit code of their end', async () => {
    const { stdout, stderr, exit } = await runNotes(['watch']);
    assert.deepEqual([stdout, exit], ['{"note":"n-1"}\n{"note":"n-2"}\n', 2]);
    assert.equal(stderr, 'two notes\nnotes add more\n', 'what the events do not say');
  });

  it('answers with one envelope where the caller wants no stream', async () => {
    const { stdout, stderr, exit } = await runNotes(['watch', '--no-stream']);
    const { ok, data, meta } = JSON.parse(stdout);
    assert.deepEqual([ok, data, meta.next, exit, stderr], [true, { seen: 2 }, ['notes add more'], 2, '']);
  });

  it('shows a person the answer where nothing shows the events', async () => {
    const person = { stdoutIsTTY: true, stdinIsTTY: true, env: { NO_COLOR: '1' } };
    assert.match((await runNotes(['watch', '--no-stream'], person)).stdout, /seen +2/);
  });

  it('does the rest of the work before it reports that stdout failed', async () => {
    const { exit, stderr } = await runNotes(['watch'], { stdoutFd: -1 });
    assert.equal(exit, 1);
    assert.match(stderr, /watched to the end/);
  });
});

describe('a queue of lines', () => {
  it('gives its reader what was there before and what comes, and ends', async () => {
    const queue = new LineQueue();
    queue.push({ a: 1 });
    const read = (async () => {
      const lines: string[] = [];
      for await (const each of queue.lines()) lines.push(Buffer.from(each).toString());
      return lines;
    })();
    await Promise.resolve();
    queue.push({ a: 2 });
    queue.end();
    assert.deepEqual(await read, ['{"a":1}\n', '{"a":2}\n']);
  });
});
