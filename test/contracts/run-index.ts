import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DURATION_BOUNDS_S,
  type IdRange,
  type IndexedQuestion,
  type IndexedRun,
  type RunIndex,
  type RunQuery,
  type RunSource,
  type SourceRun,
} from '../../src/core/ports/run-index.ts';
import { isFinal } from '../../src/protocol/run.ts';
import { newRunId } from '../../src/util/ids.ts';

/** More than any part in which an index keeps runs. */
const MANY = 4_500;

/** What every index of runs must hold to. `open` opens the same index as another process would, `lose` removes what it keeps. */
export function runIndexContract(
  name: string,
  make: () => Promise<{ open(source: RunSource): Promise<RunIndex>; lose(): void }>,
): void {
  describe(`the run index '${name}'`, () => {
    it('finds the runs of a caller by kind and name, and by the name alone those of each kind and of earlier builds', async () => {
      const runs = new FakeRuns();
      const agent = runs.add({ caller: 'agent:ci' });
      const token = runs.add({ caller: 'token:ci' });
      const old = runs.add({ caller: 'ci' });
      runs.add({ caller: 'token:cd' });
      runs.add({});
      const index = await (await make()).open(runs);
      const find = async (query: RunQuery) => (await index.query(query)).runs.map(({ run_id }) => run_id);
      assert.deepEqual(await find({ caller: 'token:ci' }), [token]);
      assert.deepEqual(await find({ caller: 'agent:ci', kind: 'tool' }), [agent]);
      assert.deepEqual(await find({ caller: 'ci' }), [old, token, agent]);
      assert.deepEqual(await find({ caller: 'ci', kind: 'tool' }), [old, token, agent]);
    });

    it('finds runs by every field of a query, the newest first', async () => {
      const runs = new FakeRuns();
      const parent = runs.add({ tool: 'workflow:build', kind: 'workflow' });
      const child = runs.add({ tool: 'copy', parent: { run_id: parent, task_id: 'one' }, caller: 'claude' });
      const failed = runs.add({
        tool: 'copy',
        state: 'failed',
        code: 'E_TIMEOUT',
        message: 'Größe: too LONG',
      });
      const live = runs.add({ tool: 'move', state: 'running', ended_at: null });
      const index = await (await make()).open(runs);
      const find = async (query: RunQuery) => (await index.query(query)).runs.map(({ run_id }) => run_id);
      assert.deepEqual(await find({}), [live, failed, child, parent]);
      assert.deepEqual(await find({ order: 'oldest' }), [parent, child, failed, live]);
      assert.deepEqual(await find({ state: 'running' }), [live]);
      assert.deepEqual(await find({ tool: 'copy' }), [failed, child]);
      assert.deepEqual(await find({ tool: 'copy', state: 'completed' }), [child]);
      assert.deepEqual(await find({ kind: 'workflow' }), [parent]);
      assert.deepEqual(await find({ caller: 'claude' }), [child]);
      assert.deepEqual(await find({ parent }), [child]);
      assert.deepEqual(await find({ parent: null }), [live, failed, parent]);
      assert.deepEqual(await find({ parent: null, tool: 'copy' }), [failed]);
      assert.deepEqual(await find({ before: failed }), [child, parent]);
      assert.deepEqual(await find({ text: 'GRÖSSE'.replace('SS', 'ß') }), [failed]);
      assert.deepEqual(await find({ prefix: child.slice(0, -7) }), [child]);
      assert.deepEqual(await find({ prefix: '' }), [live, failed, child, parent]);
      assert.deepEqual(await find({ text: '%' }), []);
      assert.deepEqual(await find({ text: child }), [child]);
      const times = [parent, child, failed, live].map((id) => Date.parse(runs.run(id).created_at));
      assert.deepEqual(await find({ sinceMs: times[1], untilMs: times[3] }), [failed, child]);
      const all = (await index.query({ parent })).runs[0];
      assert.deepEqual(all, runs.run(child));
      index.close();
    });

    it('returns pages, and the total', async () => {
      const runs = new FakeRuns();
      const ids = Array.from({ length: 25 }, () => runs.add({})).reverse();
      const index = await (await make()).open(runs);
      const page = await index.query({ limit: 10, offset: 20 });
      assert.deepEqual([page.total, page.runs.map(({ run_id }) => run_id)], [25, ids.slice(20)]);
      assert.deepEqual((await index.query({ limit: 0 })).runs, []);
      assert.equal((await index.query({ limit: 3, state: 'failed' })).total, 0);
      index.close();
    });

    it('sees runs that start, change, end, are resumed and are removed', async () => {
      const runs = new FakeRuns();
      const { open } = await make();
      const index = await open(runs);
      const state = async () => (await index.query({})).runs.map((run) => run.state);
      assert.deepEqual(await state(), []);
      const id = runs.add({ state: 'queued', ended_at: null });
      assert.deepEqual(await state(), ['queued']);
      runs.change(id, { state: 'running' });
      assert.deepEqual(await state(), ['running']);
      assert.deepEqual((await index.unended()).length, 1);
      runs.change(id, { state: 'failed' });
      assert.deepEqual([await state(), await index.unended()], [['failed'], []]);
      runs.change(id, { state: 'queued' });
      assert.deepEqual(await state(), ['queued']);
      runs.change(id, { state: 'completed' });
      assert.deepEqual(await state(), ['completed']);
      runs.remove(id);
      assert.deepEqual(await state(), []);
      index.close();
    });

    it('does not read runs again that had ended before', async () => {
      const runs = new FakeRuns();
      for (let i = 0; i < 20; i++) runs.add({});
      const { open } = await make();
      const index = await open(runs);
      await index.query({});
      runs.reads = 0;
      await index.query({});
      assert.equal(runs.reads, 0);
      runs.add({});
      assert.equal((await index.query({})).total, 21);
      assert.equal(runs.reads, 1);
      index.close();
    });

    it('is rebuilt when it is lost, and when the last record that it read is gone', async () => {
      const runs = new FakeRuns();
      for (let i = 0; i < 5; i++) runs.add({});
      const { open, lose } = await make();
      const first = await open(runs);
      assert.equal((await first.query({})).total, 5);
      first.close();
      lose();
      const index = await open(runs);
      assert.equal((await index.query({})).total, 5);
      runs.shorten();
      assert.equal((await index.query({})).total, 5);
      index.close();
    });

    it('leaves out a run whose folder was removed by hand', async () => {
      const runs = new FakeRuns();
      const ids = Array.from({ length: 4 }, () => runs.add({}));
      const index = await (await make()).open(runs);
      await index.query({});
      runs.forget(ids[1]!);
      assert.deepEqual(
        (await index.query({ limit: 3 })).runs.map(({ run_id }) => run_id),
        [ids[3], ids[2], ids[0]],
      );
      assert.deepEqual(await index.missing(), [ids[1]]);
      index.close();
    });

    it('names the runs that are missing until they are back, or are removed; no query has to find them', async () => {
      const runs = new FakeRuns();
      const ids = Array.from({ length: 6 }, () => runs.add({}));
      const { open, lose } = await make();
      const index = await open(runs);
      assert.deepEqual([(await index.query({})).total, await index.missing()], [6, []]);
      runs.losePack(ids[1]!, ids[3]!);
      assert.deepEqual(await index.missing(), ids.slice(1, 4));
      assert.equal((await index.query({})).total, 3);
      runs.remove(ids[2]!);
      assert.deepEqual(await index.missing(), [ids[1], ids[3]]);
      index.close();
      lose();
      const rebuilt = await open(runs);
      assert.deepEqual(await rebuilt.missing(), [ids[1], ids[3]]);
      runs.restore();
      assert.deepEqual([await rebuilt.missing(), (await rebuilt.query({})).total], [[], 5]);
      rebuilt.close();
    });

    it('asks its source once which of the found runs exist, however many they are', async () => {
      const runs = new FakeRuns();
      for (let i = 0; i < MANY; i++) runs.add({});
      const index = await (await make()).open(runs);
      for (const limit of [3, MANY]) {
        runs.existenceQueries = 0;
        assert.equal((await index.query({ limit })).runs.length, limit);
        assert.equal(runs.existenceQueries, 1);
      }
      index.close();
    });

    it('returns the questions of all runs, or the open ones', async () => {
      const runs = new FakeRuns();
      const quiet = runs.add({});
      const answered = runs.add({});
      const asking = runs.add({ state: 'waiting_ai', ended_at: null });
      runs.asked.set(answered, [{ asked: { action: 'a' }, answered: { answer: 1 }, isOpen: false }]);
      runs.asked.set(asking, [{ asked: { action: 'b' }, isOpen: true }]);
      const index = await (await make()).open(runs);
      const ids = async (isOpen: boolean) => (await index.questions({ isOpen })).map(({ run }) => run.run_id);
      assert.deepEqual([await ids(false), await ids(true)], [[answered, asking], [asking]]);
      assert.deepEqual((await index.questions({ isOpen: false }))[0]!.questions, runs.asked.get(answered));
      runs.asked.set(asking, [{ asked: { action: 'b' }, answered: { answer: 2 }, isOpen: false }]);
      runs.change(asking, { state: 'completed' });
      assert.deepEqual([await ids(false), await ids(true)], [[answered, asking], []]);
      assert.equal(runs.asked.has(quiet), false);
      assert.equal(runs.questionReads.has(quiet), false, 'the record says that it has asked nothing');
      index.close();
    });

    it('counts the runs that ended by tool, day and state, with what they used and cost', async () => {
      const runs = new FakeRuns();
      const day = '2026-01-01T00:00:00.000Z';
      runs.add({ tool: 'a', ended_at: day, duration_s: 2 }, { cpu_s: 0.5, cost_usd: 0.25 });
      runs.add(
        { tool: 'a', ended_at: '2026-01-01T23:59:59.000Z', duration_s: 3 },
        { cpu_s: 1, cost_usd: null },
      );
      runs.add({ tool: 'a', ended_at: day, duration_s: 1 }, { cpu_s: null, cost_usd: 2 });
      runs.add({ tool: 'b', ended_at: day, duration_s: 1 }, { cpu_s: 0, cost_usd: 0 });
      runs.add({ tool: 'b', ended_at: '2026-01-02T00:00:00.000Z', state: 'failed', duration_s: null });
      runs.add({ tool: 'b', state: 'running', ended_at: null }, { cpu_s: 7, cost_usd: 7 });
      const index = await (await make()).open(runs);
      const [first, second] = ['2026-01-01', '2026-01-02'];
      const completed = 'completed';
      const counts = await index.counts();
      assert.deepEqual(
        counts.map(({ within: _, ...count }) => count),
        [
          { tool: 'a', day: first, state: completed, runs: 3, duration_s: 6, cpu_s: 1.5, cost_usd: 2.25 },
          { tool: 'b', day: first, state: completed, runs: 1, duration_s: 1, cpu_s: 0, cost_usd: 0 },
          { tool: 'b', day: second, state: 'failed', runs: 1, duration_s: 0, cpu_s: null, cost_usd: null },
        ],
      );
      const took = (bounds: readonly number[]) =>
        DURATION_BOUNDS_S.map((bound) => bounds.filter((duration) => duration <= bound).length);
      assert.deepEqual(
        counts.map(({ within }) => within),
        [took([2, 3, 1]), took([1]), took([])],
      );
      index.close();
    });

    it('sums what ended runs have cost, by tool, task, caller and day, and those of a day or a parent', async () => {
      const runs = new FakeRuns();
      const tokens = {
        task: null,
        isUnpriced: false,
        input_tokens: 10,
        cache_read_tokens: 8,
        output_tokens: 1,
      };
      const [day, other] = ['2026-01-01T10:00:00.000Z', '2026-01-02T10:00:00.000Z'];
      const parent = runs.add({ kind: 'workflow', ended_at: day });
      const child = { parent: { run_id: parent, task_id: 't' } };
      const used = (cost_usd: number | null, cost: typeof tokens = tokens) => ({
        cpu_s: null,
        cost_usd,
        cost,
      });
      runs.add({ tool: 'a', ended_at: day, ...child }, used(0.5));
      runs.add({ tool: 'a', ended_at: day, caller: 'claude' }, used(1));
      runs.add({ tool: 'a', ended_at: day }, used(null, { ...tokens, isUnpriced: true }));
      runs.add({ tool: 'b', ended_at: other }, used(2, { ...tokens, task: 'form' } as never));
      runs.add({ tool: 'b', ended_at: other });
      runs.add({ tool: 'b', state: 'running', ended_at: null }, used(9));
      const index = await (await make()).open(runs);
      const sums = { unpriced: 0, input_tokens: 10, cache_read_tokens: 8, output_tokens: 1 };
      const none = { task: null, caller: null };
      const twice = { unpriced: 1, input_tokens: 20, cache_read_tokens: 16, output_tokens: 2 };
      const first = { tool: 'a', ...none, day: '2026-01-01', runs: 2, cost_usd: 0.5, ...twice };
      const second = { ...first, caller: 'claude', runs: 1, cost_usd: 1, ...sums };
      const third = {
        tool: 'b',
        task: 'form',
        caller: null,
        day: '2026-01-02',
        runs: 1,
        cost_usd: 2,
        ...sums,
      };
      assert.deepEqual(await index.costs(), [first, second, third]);
      assert.deepEqual(await index.costs({ day: '2026-01-02' }), [third]);
      assert.deepEqual(await index.costs({ parent }), [{ ...first, runs: 1, ...sums }]);
      index.close();
    });

    it('finds texts together with each other filter, and in pages', async () => {
      const runs = new FakeRuns();
      const parent = runs.add({ kind: 'workflow', message: 'needle' });
      runs.add({ message: 'straw' });
      const special = { tool: 'copy', caller: 'claude', parent: { run_id: parent, task_id: 'one' } };
      const one = runs.add({ ...special, message: 'a needle' });
      runs.add({ ...special, message: 'straw' });
      const two = runs.add({ state: 'failed', message: 'a needle' });
      const live = runs.add({ state: 'running', ended_at: null, message: 'a needle' });
      for (let i = 0; i < MANY; i++) runs.add({ message: 'straw' });
      const late = runs.add({ message: 'a needle' });
      const index = await (await make()).open(runs);
      const find = async (query: RunQuery) => {
        const { runs: found, total } = await index.query({ text: 'NEEDLE', ...query });
        return [found.map(({ run_id }) => run_id), total];
      };
      const ms = (id: string) => Date.parse(runs.run(id).created_at);
      assert.deepEqual(await find({}), [[late, live, two, one, parent], 5]);
      assert.deepEqual(await find({ order: 'oldest' }), [[parent, one, two, live, late], 5]);
      assert.deepEqual(await find({ state: 'failed' }), [[two], 1]);
      assert.deepEqual(await find({ state: 'running' }), [[live], 1]);
      assert.deepEqual(await find({ tool: 'copy' }), [[one], 1]);
      assert.deepEqual(await find({ tool: 'copy', state: 'completed' }), [[one], 1]);
      assert.deepEqual(await find({ tool: 'copy', state: 'failed' }), [[], 0]);
      assert.deepEqual(await find({ kind: 'workflow' }), [[parent], 1]);
      assert.deepEqual(await find({ caller: 'claude' }), [[one], 1]);
      assert.deepEqual(await find({ parent }), [[one], 1]);
      assert.deepEqual(await find({ prefix: two }), [[two], 1]);
      assert.deepEqual(await find({ before: two }), [[one, parent], 2]);
      assert.deepEqual(await find({ sinceMs: ms(one), untilMs: ms(live) }), [[two, one], 2]);
      assert.deepEqual(await find({ limit: 2, offset: 1 }), [[live, two], 5]);
      assert.deepEqual(await find({ limit: 2, offset: 4 }), [[parent], 5]);
      assert.deepEqual(await find({ limit: 2, offset: 9 }), [[], 5]);
      assert.deepEqual(await find({ limit: 0 }), [[], 5]);
      assert.equal((await index.query({ text: '', limit: 1 })).total, MANY + 7);
      assert.equal((await index.query({ text: 'needlestraw' })).total, 0);
      assert.equal((await index.query({ text: 'straw' })).total, MANY + 2);
      index.close();
    });

    it('finds the current text of a run that changed among many', async () => {
      const runs = new FakeRuns();
      const ids = Array.from({ length: MANY }, () => runs.add({ message: 'first text' }));
      const { open } = await make();
      const index = await open(runs);
      const find = async (text: string, more: RunQuery = {}) =>
        (await index.query({ text, ...more })).runs.map(({ run_id }) => run_id);
      assert.deepEqual(await find('first text'), ids.toReversed());
      const [changed, resumed, removed, forgotten] = ids as [string, string, string, string];
      runs.change(changed, { message: 'second text' });
      runs.change(resumed, { message: 'third text', state: 'running' });
      runs.remove(removed);
      runs.forget(forgotten);
      assert.deepEqual(await find('first text'), ids.slice(4).reverse());
      for (const id of ids.slice(0, 4)) assert.deepEqual(await find('first text', { prefix: id }), []);
      assert.deepEqual(await find('second text'), [changed]);
      assert.deepEqual(await find('third text', { state: 'running' }), [resumed]);
      runs.change(resumed, { state: 'completed' });
      const more = Array.from({ length: MANY }, () => runs.add({ message: 'fourth text' }));
      assert.deepEqual(await find('fourth text', { limit: 2 }), more.slice(-2).reverse());
      assert.deepEqual(await find('second text'), [changed]);
      assert.deepEqual(await find('third text', { state: 'completed' }), [resumed]);
      runs.change(changed, { message: 'first text' });
      assert.deepEqual(await find('first text'), [...ids.slice(4).reverse(), changed]);
      for (const id of ids) runs.remove(id);
      assert.deepEqual([await find('first text'), (await find('fourth text')).length], [[], MANY]);
      index.close();
    });

    it('takes each character of a text as it is, in either case', async () => {
      const runs = new FakeRuns();
      const texts = ['100% of a_b', `it's "so"`, 'ÄPFEL und Ñandú', 'ЖУК', 'a*[b]?\\', '日本 🙂', 'a\nb'];
      const ids = texts.map((message) => runs.add({ message }));
      const index = await (await make()).open(runs);
      const find = async (text: string) => (await index.query({ text })).runs.map(({ run_id }) => run_id);
      const check = async () => {
        for (const [at, text] of texts.entries())
          for (const sought of [text, text.toUpperCase(), text.toLowerCase(), text.slice(1)])
            assert.deepEqual(await find(sought), [ids[at]], sought);
        for (const text of ['100_', 'a%b', 'it"s', '[b', '本日', 'apfel', '_ ', '%_', '\0'])
          assert.deepEqual(await find(text), text === '[b' ? [ids[4]] : [], text);
      };
      await check();
      for (let i = 0; i < MANY; i++) runs.add({ message: 'other' });
      await check();
      index.close();
    });

    it('answers concurrent readers, each of which updates it', async () => {
      const runs = new FakeRuns();
      const { open } = await make();
      const readers = await Promise.all(Array.from({ length: 4 }, () => open(runs)));
      for (let round = 1; round <= 5; round++) {
        for (let i = 0; i < 10; i++) runs.add({});
        const totals = await Promise.all(
          readers.map(async (index) => (await index.query({ limit: 1 })).total),
        );
        assert.deepEqual(totals, [round * 10, round * 10, round * 10, round * 10]);
      }
      for (const index of readers) index.close();
    });
  });
}

