import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Ended, RunFolders, type ToolEvent, ToolProcess } from './tool-process.ts';

/** One SDK, reached through its driver: a small program that does what its first argument says. */
export interface SdkUnderTest {
  language: string;
  driver: readonly string[];
  skip: string | false;
}

/** What the SDK of every language must do (contract §1 to §4, §6). */
export function describeSdk({ language, driver, skip }: SdkUnderTest): void {
  const start = (
    run: RunFolders,
    args: string[],
    env: Record<string, string | undefined> = {},
    stdin?: 'open',
  ) =>
    new ToolProcess([...driver, ...args], { cwd: run.workspace, env: run.env(env), ...(stdin && { stdin }) });
  const finish = (run: RunFolders, args: string[], env: Record<string, string | undefined> = {}) =>
    start(run, args, env).ended;
  const it_ = (title: string, body: (run: RunFolders) => Promise<void>) =>
    it(title, { skip: skip || false }, async () => {
      using run = new RunFolders();
      await body(run);
    });

  describe(`the ${language} SDK`, () => {
    it_('writes every message with its envelope and fields', async (run) => {
      const { code, events } = await finish(run, ['messages']);
      assert.equal(code, 0);
      for (const event of events) {
        assert.equal(event['v'], 1);
        assert.equal(event['run_id'], 'r-test');
        assert.equal(event['trace_id'], '0af7651916cd43dd8448eb211c80319c');
        assert.equal(event['span_id'], 'b7ad6b7169203331');
        assert.match(String(event['ts']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/);
        assert.ok(Math.abs(Date.parse(String(event['ts'])) - Date.now()) < 60_000);
      }
      assert.deepEqual(events.map(withoutEnvelope), [
        { type: 'start', step: 'analyze', args: { input: 'data.json', count: 5 } },
        { type: 'progress', step: 'analyze', pct: 37.5, msg: 'shard 3/8' },
        { type: 'progress', step: 'analyze', pct: 100, msg: '' },
        { type: 'progress', step: 'analyze', pct: 0, msg: '' },
        { type: 'heartbeat', step: 'analyze' },
        {
          type: 'action_required',
          action: 'choose',
          action_id: 'a-1',
          context: { files: 12 },
          blocking: false,
          msg: 'Which "way"?',
        },
        { type: 'log', level: 'info', msg: '42', rows: 7 },
        { type: 'log', level: 'info', msg: 'record', record: { id: 7, name: 'a "b"' } },
        { type: 'task_done', task_id: 't-5', status: 'ok' },
        { type: 'error', code: 'E_RATE_LIMIT', msg: 'slow down', hint: 'wait', retryable: true },
        { type: 'error', code: 'E_UNKNOWN', msg: 'odd', hint: '' },
        { type: 'cancelled', reason: 'cancel-file' },
        { type: 'result', status: 'ok', metrics: { rows: 3 }, data: { list: [1, 'x', null] } },
      ]);
    });

    it_(
      'gives a run outside ACOR a local id and keeps its checkpoints in the current folder',
      async (run) => {
        const bare = {
          RUN_ID: undefined,
          WORKSPACE: undefined,
          CHECKPOINT_DIR: undefined,
          DEADLINE_TS: undefined,
        };
        const saved = await finish(run, ['save', 'stage', '1'], bare);
        assert.match(String(saved.events[0]?.['run_id']), /^r-local-\d+$/);
        assert.ok(readdirSync(join(run.workspace, '.checkpoints')).includes('stage.json'));
        assert.equal(dataOf(await finish(run, ['deadline'], bare)), null);
      },
    );

    it_('reproduces any text', async (run) => {
      const texts = nastyTexts();
      const { events } = await finish(run, ['log', ...texts]);
      assert.deepEqual(
        events.map((event) => event['msg']),
        texts,
      );
    });

    it_('ends quietly when its output has no reader any more', async (run) => {
      const script = '{ "$@"; echo "code $?" >&2; } | head -n 1';
      const { events, stderr } = await new ToolProcess(['sh', '-c', script, 'sh', ...driver, 'flood'], {
        cwd: run.workspace,
        env: run.env(),
      }).ended;
      assert.equal(events.length, 1);
      assert.equal(stderr, 'code 141\n');
    });

    it_('describes a file with its hash and size, and refuses one that cannot be read', async (run) => {
      const path = join(run.workspace, 'report "1".txt');
      writeFileSync(path, 'four\n');
      const { events } = await finish(run, ['artifact', path]);
      const sha256 = createHash('sha256').update('four\n').digest('hex');
      assert.deepEqual(events.at(-1)?.['artifacts'], [{ path, sha256, size: 5 }]);
      for (const unreadable of [join(run.workspace, 'missing.txt'), run.workspace])
        assert.equal(errorOf(await finish(run, ['artifact', unreadable])), 'E_INPUT_NOT_FOUND');
    });

    it_('gets its inputs, checked and of their types', async (run) => {
      const ACOR_INPUTS = JSON.stringify({ who: 'A "b" é', times: 3, loud: true, rate: 1.5 });
      for (const [name, value] of Object.entries(JSON.parse(ACOR_INPUTS)))
        assert.deepEqual(dataOf(await finish(run, ['args', name], { ACOR_INPUTS })), value);
      assert.equal(errorOf(await finish(run, ['args', 'who'])), 'E_USAGE');
      const [, ACOR_INPUTS_1, ACOR_INPUTS_2] = /^(.{12})(.*)$/.exec(ACOR_INPUTS)!;
      const inParts = await finish(run, ['args', 'who'], {
        ACOR_INPUTS_1: ACOR_INPUTS_1!,
        ACOR_INPUTS_2: ACOR_INPUTS_2!,
      });
      assert.equal(dataOf(inParts), 'A "b" é');
    });

    it_('reads a secret and refuses a name that leads out of the folder', async (run) => {
      writeFileSync(join(run.secrets, 'token'), 's3cr:t\n');
      assert.equal(dataOf(await finish(run, ['secret', 'token'])), 's3cr:t');
      assert.equal(errorOf(await finish(run, ['secret', 'other'])), 'E_ENV_MISSING');
      assert.equal(errorOf(await finish(run, ['secret', '../secrets/token'])), 'E_USAGE');
    });

    describe('an error that the tool does not catch', () => {
      it_('becomes the error of the run, with code, message and hint', async (run) => {
        const { code, events, stderr } = await finish(run, ['uncaught', 'token']);
        assert.equal(code, 30, stderr);
        assert.partialDeepStrictEqual(events.at(-1), { type: 'error', code: 'E_ENV_MISSING' });
        assert.match(String(events.at(-1)?.['msg']), /token/);
        assert.match(String(events.at(-1)?.['hint']), /acor secret set token/);
        assert.match(stderr, /token/);
        assert.deepEqual(readdirSync(run.logs), []);
      });

      it_('is left to the language when it is another one', async (run) => {
        const { code, events } = await finish(run, ['uncaught-other']);
        assert.equal(code, 1);
        assert.deepEqual(
          events.filter(({ type }) => type === 'error'),
          [],
        );
      });

      it_('does not follow an error that was reported', async (run) => {
        const { code, events } = await finish(run, ['uncaught-after']);
        assert.notEqual(code, 0);
        assert.deepEqual(
          events.map((event) => event['code']),
          ['E_RATE_LIMIT'],
        );
      });
    });

    it_('reports how much time is left', async (run) => {
      for (const [deadlineTs, expected] of [
        [new Date(Date.now() + 3_600_000).toISOString(), 3600],
        ['2096-02-29T23:59:59Z', (Date.parse('2096-02-29T23:59:59Z') - Date.now()) / 1000],
        ['2001-01-01T00:00:00.250Z', (Date.parse('2001-01-01T00:00:00Z') - Date.now()) / 1000],
      ] as const) {
        const left = Number(dataOf(await finish(run, ['deadline'], { DEADLINE_TS: deadlineTs })));
        assert.ok(Math.abs(left - expected) < 60, `${deadlineTs}: ${left} is not near ${expected}`);
      }
    });

    describe('cancellation', () => {
      it_('exits with 130 and the reason once the cancel file is there', async (run) => {
        const control = await finish(run, ['check-cancel']);
        assert.equal(control.code, 0);
        writeFileSync(run.cancelFile, 'deadline "soon"\n');
        const { code, events } = await finish(run, ['check-cancel']);
        assert.equal(code, 130);
        assert.deepEqual(events.map(withoutEnvelope), [{ type: 'cancelled', reason: 'deadline "soon"' }]);
      });

      it_('ends a question that waits', async (run) => {
        const tool = start(run, ['ask'], {}, 'open');
        await tool.until('action_required');
        writeFileSync(run.cancelFile, '');
        const { code, events } = await tool.ended;
        assert.equal(code, 130);
        assert.equal(events.at(-1)?.['reason'], 'cancel-file');
      });
    });

    describe('the background heartbeat', () => {
      it_('beats with the current step while the tool is busy, and never after the result', async (run) => {
        const tool = start(run, ['heartbeat', '0.05', '1800'], {}, 'open');
        await tool.until('heartbeat', 3);
        tool.closeStdin();
        const { code, events } = await tool.ended;
        assert.equal(code, 0);
        assert.equal(events.find((event) => event.type === 'heartbeat')?.['step'], 'busy');
        assert.equal(events.at(-1)?.type, 'result');
      });

      it_('falls silent when the work has given no sign for too long', async (run) => {
        const { events } = await finish(run, ['hang', '0.1', '1', '2.5']);
        const beats = events.filter((event) => event.type === 'heartbeat').length;
        assert.ok(beats <= 15, `${beats} beats in 2.5 s, though silence was due after 1 s`);
        assert.equal(events.at(-1)?.type, 'result');
      });

      it_('does not hold stdout open when the tool is killed', async (run) => {
        const tool = start(run, ['heartbeat', '0.05', '1800'], {}, 'open');
        await tool.until('heartbeat');
        tool.kill('SIGKILL');
        assert.equal((await tool.ended).signal, 'SIGKILL');
      });
    });

    describe('checkpoints', () => {
      it_('come back as they were saved, with a version that counts up', async (run) => {
        assert.equal(dataOf(await finish(run, ['load', 'migrate'])), null);
        await finish(run, ['save', 'migrate', '3']);
        assert.deepEqual(dataOf(await finish(run, ['load', 'migrate'])), { i: 3, note: 'a "b"\n' });
        const stored = JSON.parse(readFileSync(join(run.checkpoints, 'migrate.json'), 'utf8'));
        assert.deepEqual(Object.keys(stored), ['stage', 'version', 'saved_at', 'data']);
        assert.equal(stored.version, 3);
        assert.ok(!Number.isNaN(Date.parse(stored.saved_at)));
      });

      it_('are never torn by a kill, and what was acknowledged is still there', async (run) => {
        let acknowledged = 0;
        for (let round = 1; round <= 6; round++) {
          const tool = start(run, ['save', 'loop', '100000']);
          await tool.until('progress', 3 * round);
          tool.kill('SIGKILL');
          const { events } = await tool.ended;
          acknowledged = Number(events.at(-1)?.['version']);
          const stored = JSON.parse(readFileSync(join(run.checkpoints, 'loop.json'), 'utf8'));
          assert.ok(
            stored.version >= acknowledged,
            `${stored.version} is on disk, ${acknowledged} was acknowledged`,
          );
        }
        assert.ok(acknowledged > 6);
        await finish(run, ['save', 'loop', '1']);
        assert.ok(Number((await loaded(run, 'loop')).version) > acknowledged);
      });

      it_('count every save when two save at once', async (run) => {
        const [first, second] = await Promise.all([
          finish(run, ['save', 'shared', '20']),
          finish(run, ['save', 'shared', '20']),
        ]);
        assert.deepEqual([first.code, second.code], [0, 0], first.stderr + second.stderr);
        assert.equal((await loaded(run, 'shared')).version, 40);
        assert.deepEqual(readdirSync(run.checkpoints), ['shared.json']);
      });

      it_('take over the lock of a saver that died, of an earlier attempt, or of long ago', async (run) => {
        const lock = join(run.checkpoints, '.stage.lock');
        for (const owner of ['4194305 1 dead\n', `${process.pid} 0 earlier\n`, '']) {
          writeFileSync(lock, owner);
          if (owner === '') utimesSync(lock, 0, 0);
          writeFileSync(join(run.checkpoints, '.stage.77.abcd.tmp'), '{"torn');
          const { code, stderr } = await finish(run, ['save', 'stage', '1']);
          assert.equal(code, 0, stderr);
          assert.deepEqual(readdirSync(run.checkpoints), ['stage.json']);
        }
        assert.equal((await loaded(run, 'stage')).version, 3);
      });

      it_('report a file that is torn or foreign, and leave it alone', async (run) => {
        const path = join(run.checkpoints, 'stage.json');
        const sound = '{"stage":"stage","version":4,"saved_at":"2025-08-30T12:34:56Z","data":{"i":1}}';
        writeFileSync(path, sound);
        assert.deepEqual(dataOf(await finish(run, ['load', 'stage'])), { i: 1 });
        const foreign = ['', sound.slice(0, -1), `${sound}}`, '[]', sound.replace('"stage",', '"other",')];
        for (const text of [...foreign, sound.replace('4', '"4"'), sound.replace(',"data":{"i":1}', '')]) {
          writeFileSync(path, text);
          assert.equal(errorOf(await finish(run, ['load', 'stage'])), 'E_STORAGE', text);
          assert.equal(errorOf(await finish(run, ['save', 'stage', '1'])), 'E_STORAGE', text);
          assert.equal(readFileSync(path, 'utf8'), text);
        }
        writeFileSync(join(run.base, 'elsewhere.json'), sound.replace('"stage",', '"linked",'));
        symlinkSync(join(run.base, 'elsewhere.json'), join(run.checkpoints, 'linked.json'));
        assert.equal(errorOf(await finish(run, ['load', 'linked'])), 'E_STORAGE');
      });

      it_('refuse a stage name that leads out of the folder', async (run) => {
        for (const stage of ['../out', '.hidden', 'a/b', '', 'a b', 'x'.repeat(129)]) {
          assert.equal(errorOf(await finish(run, ['save', stage, '1'])), 'E_USAGE', stage);
          assert.equal(errorOf(await finish(run, ['load', stage])), 'E_USAGE', stage);
        }
      });
    });

    describe('a question', () => {
      it_('carries what the answerer needs', async (run) => {
        const tool = start(run, ['ask', '--default', 'merge', '--timeout', '30'], {}, 'open');
        const question = await tool.until('action_required');
        assert.deepEqual(withoutEnvelope(question), {
          type: 'action_required',
          action: 'choose',
          action_id: 'a-1',
          context: { files: 3 },
          blocking: true,
          options: [{ id: 'merge', label: 'Merge both' }, { id: 'replace' }],
          schema: { type: 'string' },
          default: 'merge',
          timeout_s: 30,
          audience: 'user',
          msg: 'Which way?',
        });
        tool.write(answerLine('a-1', 'replace'));
        assert.equal(dataOf(await tool.ended), 'replace');
      });

      it_('takes texts for its options', async (run) => {
        const tool = start(run, ['ask-texts', 'yes', 'no'], {}, 'open');
        const question = await tool.until('action_required');
        assert.deepEqual(question['options'], [{ id: 'yes' }, { id: 'no' }]);
        tool.write(answerLine('a-1', 'no'));
        assert.equal(dataOf(await tool.ended), 'no');
      });

      it_('is answered by a line on stdin, among lines that are no answer to it', async (run) => {
        for (const answer of ['replace', '', 'two\nlines\n', 7, true, null, { a: ['ä', '😀', '"\\'] }]) {
          const tool = start(run, ['ask'], {}, 'open');
          await tool.until('action_required');
          tool.write(`not json\n{"type":"other"}\n${answerLine('a-9', 'wrong')}${answerLine('a-1', answer)}`);
          assert.deepEqual(dataOf(await tool.ended), answer);
        }
      });

      it_('is answered by a line that comes in pieces', async (run) => {
        const tool = start(run, ['ask'], {}, 'open');
        await tool.until('action_required');
        const line = answerLine('a-1', 'grün');
        for (const piece of line.match(/.{1,9}|\n/g) ?? []) {
          tool.write(piece);
          await new Promise(setImmediate);
        }
        assert.equal(dataOf(await tool.ended), 'grün');
      });

      it_('is answered by a file, also when stdin is at its end', async (run) => {
        const tool = start(run, ['ask']);
        await tool.until('action_required');
        writeAnswer(run, 'a-1', { way: 'replace' });
        assert.deepEqual(dataOf(await tool.ended), { way: 'replace' });
      });

      it_('leaves stdin to a tool that reads records from it', async (run) => {
        const tool = start(run, ['ask-amid-records'], { ACOR_STDIN: 'records' }, 'open');
        await tool.until('action_required');
        tool.write(`{"id":1}\n${answerLine('a-1', 'from a record')}{"id":3}\n`);
        tool.closeStdin();
        writeAnswer(run, 'a-1', 'from the file');
        assert.deepEqual(dataOf(await tool.ended), { answer: 'from the file', lines: 3 });
      });

      it_('that an earlier attempt had answered is not asked again', async (run) => {
        writeAnswer(run, 'a-1', 'replace');
        const { events } = await finish(run, ['ask']);
        assert.deepEqual(
          events.map((event) => event.type),
          ['result'],
        );
        assert.equal(events[0]?.['data'], 'replace');
      });

      it_('does not take the answer to another action of an earlier attempt', async (run) => {
        writeAnswer(run, 'a-1', 'wrong', 'another_action');
        const tool = start(run, ['ask']);
        assert.equal((await tool.until('action_required'))['action_id'], 'a-2');
        writeAnswer(run, 'a-2', 'right', 'choose');
        assert.equal(dataOf(await tool.ended), 'right');
      });

      it_('falls back on its default when no answer arrives in time, and fails without one', async (run) => {
        const [withDefault, without] = await Promise.all([
          finish(run, ['ask', '--default', 'merge', '--timeout', '0.1']),
          finish(run, ['ask', '--timeout', '0.1']),
        ]);
        assert.equal(dataOf(withDefault), 'merge');
        assert.equal(errorOf(without), 'E_ACTION_TIMEOUT');
      });

      it_('fails at once where no one can answer', async (run) => {
        assert.equal(errorOf(await finish(run, ['ask'], { ANSWERS_DIR: undefined })), 'E_ACTION_REQUIRED');
      });

      it_('ends with the deadline', async (run) => {
        const deadlineTs = new Date(Date.now() + 1500).toISOString();
        assert.equal(errorOf(await finish(run, ['ask'], { DEADLINE_TS: deadlineTs })), 'E_DEADLINE');
      });

      it_('outlasts the deadline where waiting stops it, and brings the new one', async (run) => {
        const past = {
          DEADLINE_TS: new Date(Date.now() - 5000).toISOString(),
          ACOR_WAITING_STOPS_DEADLINE: '1',
        };
        const deadline_ts = new Date(Date.now() + 3_600_000).toISOString();
        const isLater = (left: unknown) => Math.abs(Number(left) - 3600) < 60;
        for (const [news, isFitting] of [
          [{ deadline_ts, attempt: 1 }, isLater],
          // An answer of another attempt says nothing of this one's deadline, and none ever brings it forward.
          [{ deadline_ts, attempt: 2 }, (left: unknown) => Number(left) < 0],
          [{ deadline_ts: '2001-01-01T00:00:00.000Z', attempt: 1 }, (left: unknown) => Number(left) > -3600],
        ] as const) {
          const byStdin = start(run, ['ask-deadline'], past, 'open');
          await byStdin.until('action_required');
          byStdin.write(answerLine('a-1', 'merge', news));
          const left = dataOf(await byStdin.ended);
          assert.ok(isFitting(left), `${JSON.stringify(news)}: ${left} by stdin`);
          const byFile = start(run, ['ask-deadline'], past);
          await byFile.until('action_required');
          writeAnswer(run, 'a-1', 'merge', 'choose', news);
          const leftByFile = dataOf(await byFile.ended);
          assert.ok(isFitting(leftByFile), `${JSON.stringify(news)}: ${leftByFile} by file`);
          rmSync(join(run.answers, 'a-1.json'));
        }
      });

      it_('put without waiting can be answered later', async (run) => {
        const tool = start(run, ['bare-question'], {}, 'open');
        const question = await tool.until('action_required');
        writeAnswer(run, String(question['action_id']), ['x']);
        tool.closeStdin();
        const { events } = await tool.ended;
        assert.deepEqual(events.at(-1)?.['data'], { before: null, after: ['x'] });
      });
    });
  });

  async function loaded(run: RunFolders, stage: string): Promise<{ version: number }> {
    return JSON.parse(readFileSync(join(run.checkpoints, `${stage}.json`), 'utf8'));
  }
}

/** A line as the runner writes it on a tool's stdin (contract §4). */
export function answerLine(actionId: string, answer: unknown, news: object = {}): string {
  return `${JSON.stringify({ v: 1, type: 'action_answer', action_id: actionId, answer, ...news })}\n`;
}

/** An answer as the runner leaves it in ANSWERS_DIR. */
export function writeAnswer(
  run: RunFolders,
  actionId: string,
  answer: unknown,
  action?: string,
  news: object = {},
): void {
  const delivered = {
    v: 1,
    type: 'action_answer',
    action_id: actionId,
    ...(action && { action }),
    answer,
    ...news,
  };
  writeFileSync(join(run.answers, `${actionId}.json`), JSON.stringify(delivered, null, 2));
}

function withoutEnvelope(event: ToolEvent): Record<string, unknown> {
  const { v, ts, run_id, trace_id, span_id, ...rest } = event;
  return rest;
}

function dataOf({ events, stderr, code }: Ended): unknown {
  const last = events.at(-1);
  assert.equal(last?.type, 'result', `${JSON.stringify(last)} ${stderr}`);
  assert.equal(code, 0);
  return last?.['data'];
}

function errorOf({ events, stderr }: Ended): unknown {
  const last = events.at(-1);
  assert.equal(last?.type, 'error', `${JSON.stringify(last)} ${stderr}`);
  return last?.['code'];
}

/** Every control character, what shells and JSON treat specially, and 150 texts from a seeded generator. */
function nastyTexts(): string[] {
  const controls = Array.from({ length: 127 }, (_, code) => String.fromCharCode(code + 1)).join('');
  const fixed = [
    controls,
    '',
    '"',
    '\\',
    '\\"',
    '\\\\n',
    '&',
    '\\&',
    '$HOME `id` $(id) !!',
    '%s%n',
    '-n',
    '-e \\n',
    "'",
  ];
  const alphabet = [...controls, ...'"\\"\\&{}[]:,äß€語😀\u2028\u0080\uffff\u{10ffff}'];
  let state = 20250830;
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const drawn = Array.from({ length: 150 }, () =>
    Array.from({ length: random(60) }, () => alphabet[random(alphabet.length)]).join(''),
  );
  return [...fixed, ...drawn, 'long '.repeat(3000)];
}
