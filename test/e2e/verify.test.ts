import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verifyAll, verifyRun } from '../../src/core/audit/verify.ts';
import { verifyLedger } from '../../src/core/audit/verify-ledger.ts';
import type { VerifyProblem } from '../../src/core/audit/verify-problem.ts';
import { FileRunStore } from '../../src/core/store-files/file-run-store.ts';
import { sha256 } from '../../src/core/store-files/ledger-line.ts';
import { commandOf } from '../../src/operations/command-forms.ts';
import { processesOf, TestProject, until } from '../support/project.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.ACOR_TEST_SEED ?? Date.now() % 2 ** 31);
const CASES = 150;

/** One small change of a file; undefined when it would change nothing. */
type Change = (bytes: Buffer, random: SeededRandom) => Buffer | undefined;

const BYTE_CHANGES: Record<string, Change> = {
  changed(bytes, random) {
    const changed = Buffer.from(bytes);
    const at = random.below(bytes.length);
    changed[at] = changed[at]! ^ (1 + random.below(255));
    return changed;
  },
  added(bytes, random) {
    const at = random.below(bytes.length + 1);
    const byte = random.chance(0.5) ? random.pick([10, 32, 34, 48, 125]) : random.below(256);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
  },
  removed(bytes, random) {
    const at = random.below(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
  },
  reordered(bytes, random) {
    const at = random.below(bytes.length - 1);
    if (bytes[at] === bytes[at + 1]) return undefined;
    const changed = Buffer.from(bytes);
    [changed[at], changed[at + 1]] = [bytes[at + 1]!, bytes[at]!];
    return changed;
  },
};

const LINE_CHANGES: Record<string, Change> = {
  removed: (bytes, random) => changeLines(bytes, random, (lines, at) => lines.toSpliced(at, 1)),
  repeated: (bytes, random) => changeLines(bytes, random, (lines, at) => lines.toSpliced(at, 0, lines[at]!)),
  reordered: (bytes, random) =>
    changeLines(bytes, random, (lines, at) =>
      at + 1 === lines.length ? lines : lines.toSpliced(at, 2, lines[at + 1]!, lines[at]!),
    ),
  'cut off, with all after it,': (bytes, random) =>
    changeLines(bytes, random, (lines, at) => lines.slice(0, at)),
};

describe('an output that a later run has replaced', () => {
  it('is no difference, until another process changes it', async () => {
    using project = new TestProject({ config: 'version: 1\n' });
    project.write('tools/writes/cli.sh', '#!/bin/sh\nprintf %s "$4" >"$2"\n', 0o755);
    const inputs = [
      { name: 'to', type: 'path', access: 'write' },
      { name: 'text', type: 'string' },
    ];
    project.write('tools/writes/tool.yaml', JSON.stringify({ name: 'writes', inputs }));
    for (const text of ['one', 'two', 'three']) {
      const { data } = await project.envelope([
        'run',
        'writes',
        '--to',
        'out.txt',
        '--text',
        text,
        '--no-stream',
      ]);
      assert.equal(data?.artifacts.length, 1, JSON.stringify(data));
    }
    const [first] = project.runIds();
    for (const args of [[first!], []])
      assert.equal((await project.envelope(['verify', ...args])).ok, true, args.join());
    project.write('out.txt', 'other');
    const all = await project.envelope(['verify']);
    assert.equal(all.error?.code, 'E_INTEGRITY');
    const shown = await project.acor(['verify', '--format', 'text']);
    assert.equal(shown.stderr.match(/out\.txt/g)!.length >= 3, true, shown.stderr);
  });
});

describe(`verify (seed ${SEED})`, () => {
  let project: TestProject;
  let store: FileRunStore;
  const ids: Record<string, string> = {};
  before(async () => {
    project = new TestProject({ tools: ['right_hash', 'many_events', 'quick', 'steps'] });
    store = new FileRunStore(project.runsDir, commandOf);
    ids.long = String((await project.run(['many_events', '400'])).end.run_id);
    ids.short = String((await project.run(['right_hash'])).end.run_id);
    ids.resumed = String((await project.run(['steps', '--how', 'fails'])).end.run_id);
    for (let i = 0; i < 4; i++) await project.run(['quick']);
    await project.acor(['resume', ids.resumed]);
  });
  after(() => project[Symbol.dispose]());

  const eventsOf = (runId: string) => store.layout(runId).events;
  const problemsOf = async (runId: string) => [
    ...(await verifyRun(store, runId)).problems,
    ...verifyLedger(store),
  ];

  it('reports nothing when nothing was changed', async () => {
    assert.deepEqual(
      (await Array.fromAsync(verifyAll(store))).map(({ ok, sealed, note }) => [ok, sealed, note]),
      [...Array.from({ length: 7 }, () => [true, true, null])],
    );
    assert.deepEqual(verifyLedger(store), []);
    const { events, sealed_events } = await verifyRun(store, ids.resumed!);
    assert.equal(sealed_events, events);
    assert.equal(project.events(ids.resumed!).filter(({ type }) => type === 'runner_end').length, 2);
  });

  for (const [key, forged] of [
    ['state', 'failed'],
    ['code', 'E_TIMEOUT'],
    ['rc', 9],
    ['duration_s', 1e6],
    ['attempt', 7],
    ['tool', 'another'],
    ['args', ['--other']],
    ['message', 'all is well'],
    ['cost', { usd: 0, source: 'reported' }],
    ['isolation', { backend: 'container', tier: 1 }],
    ['cwd', '/elsewhere'],
    ['tool_version', '9.9.9'],
    ['tool_digest', 'f'.repeat(64)],
  ] as const)
    it(`finds a forged ${key} in the record`, async () => {
      const { metadata } = store.layout(ids.short!);
      const kept = readFileSync(metadata, 'utf8');
      try {
        writeFileSync(metadata, JSON.stringify({ ...JSON.parse(kept), [key]: forged }));
        const { problems } = await verifyRun(store, ids.short!);
        assert.deepEqual(
          problems.map(({ where, path }) => [where, path]),
          [['record', metadata]],
        );
        assert.match(problems[0]!.problem, new RegExp(`it has ${key}`));
      } finally {
        writeFileSync(metadata, kept);
      }
    });

  for (const [what, change] of Object.entries(BYTE_CHANGES)) {
    it(`finds one ${what} byte anywhere in an event log, and reports its place`, async () => {
      for (const which of ['long', 'short', 'resumed']) {
        const runId = ids[which]!;
        await eachChange(eventsOf(runId), change, async (place) => {
          const { ok, problems } = await verifyRun(store, runId);
          assert.equal(ok, false);
          assert.ok(problems.some(names(eventsOf(runId), place)), JSON.stringify(problems));
        });
      }
    });

    it(`finds one ${what} byte anywhere in the ledger, and reports its place`, async () => {
      const path = join(project.runsDir, 'ledger.jsonl');
      await eachChange(path, change, (place) => {
        const problems = verifyLedger(store);
        assert.ok(problems.some(names(path, place)), JSON.stringify(problems));
      });
    });

    it(`finds one ${what} byte of an artifact, and reports the artifact`, async () => {
      const end = project.events(ids.short!).at(-1) as unknown as { artifacts: { path: string }[] };
      assert.ok(end.artifacts.length > 0);
      for (const { path } of end.artifacts) {
        await eachChange(path, change, async () => {
          const { problems } = await verifyRun(store, ids.short!);
          assert.deepEqual(
            problems.map((problem) => [problem.where, problem.path]),
            [['artifact', path]],
          );
        });
      }
    });
  }

  for (const [what, change] of Object.entries(LINE_CHANGES)) {
    it(`finds a line that was ${what} in an event log or the ledger, and reports its place`, async () => {
      for (const path of [
        eventsOf(ids.long!),
        eventsOf(ids.resumed!),
        join(project.runsDir, 'ledger.jsonl'),
      ]) {
        const runId = path.includes(ids.long!) ? ids.long! : ids.resumed!;
        await eachChange(path, change, async (place) => {
          const problems = await problemsOf(runId);
          assert.ok(problems.some(names(path, place)), JSON.stringify(problems));
        });
      }
    });
  }

  it('also reports a place in the last event, which only the ledger covers', async () => {
    const path = eventsOf(ids.short!);
    const kept = readFileSync(path, 'utf8');
    writeFileSync(path, kept.replace(/"duration_s":\d/, '"duration_s":9'));
    const [problem] = (await verifyRun(store, ids.short!)).problems;
    writeFileSync(path, kept);
    assert.match(problem!.problem, /not the one that was entered in the ledger/);
    assert.equal(problem!.line, kept.trimEnd().split('\n').length);
    const withoutLedger = await verifyRun(store, ids.short!, () => []);
    assert.equal(withoutLedger.ok, true);
  });

  it('finds a chain that was forged from one line on, when a later line is the original', () => {
    const path = join(project.runsDir, 'ledger.jsonl');
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    // A forger who knows the format writes a matching hash into the changed line.
    const forged = rehashed({ ...JSON.parse(lines[1]!), state: 'failed' });
    const kept = readFileSync(path);
    writeFileSync(path, `${lines.toSpliced(1, 1, forged).join('\n')}\n`);
    const [problem] = verifyLedger(store);
    writeFileSync(path, kept);
    assert.deepEqual([problem!.line, /line 2 was changed/.test(problem!.problem)], [3, true]);
  });

  it('reports a run whose line was removed from the ledger', () => {
    const path = join(project.runsDir, 'ledger.jsonl');
    const kept = readFileSync(path, 'utf8');
    const last = JSON.parse(kept.trimEnd().split('\n').at(-1)!);
    // The chain itself does not reveal that its end is missing.
    writeFileSync(path, `${kept.trimEnd().split('\n').slice(0, -2).join('\n')}\n`);
    const problems = verifyLedger(store);
    writeFileSync(path, kept);
    assert.equal(last.run_id, ids.resumed);
    assert.deepEqual(
      problems.map(({ problem }) => /not in the ledger/.test(problem)),
      [true, true],
    );
    assert.deepEqual(verifyLedger(store), []);
  });

  async function eachChange(
    path: string,
    change: Change,
    check: (place: number) => void | Promise<void>,
  ): Promise<void> {
    const random = new SeededRandom(SEED);
    const kept = readFileSync(path);
    try {
      for (let i = 0; i < CASES; i++) {
        const changed = change(kept, random);
        if (changed === undefined || changed.equals(kept)) continue;
        writeFileSync(path, changed);
        await check(firstDifference(kept, changed));
      }
    } finally {
      writeFileSync(path, kept);
    }
  }
});

describe('verify of a run that lost its supervisor', () => {
  let project: TestProject;
  let store: FileRunStore;
  before(async () => {
    project = new TestProject({ tools: ['waits', 'quick'] });
    store = new FileRunStore(project.runsDir, commandOf);
  });
  after(() => project[Symbol.dispose]());

  /** Starts a command, and kills its supervisor while the tool runs. */
  async function killedRun(args: readonly string[]): Promise<string> {
    const running = project.start(args);
    const runId = String((await running.event('heartbeat')).run_id);
    running.child.kill('SIGKILL');
    await running.finished;
    await until(() => processesOf(runId).length === 0);
    return runId;
  }

  const ask = async (runId: string) => {
    const { data, meta } = await project.envelope(['verify', runId]);
    return { ...data?.runs[0], next: meta.next };
  };

  it('reports up to which event it is sealed, and how to seal the rest', async () => {
    const runId = await killedRun(['run', 'waits']);
    const cut = await ask(runId);
    assert.deepEqual([cut.ok, cut.sealed, cut.sealed_events], [true, false, 0]);
    assert.ok(cut.events >= 4);
    assert.match(cut.note, /is lost: its supervisor is gone\. No event is sealed yet/);
    assert.deepEqual(cut.next, ['acor health --fix']);

    await project.acor(['health', '--fix']);
    const ended = await ask(runId);
    assert.deepEqual([ended.ok, ended.sealed, ended.sealed_events], [true, true, ended.events]);
    assert.match(
      ended.note,
      /events from 1 on died before it sealed them\. Recovery sealed them with event \d+:/,
    );
    assert.equal(ended.next, undefined);

    await killedRun(['resume', runId, '--force']);
    const again = await ask(runId);
    assert.deepEqual([again.ok, again.sealed, again.sealed_events], [true, false, ended.events]);
    assert.match(
      again.note,
      new RegExp(`verified up to event ${ended.events}; of the \\d+ after that only the order`),
    );

    // A seal covers the earlier part, none covers the rest: the note says so.
    const { events: path } = store.layout(runId);
    const kept = readFileSync(path, 'utf8');
    writeFileSync(path, kept.replace('"tool":"waits"', '"tool":"wants"'));
    assert.equal((await verifyRun(store, runId)).ok, false);
    const lastTime = kept.lastIndexOf('"ts":"2');
    writeFileSync(path, `${kept.slice(0, lastTime)}"ts":"3${kept.slice(lastTime + 7)}`);
    assert.equal((await verifyRun(store, runId)).ok, true);
    writeFileSync(path, kept);
    assert.deepEqual(verifyLedger(store), []);
  });

  it('treats a torn last line neither as complete nor as tampering', async () => {
    const runId = await killedRun(['run', 'waits']);
    const { events: path } = store.layout(runId);
    const whole = await verifyRun(store, runId);
    const torn = '{"v":1,"type":"heartb';
    appendFileSync(path, torn);
    const cut = await ask(runId);
    assert.deepEqual([cut.ok, cut.events], [true, whole.events]);
    assert.match(cut.note, new RegExp(`The last line is torn: its ${torn.length} bytes`));
    await project.acor(['health', '--fix']);
    assert.doesNotMatch(readFileSync(path, 'utf8'), /heartb$|heartb\{/m);
    assert.deepEqual([(await ask(runId)).ok, (await ask(runId)).sealed], [true, true]);
    // The same bytes behind the end of a sealed run are an error.
    appendFileSync(path, torn);
    assert.match((await verifyRun(store, runId)).problems[0]!.problem, /has no end/);
    writeFileSync(path, readFileSync(path).subarray(0, -torn.length));
  });

  it('reports that a live run is not sealed yet', async () => {
    const running = project.start(['run', 'waits']);
    const runId = String((await running.event('heartbeat')).run_id);
    const going = await ask(runId);
    assert.deepEqual([going.ok, going.sealed, going.sealed_events], [true, false, 0]);
    assert.match(going.note, /is live\. No event is sealed yet/);
    running.child.kill('SIGINT');
    await running.finished;
    assert.equal((await ask(runId)).note, null);
  });

  it('does not report a resumed run as changed', async () => {
    const runId = await killedRun(['run', 'waits']);
    await project.acor(['show', runId]);
    const running = project.start(['resume', runId, '--force']);
    await running.event('heartbeat');
    const { code, data } = await project.envelope(['verify']);
    assert.deepEqual([code, data?.ledger], [0, []]);
    running.child.kill('SIGINT');
    await running.finished;
    assert.equal((await project.envelope(['verify'])).code, 0);
  });
});

/** Whether a problem reports the place of the first byte that differs. Removed bytes were at the end of the place at the latest. */
function names(path: string, place: number): (problem: VerifyProblem) => boolean {
  const size = readFileSync(path).length;
  return (problem) =>
    problem.path === path &&
    problem.from !== undefined &&
    problem.to !== undefined &&
    problem.from <= place &&
    (place < problem.to || (place === size && place === problem.to));
}

function firstDifference(one: Buffer, other: Buffer): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return at;
  return length;
}

function changeLines(
  bytes: Buffer,
  random: SeededRandom,
  change: (lines: string[], at: number) => string[],
): Buffer {
  const lines = bytes.toString('utf8').split('\n').slice(0, -1);
  const changed = change(lines, random.below(lines.length));
  return Buffer.from(changed.map((line) => `${line}\n`).join(''));
}

function rehashed({ line_sha256, ...entry }: Record<string, unknown>): string {
  const line = JSON.stringify(entry);
  return `${line.slice(0, -1)},"line_sha256":"${sha256(line)}"}`;
}

describe('a run whose record or log something has changed', () => {
  it('whose log is gone is E_INTEGRITY for each command that needs it, and can be removed', async () => {
    using project = new TestProject({ tools: ['quick'] });
    const runId = String((await project.run(['quick'])).end.run_id);
    rmSync(join(project.runsDir, runId, 'events.jsonl'));
    for (const command of ['show', 'logs', 'wait', 'artifacts', 'replay', 'decisions']) {
      const { error, meta } = await project.envelope([command, runId]);
      assert.deepEqual([error.code, error.class], ['E_INTEGRITY', 'infra_error'], command);
      assert.match(error.message, /the event log of run .* is gone/);
      assert.deepEqual(meta.next, ['acor verify', `acor runs rm ${runId}`]);
    }
    assert.equal((await project.envelope(['runs'])).data.runs[0].unverified, 'the event log is gone');
    assert.equal((await project.envelope(['runs', 'rm', runId])).ok, true);
    assert.equal((await project.envelope(['verify'])).data.ok, true);
  });

  it('is not presented as fact by the commands that read it', async () => {
    using project = new TestProject({ tools: ['quick', 'exits_with'] });
    const failed = String((await project.run(['exits_with', '7'])).end.run_id);
    const honest = String((await project.run(['quick'])).end.run_id);
    const at = (name: string) => join(project.runsDir, failed, name);
    const read = async (...args: string[]) => {
      const { data, meta } = await project.envelope(args);
      return { data, warned: (meta.warnings ?? []).filter((each: string) => each.includes('is unverified')) };
    };
    const all = [
      ['show', failed],
      ['logs', failed],
      ['wait', failed],
      ['attach', failed, '--no-stream'],
      ['runs'],
    ];
    for (const args of all) assert.deepEqual((await read(...args)).warned, [], args.join(' '));
    const changes = {
      'metadata.json': (text: string) => text.replace('"state":"failed"', '"state":"completed"'),
      'events.jsonl': (text: string) => text.replace('"rc":7', '"rc":0'),
    };
    for (const [name, change] of Object.entries(changes)) {
      const text = readFileSync(at(name), 'utf8');
      assert.notEqual(change(text), text, name);
      writeFileSync(at(name), change(text));
      for (const args of all) {
        const { warned, data } = await read(...args);
        assert.equal(warned.length, 1, `${name}, ${args.join(' ')}: ${JSON.stringify(data)}`);
        assert.match(
          warned[0],
          new RegExp(`^${failed} is unverified, and what is shown of it may be forged: `),
        );
      }
      assert.equal(typeof (await read('show', failed)).data.unverified, 'string');
      const { runs } = (await read('runs')).data;
      assert.deepEqual(
        runs.map((run: { run_id: string; unverified?: string }) => [
          run.run_id,
          run.unverified !== undefined,
        ]),
        [
          [honest, false],
          [failed, true],
        ],
      );
      writeFileSync(at(name), text);
    }
    assert.deepEqual((await read('show', failed)).warned, []);
    const ledger = join(project.runsDir, 'ledger.jsonl');
    const lines = readFileSync(ledger, 'utf8');
    writeFileSync(
      ledger,
      lines
        .split('\n')
        .filter((line) => !line.includes(failed))
        .join('\n'),
    );
    for (const args of all)
      assert.match((await read(...args)).warned[0], /its end is not in the ledger: the line was removed/);
    writeFileSync(ledger, lines);
    assert.deepEqual((await read('show', failed)).warned, []);
  });
});