type Used = Pick<SourceRun, 'cpu_s' | 'cost_usd'> & Partial<Pick<SourceRun, 'cost'>>;

/** Runs as a store has them, with the order in which they ended. */
class FakeRuns implements RunSource {
  readonly asked = new Map<string, IndexedQuestion[]>();
  reads = 0;
  existenceQueries = 0;
  readonly questionReads = new Set<string>();
  readonly #runs = new Map<string, IndexedRun>();
  readonly #used = new Map<string, Used>();
  readonly #removed = new Set<string>();
  readonly #gone = new Map<string, IndexedRun>();
  #doubtful: IdRange[] = [];
  #ledger: string[] = [];
  #generation = 0;
  #nextMs = Date.parse('2026-01-01T00:00:00.000Z');

  add(run: Partial<IndexedRun>, used: Used = { cpu_s: null, cost_usd: null }): string {
    this.#nextMs += 1_000;
    const createdMs = this.#nextMs;
    const run_id = newRunId(createdMs);
    const time = new Date(createdMs).toISOString();
    const facts = {
      kind: 'tool',
      code: null,
      message: null,
      attempt: 1,
      caller: null,
      parent: null,
    } as const;
    this.#runs.set(run_id, {
      run_id,
      tool: 'tool',
      state: 'completed',
      ...facts,
      created_at: time,
      ended_at: time,
      duration_s: 1,
      ...run,
    });
    this.#used.set(run_id, used);
    if (isFinal(this.run(run_id).state)) this.#ledger.push(run_id);
    return run_id;
  }

  run(runId: string): IndexedRun {
    return this.#runs.get(runId)!;
  }

  change(runId: string, change: Partial<IndexedRun>): void {
    this.#runs.set(runId, { ...this.run(runId), ...change });
    if (isFinal(this.run(runId).state)) this.#ledger.push(runId);
  }

  remove(runId: string): void {
    this.#runs.delete(runId);
    this.#removed.add(runId);
    this.#gone.delete(runId);
    this.#ledger.push(runId);
  }

  /** Removed by hand: no ledger knows. */
  forget(runId: string): void {
    this.#gone.set(runId, this.run(runId));
    this.#runs.delete(runId);
  }

  /** The runs from one to another are gone, and the source knows that something is. */
  losePack(first: string, last: string): void {
    for (const runId of this.#runs.keys()) if (first <= runId && runId <= last) this.forget(runId);
    this.#doubtful = [{ first, last }];
  }

  restore(): void {
    for (const [runId, run] of this.#gone) this.#runs.set(runId, run);
    this.#gone.clear();
    this.#doubtful = [];
  }

  /** The ledger was compacted. */
  shorten(): void {
    this.#ledger = [];
    this.#generation++;
  }

  async position(): Promise<string> {
    return `${this.#generation}:${this.#ledger.length}`;
  }

  async changesAfter(position: string) {
    const [generation, at] = position.split(':').map(Number);
    if (generation !== this.#generation) return undefined;
    const runIds = this.#ledger.slice(at);
    const removed = runIds.filter((runId) => this.#removed.has(runId));
    return { runIds, removed, position: await this.position(), doubtful: this.#doubtful };
  }

  async list(): Promise<string[]> {
    return [...this.#runs.keys()];
  }

  async unended(): Promise<string[]> {
    return [...this.#runs.values()].filter(({ state }) => !isFinal(state)).map(({ run_id }) => run_id);
  }

  async existing(runIds: readonly string[]): Promise<Set<string>> {
    this.existenceQueries++;
    return new Set(runIds.filter((runId) => this.#runs.has(runId)));
  }

  async missing(runIds?: readonly string[]): Promise<string[]> {
    return [...this.#gone.keys()].filter((runId) => runIds?.includes(runId) !== false);
  }

  async read(runId: string) {
    this.reads++;
    const run = this.#runs.get(runId);
    return (
      run && {
        run,
        mayHaveAsked: this.asked.has(runId),
        text: [run.run_id, run.tool, run.code, run.message].join('\n'),
        cost: null,
        ...this.#used.get(runId)!,
      }
    );
  }

  async questions(runId: string): Promise<IndexedQuestion[]> {
    this.questionReads.add(runId);
    return this.asked.get(runId) ?? [];
  }
}
