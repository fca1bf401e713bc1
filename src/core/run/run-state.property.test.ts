import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { StoreRig } from '../../../test/contracts/run-store.ts';
import { loseRun } from '../../../test/support/lose-run.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { checkedStates } from '../../../test/support/state-chain.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { isFinal, mayFollow, RUN_STATES, type RunState } from '../../protocol/run.ts';
import { newRunId, newSpanId } from '../../util/ids.ts';
import { nextTurn } from '../../util/pause.ts';
import { identify } from '../../util/process-table.ts';
import { verifyRun } from '../audit/verify.ts';
import type { NewRun, RunStore, RunWriter } from '../ports/run-store.ts';
import { FileRunStore } from '../store-files/file-run-store.ts';
import { MemoryRunStore } from '../store-memory/memory-run-store.ts';
import { Questions } from './answers/questions.ts';
import { Intake } from './attempt/intake.ts';
import { type Outcome, stopped } from './outcome.ts';
import { readEvents } from './read-log.ts';
import { recoverRun } from './recover-lost-run.ts';
import { prepareWorkspace, Workspaces } from './workspace.ts';
import { enterState, UNKNOWN_USAGE, writeEnding } from './write-ending.ts';

const SEED = Number(process.env.ACOR_TEST_SEED ?? Date.now() % 2 ** 31);
const LIVES = 100;
/** More lives follow until each change of state has happened: in a hundred of them a rare one may not. */
const MAX_LIVES = 1_500;
const STEPS = 30;
const STATES = Object.keys(RUN_STATES) as RunState[];
const root = mkdtempSync(join(tmpdir(), 'acor-states-'));
const workspaces = new Workspaces(join(root, '.runs'));
after(() => rmSync(root, { recursive: true, force: true }));

const RIGS: Readonly<Record<string, () => StoreRig & { verify(runId: string): Promise<unknown[]> }>> = {
  files: () => {
    const runsDir = join(root, '.runs');
    const store = new FileRunStore(runsDir, commandOf);
    return {
      open: () => store,
      lose: (runId) => loseRun(runsDir, runId),
      verify: async (runId) => (await verifyRun(store, runId)).problems,
    };
  },
  memory: () => {
    const store = new MemoryRunStore(commandOf);
    return { open: () => store, lose: (runId) => store.leases.lose(runId), verify: async () => [] };
  },
};

for (const [name, rigOf] of Object.entries(RIGS)) {
  describe(`the states of a run in the store '${name}' (seed ${SEED})`, () => {
    it('follow the table in whatever order things happen to it', async () => {
      const random = new SeededRandom(SEED);
      const rig = rigOf();
      const seen = new Set<string>();
      // A walk that never gets about would prove nothing. Before it ends a run, the runner takes what is asked back.
      const all = STATES.flatMap((from) => RUN_STATES[from].map((to) => `${from} → ${to}`));
      const unseen = () => all.filter((change) => change !== 'waiting_ai → cancelled' && !seen.has(change));
      for (let life = 0; life < LIVES || (unseen().length > 0 && life < MAX_LIVES); life++) {
        const run = await RandomRun.begin(rig, random);
        try {
          for (let step = 0; step < STEPS; step++) await run.step();
          await run.die();
          for (const change of await run.checked()) seen.add(change);
          assert.deepEqual(await rig.verify(run.runId), []);
        } catch (error) {
          throw new Error(`seed ${SEED}, life ${life}, after: ${run.steps.join(', ')}`, { cause: error });
        }
      }
      assert.deepEqual(unseen(), []);
      assert.ok(!seen.has('waiting_ai → cancelled'));
    });
  });
}

/** One run to which things happen in any order, through the code that the runner itself uses. */
class RandomRun {
  readonly steps: string[] = [];
  readonly runId: string;
  readonly #store: RunStore;
  readonly #lose: StoreRig['lose'];
  readonly #random: SeededRandom;
  #writer: RunWriter;
  #questions!: Questions;
  #intake!: Intake;
  #isAttempting = false;
  #failure: unknown;
  /** Once the run is over. */
  #ended: RunState | undefined;

