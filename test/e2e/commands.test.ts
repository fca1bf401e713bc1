import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { decode } from '@toon-format/toon';
import { ERROR_CODES } from '../../src/protocol/error-codes.ts';
import {
  type Envelope,
  type Event,
  parseLines,
  processesOf,
  type TestProject,
  until,
} from '../support/project.ts';
import { ProjectInProcess } from '../support/project-in-process.ts';

/** Runs a tool to its end and returns the id of the run. */
async function runOf(project: TestProject, ...args: string[]): Promise<string> {
  return String((await project.run(args)).end.run_id);
}

/** A run of `walks` that blocks after its first step, until `go` is called. */
async function standingRun(project: TestProject, count = 3) {
  const folder = `gates-${project.runIds().length}`;
  project.write(`${folder}/empty`, '');
  const running = project.start(['run', 'walks', String(count), folder]);
  const { run_id } = await running.event('progress');
  const go = (step: number) => project.write(`${folder}/go-${step}`, '');
  const goOn = () => {
    for (let step = 1; step <= count; step++) go(step);
  };
  return { running, runId: String(run_id), go, goOn };
}

describe('runs and show', () => {
  let project: ProjectInProcess;
  let ids: string[];
  before(async () => {
    project = new ProjectInProcess({ tools: ['quick', 'exits_with', 'right_hash', 'walks', 'waits'] });
    ids = [
      await runOf(project, 'quick'),
      await runOf(project, 'exits_with', '9'),
      await runOf(project, 'right_hash'),
      await runOf(project, 'quick'),
    ];
  });
  after(() => project[Symbol.dispose]());

  const idsOf = (data: { runs: { run_id: string }[] }) => data.runs.map(({ run_id }) => run_id);

  it('lists the newest first, and filters by tool and state', async () => {
    const newestFirst = [...ids].reverse();
    assert.deepEqual(idsOf((await project.envelope(['runs'])).data), newestFirst);
    const quick = await project.envelope(['runs', '--tool', 'quick']);
    assert.deepEqual(idsOf(quick.data), [ids[3], ids[0]]);
    const failed = await project.envelope(['runs', '--state', 'failed']);
    assert.deepEqual(
      failed.data.runs.map(({ run_id, code }: { run_id: string; code: string }) => [run_id, code]),
      [[ids[1], 'E_TOOL_FAILED']],
    );
    assert.deepEqual((await project.envelope(['runs', '--tool', 'nothing'])).data.runs, []);
  });

  it('pages and picks fields, and reports the total', async () => {
    const { data, meta } = await project.envelope([
      'runs',
      '--limit',
      '2',
      '--offset',
      '1',
      '--fields',
      'run_id',
    ]);
    assert.deepEqual(data, { runs: [{ run_id: ids[2] }, { run_id: ids[1] }] });
    assert.deepEqual([meta.count, meta.total, meta.hasMore], [2, 4, true]);
    const rest = await project.envelope(['runs', '--limit', '2', '--offset', '3']);
    assert.deepEqual([rest.meta.count, rest.meta.total, rest.meta.hasMore ?? false], [1, 4, false]);
    assert.deepEqual(idsOf((await project.envelope(['runs', '--offset', '9'])).data), []);
    for (const bad of ['-1', 'x', '1.5', '']) {
      const { code, error } = await project.envelope(['runs', '--limit', bad]);
      assert.deepEqual([code, error.code], [1, 'E_USAGE'], bad);
    }
    const unknown = await project.envelope(['runs', '--fields', 'rnu_id']);
    assert.deepEqual([unknown.code, unknown.error.code], [1, 'E_USAGE']);
    assert.match(unknown.error.hint, /run_id/);
  });

  it('shows a completed run with its result and its artifacts', async () => {
    const { data, meta } = await project.envelope(['show', ids[2]!]);
    assert.deepEqual([data.state, data.code, data.rc, data.error], ['completed', null, 0, null]);
    assert.equal(data.result.type, 'result');
    assert.deepEqual(
      data.artifacts.map(({ size, media_type }: { size: number; media_type: string }) => [size, media_type]),
      [
        [5, 'text/plain'],
        [5, 'application/json'],
      ],
    );
    assert.equal(meta.next, undefined);
    const { data: listed } = await project.envelope(['artifacts', ids[2]!]);
    assert.deepEqual(listed.artifacts, data.artifacts);
    assert.deepEqual((await project.envelope(['artifacts', ids[0]!])).data.artifacts, []);
  });

  it('shows a failed run with the next commands', async () => {
    const { data, meta, code } = await project.envelope(['show', ids[1]!]);
    assert.deepEqual([code, data.state, data.code, data.rc], [0, 'failed', 'E_TOOL_FAILED', 9]);
    assert.ok(meta.next.includes(`acor logs ${ids[1]}`), String(meta.next));
  });

  it('shows a live run with its progress and its next commands', async () => {
    const { runId, running, goOn } = await standingRun(project);
    const { data, meta } = await project.envelope(['show', runId]);
    assert.deepEqual(
      [data.state, data.progress.step, data.progress.pct, data.result],
      ['running', 'walk', 33, null],
    );
    assert.deepEqual(meta.next, [`acor attach ${runId}`, `acor cancel ${runId}`]);
    const { data: listed } = await project.envelope(['runs', '--state', 'running']);
    assert.deepEqual(idsOf(listed), [runId]);
    const dry = await project.envelope(['cancel', runId, '--dry-run']);
    assert.deepEqual([dry.data.state, dry.data.was_running], ['running', true]);
    goOn();
    await running.finished;
    const { data: after } = await project.envelope(['show', runId]);
    assert.deepEqual(
      [after.state, after.result.data, after.artifacts.length],
      ['completed', { steps: 3 }, 1],
    );
  });

  it('writes the same object as TOON', async () => {
    for (const args of [['runs'], ['show', ids[2]!], ['tools', 'run.list'], ['show', 'r-nothing']]) {
      const json = await project.envelope(args);
      const { stdout, code } = await project.acor([...args, '--toon']);
      const { ok, data, error, meta } = json;
      const expected = ok ? { ok, data, meta } : { ok, error, meta };
      const decoded = decode(stdout.trimEnd()) as { meta: { elapsed: number } };
      decoded.meta.elapsed = meta.elapsed;
      assert.deepEqual(decoded, JSON.parse(JSON.stringify(expected)));
      assert.equal(code, json.code);
    }
  });
});

describe('logs', () => {
  let project: ProjectInProcess;
  let runId: string;
  let all: Event[];
  before(async () => {
    project = new ProjectInProcess({ tools: ['many_events', 'walks', 'quick'] });
    runId = await runOf(project, 'many_events', '2500');
    all = project.events(runId);
  });
  after(() => project[Symbol.dispose]());

  it('page through all events, each exactly once', async () => {
    const read: Event[] = [];
    let next: string | undefined = `acor logs ${runId}`;
    for (let pages = 0; next !== undefined; pages++) {
      assert.ok(pages < 10);
      const answer = await project.envelope(next.split(' ').slice(1));
      read.push(...answer.data.events);
      assert.equal(answer.data.last_seq, read.at(-1)!.seq);
      assert.equal(answer.meta.hasMore ?? false, read.length < all.length);
      next = answer.meta.next?.[0];
    }
    assert.deepEqual(read, all);
  });

  for (const [what, args] of [
    ['of any size', ['--limit', '300']],
    ['of one type', ['--limit', '300', '--type', 'progress']],
  ] as const)
    it(`lose none between pages ${what}`, async () => {
      const wanted = args.length > 2 ? all.filter(({ type }) => type === 'progress') : all;
      const read: Event[] = [];
      for (let since = 0; ; ) {
        const { data, meta } = await project.envelope(['logs', runId, '--since', String(since), ...args]);
        read.push(...data.events);
        assert.ok(meta.hasMore || data.events.length > 0);
        if (args.length === 2) assert.equal(meta.total, all.length - since);
        if (!meta.hasMore) break;
        assert.equal(data.last_seq, data.events.at(-1).seq);
        assert.match(meta.next.join(), new RegExp(`^acor logs ${runId} --since ${data.last_seq}[^,]*$`));
        since = data.last_seq;
      }
      assert.deepEqual(read, wanted);
    });

  it('lose none when a page is cut to a number of tokens, and last_seq or next leads on', async () => {
    const cut = ['--max-tokens', '200', '--since', '2'];
    const first = await project.envelope(['logs', runId, ...cut]);
    const seqs = first.data.events.map(({ seq }: Event) => seq);
    assert.ok(seqs.length < 20);
    assert.equal(first.data.last_seq, seqs.at(-1));
    assert.deepEqual(first.meta.next, [`acor logs ${runId} --since ${seqs.at(-1)}`]);
    const { data } = await project.envelope(['logs', runId, ...cut, '--fields', 'seq']);
    assert.deepEqual(Object.keys(data), ['events']);
  });

  it('as text are cut to --limit, --offset and --max-tokens', async () => {
    const text = async (...args: string[]) => {
      const { stdout } = await project.acor(['logs', runId, '--format', 'text', ...args]);
      return stdout.split('\n').slice(0, -1);
    };
    const whole = await text();
    assert.ok(whole.length > 2400);
    assert.deepEqual(await text('--limit', '3'), whole.slice(0, 3));
    assert.deepEqual(await text('--limit', '3', '--offset', '1200'), whole.slice(1200, 1203));
    assert.deepEqual(
      await text('--limit', '1', '--since', '2000'),
      (await text('--since', '2000')).slice(0, 1),
    );
    assert.deepEqual(await text('--limit', '0'), []);
    assert.deepEqual(await text('--max-tokens', '1'), whole.slice(0, 1));
  });

  it('filter by type, from a seq on', async () => {
    const { data } = await project.envelope([
      'logs',
      runId,
      '--since',
      '2',
      '--type',
      'runner_state',
      '--type',
      'runner_end',
    ]);
    assert.deepEqual(
      data.events,
      all.filter(({ seq, type }) => seq > 2 && ['runner_state', 'runner_end'].includes(type)),
    );
    assert.equal(data.last_seq, all.length);
    const behind = await project.envelope(['logs', runId, '--since', '99999']);
    assert.deepEqual(behind.data.events, []);
    assert.equal(behind.data.last_seq, 99999);
  });

  it('as text are one readable line for each event with a message', async () => {
    const { stdout, code } = await project.acor([
      'logs',
      runId,
      '--format',
      'text',
      '--since',
      String(all.length - 2),
    ]);
    assert.equal(code, 0);
    assert.match(stdout, /^\d\d:\d\d:\d\d running → completed\n\d\d:\d\d:\d\d end: completed, [\d.]+ s\n$/);
  });

  it('follow a run from any seq to its end, many at once, without a gap or a repeat', async () => {
    const { running, runId: live, go, goOn } = await standingRun(project, 5);
    const since = [0, 1, 3, 4, 100];
    const followers = since.map((seq) => project.start(['logs', live, '--follow', '--since', String(seq)]));
    const typed = project.start(['logs', live, '--follow', '--type', 'progress', '--type', 'result']);
    await followers[0]!.event('progress');
    await typed.event('progress');
    go(1);
    const late = project.start(['logs', live, '--follow', '--since', '4']);
    await late.event('progress');
    goOn();
    await running.finished;
    const events = project.events(live);
    const read = await Promise.all(
      [...followers, late].map(async ({ finished }) => parseLines((await finished).stdout)),
    );
    for (const [index, seq] of [...since, 4].entries())
      assert.deepEqual(
        read[index],
        events.filter((event) => event.seq > seq),
        `since ${seq}`,
      );
    const { stdout } = await typed.finished;
    assert.deepEqual(
      parseLines(stdout),
      events.filter(({ type }) => type === 'progress' || type === 'result'),
    );
  });

  it('follow an ended run by reading it to its end', async () => {
    const { stdout, code } = await project.acor(['logs', runId, '--follow', '--since', '2400']);
    assert.equal(code, 0);
    assert.deepEqual(parseLines(stdout), all.slice(2400));
  });
});