  private constructor(store: RunStore, lose: StoreRig['lose'], random: SeededRandom, writer: RunWriter) {
    this.#store = store;
    this.#lose = lose;
    this.#random = random;
    this.#writer = writer;
    this.runId = writer.record.run_id;
    this.#supervise();
  }

  static async begin({ open, lose }: StoreRig, random: SeededRandom): Promise<RandomRun> {
    const store = open();
    return new RandomRun(store, lose, random, await store.create(newRun(newRunId())));
  }

  async step(): Promise<void> {
    const happening = this.#random.pick([
      'goToWork',
      'goToWork',
      'toolEmits',
      'toolEmits',
      'toolEmits',
      'toolAsks',
      'toolAsks',
      'answer',
      'answer',
      'attemptEnds',
      'end',
      'die',
      'reopenRun',
      'goAstray',
    ] as const);
    this.steps.push(happening);
    await this[happening]();
    if (this.#failure !== undefined) throw this.#failure;
    await this.checked();
  }

  /** Starts an attempt, of a new run or of a run that continues. */
  async goToWork(): Promise<void> {
    if (this.#isAttempting || isFinal(this.#state)) return;
    if (this.#state === 'queued') {
      enterState(this.#writer, 'running');
      // A supervisor may die between the log and the record.
      await this.#writer.log.flush();
      if (this.#random.chance(0.1)) return this.die();
      await this.#writer.update({ state: 'running' });
    }
    this.#isAttempting = true;
    this.#questions.begin({
      deliver: () => {},
      answerFields: () => ({}),
      onResumed: () => {},
      onUnanswered: () => {},
      onFailed: (error) => {
        this.#failure = error;
      },
    });
  }

  /** Between attempts, too: the last output of a tool is read after its end. */
  async toolEmits(): Promise<void> {
    if (isFinal(this.#state) || this.#state === 'queued') return;
    const type = this.#random.pick([
      'start',
      'progress',
      'result',
      'error',
      'cancelled',
      'runner_state',
      'odd',
    ]);
    this.#intake.accept({ type, from: 'running', to: 'completed', step: 's', pct: 1, status: 'ok', seq: 7 });
    await this.#writer.log.flush();
  }

  async toolAsks(): Promise<void> {
    if (isFinal(this.#state) || this.#state === 'queued') return;
    this.#intake.accept({
      type: 'action_required',
      action: this.#random.pick(['choose', 'prepared', 'prepared-wrong']),
      action_id: this.#random.pick(['a-1', 'a-2', 'a-3', 'a-4', '../a']),
      context: {},
      blocking: this.#random.chance(0.7),
      ...(this.#random.chance(0.8) && { options: [{ id: 'yes' }] }),
      ...(this.#random.chance(0.2) && { default: 'yes', timeout_s: 0.001 }),
    });
    await this.#writer.log.flush();
    if (this.#random.chance(0.3)) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  /** Also to a question that is not open, with an invalid value, and after the end of the run. */
  async answer(): Promise<void> {
    if (isFinal(this.#state)) return;
    this.#questions.take({
      answer_id: newSpanId(),
      action_id: this.#random.pick(['a-1', 'a-2', 'a-3', 'a-4', 'a-9']),
      answer: this.#random.chance(0.8) ? 'yes' : 'no',
      by: 'a user',
      source: 'command',
    });
    if (this.#random.chance(0.5)) await nextTurn();
  }

  async attemptEnds(): Promise<void> {
    if (!this.#isAttempting) return;
    await this.#questions.end();
    this.#isAttempting = false;
  }

  async end(): Promise<void> {
    await this.attemptEnds();
    const ends = (['completed', 'failed', 'cancelled'] as const).filter((to) => mayFollow(this.#state, to));
    if (ends.length === 0) return;
    const state = this.#random.pick(ends);
    const outcome: Outcome =
      state === 'failed'
        ? stopped('E_DEADLINE', 'too late')
        : { state, code: null, message: null, hint: null, retryable: false, byRunner: false };
    await writeEnding(this.#writer, outcome, FACTS);
    this.#writer.close();
  }

  /** The supervisor dies, and another process recovers the run. */
  async die(): Promise<void> {
    if (!isFinal((await this.#store.read(this.runId)).state)) this.#lose(this.runId);
    const record = await recoverRun({ store: this.#store, workspaces }, this.runId);
    assert.ok(isFinal(record.state));
    assert.equal(record.lost, undefined);
    assert.deepEqual(await recoverRun({ store: this.#store, workspaces }, this.runId), record);
    assert.deepEqual(await this.#store.read(this.runId), record);
    assert.equal(await this.#store.leases.inspect(this.runId), 'none');
    // If the supervisor is still alive, the store refuses its later writes.
    await this.#questions.end().catch(() => {});
    this.#writer.close();
    this.#isAttempting = false;
    this.#failure = undefined;
    this.#ended = record.state;
  }

  async reopenRun(): Promise<void> {
    if (!isFinal(this.#state)) return;
    this.#writer = await this.#store.takeOver(this.runId);
    this.#ended = undefined;
    enterState(this.#writer, 'queued', 'resume');
    await this.#writer.update({ state: 'queued', attempt: this.#writer.record.attempt + 1 });
    if (this.#random.chance(0.1)) return this.die();
    await this.#writer.log.flush();
    this.#supervise();
  }

  /** Tries a state change that the table does not allow. Writing it to the log would break the chain that each step checks. */
  async goAstray(): Promise<void> {
    if (isFinal(this.#state)) return;
    const to = this.#random.pick(STATES);
    if (mayFollow(this.#state, to)) return;
    assert.throws(() => enterState(this.#writer, to), /cannot go from/);
    await this.#writer.log.flush();
  }

  /** The changes of state in the log, which must follow the table. */
  async checked(): Promise<string[]> {
    return checkedStates(await this.#events());
  }

  async #events(): Promise<Record<string, unknown>[]> {
    const events: Record<string, unknown>[] = [];
    for await (const event of readEvents(this.#store, this.runId, { wait: false })) events.push(event);
    return events;
  }

  get #state(): RunState {
    return this.#ended ?? this.#writer.record.state;
  }

  #supervise(): void {
    const workspace = workspaces.of(this.runId);
    prepareWorkspace(workspace);
    this.#questions = new Questions(this.#writer, {
      workspace,
      answers: [
        { action: 'prepared', answer: 'yes', by: 'caller', source: 'beforehand' },
        { action: 'prepared-wrong', answer: 'no', by: 'caller', source: 'beforehand' },
      ],
      onQuestion: undefined,
      answerTimeoutS: 600,
    });
    this.#intake = new Intake(this.#writer.log, {
      joinsLines: true,
      runId: this.runId,
      mayEmitTasks: false,
      onQuestion: (event) => this.#questions.ask(event),
      onInvalidQuestion: () => {},
      onMetrics: () => {},
    });
  }
}

const FACTS = {
  cost: null,
  rc: 0,
  signal: null,
  duration_s: 0,
  usage: UNKNOWN_USAGE,
  artifacts: [],
  survivors: [],
  next: [],
  attempt: 1,
};

function newRun(runId: string): NewRun {
  return {
    run_id: runId,
    kind: 'tool',
    tool: 'a_tool',
    tool_version: null,
    tool_digest: null,
    usage: null,
    cost_usd: null,
    cost: null,
    cost_limit_usd: null,
    staged: [],
    args: [],
    given_args: [],
    cwd: '/',
    state: 'queued',
    attempt: 1,
    created_at: new Date().toISOString(),
    started_at: null,
    ended_at: null,
    timeout_s: 1800,
    code: null,
    message: null,
    rc: null,
    signal: null,
    events: null,
    duration_s: null,
    trace_id: 'a'.repeat(32),
    span_id: 'b'.repeat(16),
    idempotent: true,
    idempotency_key: null,
    replays: null,
    supervisor: identify(process.pid),
    isolation: { backend: 'none', tier: 3, enforced: [], not_enforced: [] },
    acor_version: '0.1.0',
    protocol_version: 1,
    caller: null,
    writes: null,
    parent: null,
    reads: null,
  };
}