describe('cancel', () => {
  it('ends a run with its reason, records who did it, and succeeds for an ended run', async () => {
    using project = new ProjectInProcess({ tools: ['waits'] });
    const running = project.start(['run', 'waits']);
    const runId = String((await running.event('heartbeat')).run_id);
    const { code, data } = await project.envelope(['cancel', runId, '--reason', 'a "quoted" reason']);
    assert.deepEqual([code, data.state, data.was_running], [0, 'cancelled', true]);
    await running.finished;
    assert.deepEqual(processesOf(runId), []);
    const shown = await project.envelope(['show', runId]);
    assert.equal(shown.data.message, 'a "quoted" reason');
    const end = JSON.parse(
      (await project.acor(['logs', runId, '--type', 'runner_end'])).stdout,
    ).data.events.at(-1);
    const { cancelled } = (await project.envelope(['decisions', runId])).data;
    assert.deepEqual([cancelled.reason, cancelled.at], ['a "quoted" reason', end.ts]);
    assert.match(cancelled.by, /\S/);
    assert.deepEqual([end.cancelled_by, shown.data.cancelled_by], [cancelled.by, cancelled.by]);
    const text = await project.acor(['decisions', runId, '--format', 'text']);
    assert.match(text.stdout, /cancelled by \S+: a "quoted" reason/);
    const again = await project.envelope(['cancel', runId]);
    assert.deepEqual([again.code, again.data.was_running], [0, false]);
  });
});

describe('verify', () => {
  let project: ProjectInProcess;
  before(() => {
    project = new ProjectInProcess({ tools: ['right_hash', 'many_events', 'quick'] });
  });
  after(() => project[Symbol.dispose]());

  const pathOf = (runId: string) => join(project.runsDir, runId, 'events.jsonl');
  const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n');
  const putLines = (path: string, lines: readonly string[]) => writeFileSync(path, `${lines.join('\n')}\n`);

  it('reports nothing when nothing was changed', async () => {
    const runId = await runOf(project, 'right_hash');
    const { code, data } = await project.envelope(['verify', runId]);
    assert.equal(code, 0);
    assert.deepEqual(data, {
      ok: true,
      runs: [
        {
          run_id: runId,
          ok: true,
          sealed: true,
          events: project.events(runId).length,
          sealed_events: project.events(runId).length,
          artifacts: 2,
          note: null,
          problems: [],
        },
      ],
      ledger: [],
      closed: [],
      counts: { runs: 1, sealed: 1, events: 7, artifacts: 2, problems: 0 },
    });
    assert.equal((await project.envelope(['verify'])).data.ok, true);
  });

  /** The report of verify after a change; restores the change afterwards. */
  async function problemsAfter(runId: string, change: (path: string) => void) {
    const path = pathOf(runId);
    const kept = readFileSync(path);
    change(path);
    const { code, error } = await project.envelope(['verify', runId]);
    writeFileSync(path, kept);
    assert.deepEqual([code, error?.code], [1, 'E_INTEGRITY']);
    const { runs, ledger } = error.details;
    assert.equal(ledger.length, 1);
    assert.match(ledger[0].problem, /event log is not the one/);
    for (const problem of runs[0].problems)
      assert.deepEqual([problem.run_id, problem.path, problem.where], [runId, path, 'events']);
    const whole = await project.envelope(['verify', runId]);
    assert.equal(whole.code, 0);
    return runs[0].problems as { problem: string; line: number; from: number; to: number }[];
  }

  for (const [where, lineOf] of [
    ['first', () => 1],
    ['middle', (count: number) => Math.floor(count / 2)],
    ['one before the last', (count: number) => count - 1],
  ] as const) {
    it(`reports the place of one changed byte in the ${where} event`, async () => {
      const runId = await runOf(project, 'many_events', '300');
      const lines = linesOf(pathOf(runId));
      const line = lineOf(lines.length);
      const offset = Buffer.byteLength(`${lines.slice(0, line - 1).join('\n')}\n`) - (line === 1 ? 1 : 0);
      const [problem] = await problemsAfter(runId, (path) => {
        const changed = [...lines];
        changed[line - 1] = changed[line - 1]!.replace(/"ts":"2/, '"ts":"3');
        putLines(path, changed);
      });
      const changedAt = offset + lines[line - 1]!.indexOf('"ts":"') + 6;
      assert.ok(problem!.from <= changedAt && changedAt < problem!.to, JSON.stringify(problem));
      assert.match(problem!.problem, /the first changed byte is in bytes/);
      assert.ok(problem!.line <= line);
    });
  }

  it('detects a change in the event that ends the run, which its own seal does not cover', async () => {
    const runId = await runOf(project, 'quick');
    const path = pathOf(runId);
    const kept = readFileSync(path, 'utf8');
    writeFileSync(path, kept.replace(/"duration_s":\d/, '"duration_s":9'));
    const { code, error } = await project.envelope(['verify', runId]);
    assert.equal(code, 1);
    assert.match(
      error.details.ledger[0]?.problem ?? JSON.stringify(error.details),
      /event log is not the one/,
    );
    writeFileSync(path, kept);
  });

  for (const [what, change, found] of [
    ['removed line', (lines: string[]) => lines.toSpliced(4, 1), /expected seq 5, got 6/],
    ['added line', (lines: string[]) => lines.toSpliced(4, 0, lines[4]!), /expected seq 6, got 5/],
    [
      'pair of swapped lines',
      (lines: string[]) => lines.toSpliced(4, 2, lines[5]!, lines[4]!),
      /expected seq 5, got 6/,
    ],
    ['line that is not JSON', (lines: string[]) => lines.toSpliced(4, 1, 'x'), /not a JSON object/],
  ] as const) {
    it(`reports the line of a ${what}`, async () => {
      const runId = await runOf(project, 'many_events', '20');
      const problems = await problemsAfter(runId, (path) => putLines(path, change(linesOf(path))));
      const order = problems.find(({ problem }) => found.test(problem));
      assert.ok(order !== undefined, JSON.stringify(problems));
      assert.equal(order.line, what === 'added line' ? 6 : 5);
    });
  }

  it('detects bytes added after the end, and a truncated last line', async () => {
    const runId = await runOf(project, 'quick');
    const added = await problemsAfter(runId, (path) => appendFileSync(path, '{"seq":6,"type":"log"}\n'));
    assert.match(added[0]!.problem, /last event of its log is not its end/);
    assert.equal(added[0]!.line, 6);
    const cut = await problemsAfter(runId, (path) => writeFileSync(path, readFileSync(path).subarray(0, -5)));
    assert.match(cut[0]!.problem, /cut short/);
  });

  it('reports an artifact that was changed or removed', async () => {
    const runId = await runOf(project, 'right_hash');
    const { data } = await project.envelope(['artifacts', runId]);
    const [first, second] = data.artifacts.map(({ path }: { path: string }) => path) as [string, string];
    writeFileSync(first, 'other');
    rmSync(second);
    const { code, error } = await project.envelope(['verify', runId]);
    assert.equal(code, 1);
    assert.deepEqual(
      error.details.runs[0].problems.map(({ where, path }: { where: string; path: string }) => [where, path]),
      [
        ['artifact', first],
        ['artifact', second],
      ],
    );
    assert.match(error.details.runs[0].problems[0].problem, /sha256/);
    assert.match(error.details.runs[0].problems[1].problem, /gone/);
  });

  describe('the ledger', () => {
    let own: ProjectInProcess;
    let ids: string[];
    before(async () => {
      own = new ProjectInProcess({ tools: ['quick'] });
      ids = [
        await runOf(own, 'quick'),
        await runOf(own, 'quick'),
        await runOf(own, 'quick'),
        await runOf(own, 'quick'),
      ];
    });
    after(() => own[Symbol.dispose]());

    for (const [what, change, line] of [
      [
        'changed line',
        (lines: string[]) => lines.toSpliced(1, 1, lines[1]!.replace('completed', 'failed')),
        2,
      ],
      ['removed line', (lines: string[]) => lines.toSpliced(1, 1), 2],
      ['added line', (lines: string[]) => lines.toSpliced(1, 0, lines[1]!), 3],
      ['pair of swapped lines', (lines: string[]) => lines.toSpliced(1, 2, lines[2]!, lines[1]!), 2],
      ['line that is not JSON', (lines: string[]) => lines.toSpliced(1, 1, 'x'), 2],
    ] as const) {
      it(`reveals a ${what}, by its number`, async () => {
        const path = join(own.runsDir, 'ledger.jsonl');
        const kept = linesOf(path);
        putLines(path, change(kept));
        const { code, error } = await own.envelope(['verify']);
        putLines(path, kept);
        assert.deepEqual([code, error.code], [1, 'E_INTEGRITY']);
        assert.equal(error.details.ledger[0].line, line, JSON.stringify(error.details.ledger));
        assert.equal(error.details.ledger[0].path, path);
        assert.equal((await own.envelope(['verify'])).code, 0);
      });
    }

    it('reveals a run whose folder was deleted by hand, and one whose record is missing', async () => {
      rmSync(join(own.runsDir, ids[1]!), { recursive: true });
      rmSync(join(own.runsDir, ids[2]!, 'metadata.json'));
      const { code, error } = await own.envelope(['verify']);
      assert.equal(code, 1);
      assert.deepEqual(
        error.details.ledger.map(({ run_id, line }: { run_id: string; line: number }) => [run_id, line]),
        [[ids[1], 2]],
      );
      const bad = error.details.runs.filter(({ ok }: { ok: boolean }) => !ok);
      assert.deepEqual(
        bad.map(({ run_id, problems }: { run_id: string; problems: { where: string }[] }) => [
          run_id,
          problems[0]!.where,
        ]),
        [[ids[2], 'record']],
      );
    });
  });

  it('health and runs do not take a run without its record for one without its folder, also after the index is made again', async () => {
    using own = new ProjectInProcess({ tools: ['right_hash'] });
    const runId = String((await own.run(['right_hash'])).end.run_id);
    await own.envelope(['runs']);
    const folder = join(own.runsDir, runId);
    rmSync(join(folder, 'metadata.json'));
    const words = `the record of run ${runId} is missing, its folder is there`;
    const checkOf = async () => {
      const { data, error } = await own.envelope(['health']);
      const { checks } = data ?? error.details;
      return checks.find(({ name }: { name: string }) => name === 'store.missing_runs');
    };
    for (const isNew of [false, true]) {
      if (isNew) rmSync(join(own.runsDir, 'index.sqlite'));
      const { meta } = await own.envelope(['runs']);
      assert.ok(String(meta.warnings).includes(words), String(meta.warnings));
      assert.deepEqual(meta.next, ['acor verify']);
      const check = await checkOf();
      assert.ok(check.detail.includes(words) && check.fix === 'acor verify', JSON.stringify(check));
    }
    rmSync(folder, { recursive: true });
    rmSync(join(own.runsDir, 'index.sqlite'));
    const { detail, fix } = await checkOf();
    assert.ok(detail.includes(`Restore its folder ${folder} from a backup`), detail);
    assert.equal(fix, 'acor clean --missing --dry-run');
    assert.deepEqual((await own.envelope(['clean', '--missing', '--dry-run'])).data.removed, [runId]);
  });

  it('runs --before takes last, and no text that is no id', async () => {
    using own = new ProjectInProcess({ tools: ['quick'] });
    const older = await runOf(own, 'quick');
    await runOf(own, 'quick');
    const { data } = await own.envelope(['runs', '--before', 'last']);
    assert.deepEqual(
      data.runs.map(({ run_id }: { run_id: string }) => run_id),
      [older],
    );
    const { error } = await own.envelope(['runs', '--before', 'newest']);
    assert.deepEqual([error.code, /must be the id of a run, or last/.test(error.message)], ['E_USAGE', true]);
  });

  it('is valid in a project that is opened through a link', async () => {
    using other = new ProjectInProcess({ tools: ['right_hash'] });
    const link = `${other.root}-link`;
    assert.equal(spawnSync('ln', ['-s', other.root, link]).status, 0);
    const { end } = await other.run(['--cwd', link, 'right_hash']);
    for (const cwd of [link, other.root]) {
      const { code, data } = await other.envelope(['--cwd', cwd, 'verify', String(end.run_id)]);
      assert.deepEqual([code, data?.ok], [0, true]);
    }
    rmSync(link);
  });
});

describe('clean', () => {
  it('needs a rule for which runs to remove, and never removes a live run, or with --dry-run anything', async () => {
    using project = new ProjectInProcess({ tools: ['quick', 'walks'] });
    const { running, runId: live, goOn } = await standingRun(project);
    const ids = [await runOf(project, 'quick'), await runOf(project, 'quick'), await runOf(project, 'quick')];
    const none = await project.envelope(['clean']);
    assert.deepEqual([none.code, none.error.code], [1, 'E_USAGE']);
    assert.deepEqual(none.meta.next, ['acor clean --keep 20 --dry-run']);
    const dry = await project.envelope(['clean', '--keep', '1', '--dry-run']);
    assert.deepEqual([dry.data.removed, dry.data.dry_run, dry.data.kept], [[ids[0], ids[1]], true, 2]);
    assert.equal(project.runIds().length, 4);
    assert.deepEqual((await project.envelope(['clean', '--older-than', '1'])).data.removed, []);
    const done = await project.envelope(['clean', '--keep', '1']);
    assert.deepEqual([done.data.removed, done.data.kept], [[ids[0], ids[1]], 2]);
    const rest = await project.envelope(['clean', '--older-than', '0']);
    assert.deepEqual(rest.data.removed, [ids[2]]);
    assert.deepEqual(project.runIds(), [live]);
    assert.ok(processesOf(live).length > 0);
    assert.equal((await project.envelope(['verify'])).data.ok, true);
    goOn();
    const { stdout } = await running.finished;
    assert.equal(parseLines(stdout).at(-1)!.state, 'completed');
    assert.deepEqual((await project.envelope(['clean', '--keep', '0'])).data.removed, [live]);
    assert.equal((await project.envelope(['verify'])).data.ok, true);
    assert.deepEqual((await project.envelope(['runs'])).data.runs, []);
  });
});

describe('list, describe, tools', () => {
  let project: ProjectInProcess;
  before(() => {
    project = new ProjectInProcess({ tools: ['quick', 'reads_file', 'exits_with', 'no_result_strict'] });
    project.write('tools/broken/cli.sh', '#!/bin/bash\n');
    project.write('tools/broken/tool.yaml', 'name: broken\nversion: one\n');
  });
  after(() => project[Symbol.dispose]());

  it('list filters, and shows the problems of a broken tool', async () => {
    const { data, meta } = await project.envelope(['list', '--filter', 'copies a FILE']);
    assert.deepEqual([data.tools.length, data.tools[0].name, meta.count], [1, 'reads_file', 1]);
    const broken = await project.envelope(['list', '--filter', 'broken']);
    assert.match(broken.data.tools[0].problems[0], /tool\.yaml:2:10: /);
    const table = await project.acor(['list', '--format', 'table']);
    assert.match(table.stdout, /reads_file +1\.0\.0 +bash/);
    assert.doesNotMatch(table.stdout, /\u001b/);
  });

  it('describe shows the inputs of a tool and its usage, its manifest, its permissions', async () => {
    const { data } = await project.envelope(['describe', 'reads_file']);
    assert.equal(data.usage, 'acor run reads_file <file>');
    assert.deepEqual(
      data.inputs.map(({ name, type, required, access }: Record<string, unknown>) => [
        name,
        type,
        required,
        access,
      ]),
      [['file', 'path', true, 'read']],
    );
    const { data: manifest } = await project.envelope(['describe', 'no_result_strict', '--manifest']);
    assert.deepEqual([manifest.strict, manifest.exit_codes.retryable_error], [true, 20]);
    assert.ok(existsSync(manifest.manifest_path));
    const { data: permissions } = await project.envelope(['describe', 'quick', '--permissions']);
    assert.equal(permissions.permissions.level, 'minimal');
    assert.deepEqual(permissions.permissions.network.egress_allow, []);
    assert.equal(permissions.version, undefined);
    const broken = await project.envelope(['describe', 'broken']);
    assert.deepEqual([broken.code, broken.error.code], [2, 'E_MANIFEST_INVALID']);
  });

  it('tools lists every field of every command, by category and name', async () => {
    const { data } = await project.envelope(['tools', '--full']);
    const names: string[] = data.tools.map(({ name }: { name: string }) => name);
    assert.ok(names.length >= 17);
    const key = ({ category, name }: { category: string; name: string }) => `${category} ${name}`;
    assert.deepEqual(
      data.tools.map(key),
      [...data.tools]
        .sort((a, b) =>
          a.category === b.category ? (a.name < b.name ? -1 : 1) : a.category < b.category ? -1 : 1,
        )
        .map(key),
    );
    for (const tool of data.tools) {
      assert.deepEqual(
        Object.keys(tool).sort(),
        [
          'category',
          'command',
          'description',
          'effect',
          'example',
          'idempotent',
          'inputSchema',
          'name',
          'outputFields',
          'outputSchema',
          'parameters',
          'rateLimit',
        ],
        tool.name,
      );
      assert.ok(tool.example.startsWith(tool.command), tool.name);
      assert.ok(['reads', 'writes', 'destroys'].includes(tool.effect));
      for (const parameter of tool.parameters) {
        for (const field of ['name', 'type', 'required', 'description'])
          assert.ok(field in parameter, `${tool.name} ${field}`);
        assert.notEqual(parameter.description, '', `${tool.name} ${parameter.name}`);
      }
    }
    const short = await project.acor(['tools']);
    assert.ok(short.stdout.length < 20_000, String(short.stdout.length));
    assert.deepEqual(
      JSON.parse(short.stdout).data.tools.map(({ name }: { name: string }) => name),
      names,
    );
    const one = await project.envelope(['tools', 'run.list']);
    const byCommand = await project.envelope(['tools', 'runs']);
    assert.deepEqual(one.data, byCommand.data);
    assert.ok(names.includes('run.list'));
    const unknown = await project.envelope(['tools', 'run.lits']);
    assert.deepEqual([unknown.code, unknown.error.code], [1, 'E_USAGE']);
    assert.match(JSON.stringify(unknown.error), /run\.list/);
  });
});

describe('health, config, errors, version', () => {
  const nameOf = ({ name }: { name: string }) => name;

  it('is ok when everything works and degraded when something can be better, with a fix that works', async () => {
    using project = new ProjectInProcess({
      tools: ['quick'],
      config: "version: 1\nsecurity: { isolation: 'off' }\n",
    });
    const ready = await project.envelope(['health']);
    assert.deepEqual([ready.code, ready.data.status], [0, 'ready'], JSON.stringify(ready.data.checks));
    for (const name of [
      'config',
      'tools',
      'runtime.bash',
      'sandbox',
      'store.permissions',
      'store.space',
      'store.lost_runs',
    ])
      assert.ok(
        ready.data.checks.some((check: { name: string }) => check.name === name),
        name,
      );
    project.write('tools/broken/cli.sh', '#!/bin/bash\n');
    project.write('tools/broken/tool.yaml', 'name: broken\nversion: 1.0.0\ndescripton: x\n');
    const degraded = await project.envelope(['health']);
    assert.deepEqual([degraded.code, degraded.data.status], [0, 'degraded']);
    const [check] = degraded.data.checks.filter(({ status }: { status: string }) => status === 'degraded');
    assert.deepEqual([check.name, check.fix], ['tool.broken', "Write 'description', or leave it out."]);
    assert.match(check.detail, /tool\.yaml:3:1/);
  });

  it('is blocked, with exit code 2, when no tool can run', async () => {
    using project = new ProjectInProcess({
      tools: ['quick'],
      config: 'version: 1\nproject: { runs_dir: taken/runs }\n',
    });
    writeFileSync(project.path('taken'), '');
    const { code, error } = await project.envelope(['health']);
    const data = error.details;
    assert.deepEqual([code, error.code, data.status], [2, 'E_NOT_READY', 'blocked']);
    const [check] = data.checks.filter(({ status }: { status: string }) => status === 'blocked');
    assert.equal(spawnSync('sh', ['-c', check.fix]).status, 0);
    assert.notEqual((await project.envelope(['health'])).data.status, 'blocked');
    for (const { status, fix } of data.checks) assert.equal(status === 'ok', fix === undefined);
  });

  it('reports a lost run until --fix has recovered it', async () => {
    using project = new ProjectInProcess({ tools: ['waits'] });
    const running = project.start(['run', 'waits']);
    const runId = String((await running.event('heartbeat')).run_id);
    running.child.kill('SIGKILL');
    await running.finished;
    await until(() => processesOf(runId).length === 0);
    const lost = async (...flags: string[]) =>
      (await project.envelope(['health', ...flags])).data.checks.find(
        (check: { name: string }) => nameOf(check) === 'store.lost_runs',
      );
    for (const { status, fix, detail } of [await lost(), await lost()]) {
      assert.deepEqual([status, fix], ['degraded', 'acor health --fix']);
      assert.match(detail, new RegExp(runId));
    }
    const fixed = await lost('--fix');
    assert.equal(fixed.status, 'ok');
    assert.match(fixed.detail, new RegExp(`E_RUNNER_LOST: ${runId}`));
    assert.equal((await lost()).detail, 'none');
  });

  it('shows the origin of each value: flag, environment, file with its place, default', async () => {
    using project = new ProjectInProcess({
      config: 'version: 1\nenvironment:\n  timeout_s: ${LIMIT:-60}\n  heartbeat_grace_s: 7\n',
    });
    const env = {
      ACOR_ENVIRONMENT_HEARTBEAT_GRACE_S: '8',
      LIMIT: '61',
      XDG_CONFIG_HOME: project.path('user'),
    };
    project.write('user/acor/config.yaml', 'version: 1\nenvironment: { timeout_s: 5, cancel_grace_s: 3 }\n');
    const { data } = await project.envelope(['config', 'show', 'environment'], { env });
    const values = new Map<string, { value: unknown; source: string; where: string | null }>(
      data.values.map((each: { key: string }) => [each.key, each]),
    );
    const shown = (key: string) => {
      const { value, source, where } = values.get(`environment.${key}`)!;
      return [value, source, where];
    };
    assert.deepEqual(shown('timeout_s'), [61, 'project', `${project.path('.acor/config.yaml')}:3:14`]);
    assert.deepEqual(shown('heartbeat_grace_s').slice(0, 2), [8, 'environment']);
    assert.match(String(shown('heartbeat_grace_s')[2]), /ACOR_ENVIRONMENT_HEARTBEAT_GRACE_S/);
    assert.deepEqual(shown('cancel_grace_s').slice(0, 2), [3, 'user']);
    assert.match(
      String(shown('cancel_grace_s')[2]),
      /user\/acor\/config\.yaml:1:\d+|user\/acor\/config\.yaml:2:\d+/,
    );
    assert.deepEqual(shown('max_output_size'), [30_000_000, 'default', null]);
    const fallback = await project.envelope(['config', 'show', 'environment.timeout_s']);
    assert.deepEqual(fallback.data.values[0].value, 60);
  });

  it('lists the error codes, including those of the project', async () => {
    using project = new ProjectInProcess();
    project.write(
      '.acor/error_codes.yaml',
      'codes:\n  E_MY_OWN: { class: user_error, retryable: false, hint: Do it right. }\n',
    );
    const { data } = await project.envelope(['errors']);
    const codes: string[] = data.codes.map(({ code }: { code: string }) => code);
    assert.deepEqual(codes, [...Object.keys(ERROR_CODES), 'E_MY_OWN'].sort());
    for (const row of data.codes) assert.ok(row.action !== '' && row.hint !== '', row.code);
    const own = await project.envelope(['errors', 'E_MY_OWN']);
    assert.deepEqual([own.data.codes[0].source, own.data.codes[0].hint], ['project', 'Do it right.']);
    const unknown = await project.envelope(['errors', 'E_NOPE']);
    assert.deepEqual([unknown.code, unknown.error.code], [1, 'E_USAGE']);
  });

  it('lists the error codes page by page, by the commands of its own answers', async () => {
    using project = new ProjectInProcess();
    const codes: string[] = [];
    let next: string | undefined = 'acor errors --limit 20';
    while (next !== undefined) {
      const { data, meta }: Envelope = await project.envelope(next.split(' ').slice(1));
      codes.push(...data.codes.map(({ code }: { code: string }) => code));
      assert.equal(meta.next?.length, meta.hasMore ? 1 : undefined);
      next = meta.next?.[0];
    }
    assert.deepEqual(codes, Object.keys(ERROR_CODES).sort());
  });

  it('shows the version, and in detail what it depends on', async () => {
    using project = new ProjectInProcess();
    const { version } = JSON.parse(
      readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
    );
    assert.deepEqual((await project.envelope(['version'])).data, { version });
    const { data } = await project.envelope(['version', '--detailed']);
    assert.deepEqual([data.protocols, data.config_schema, data.project.root], [[1], 1, project.root]);
    assert.equal((await project.acor(['--version'])).stdout, `acor ${version}\n`);
  });
});
