import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { verifyStore } from '../../src/core/audit/verify.ts';
import { FileRunStore } from '../../src/core/store-files/file-run-store.ts';
import { Ledger } from '../../src/core/store-files/ledger.ts';
import { commandOf } from '../../src/operations/command-forms.ts';
import { ERROR_CODES } from '../../src/protocol/error-codes.ts';
import { isFinal } from '../../src/protocol/run.ts';
import type { RunRecord } from '../../src/protocol/run-record.ts';
import { isRunning } from '../../src/util/process-table.ts';
import {
  chosenOf,
  FAULT_KINDS,
  type Fault,
  type FaultKind,
  needsStrace,
  type Place,
  placesOf,
  startTraced,
} from '../support/faults.ts';
import { ACOR, type Finished, processesOf, type Running, until } from '../support/project.ts';
import { WorkflowProject } from '../support/workflow-project.ts';

/** So many cases at a time, each in a project of its own. */
const LANES = 3;

interface Scenario {
  name: string;
  kinds: FaultKind[];
  /** Also injects the faults into processes that the command starts. */
  follows?: boolean;
  /** Prepares the project, and returns the command. */
  prepare(project: WorkflowProject): Promise<string[]>;
  /** What others do while the command is at work; returns the answer that was acknowledged. */
  meanwhile?(project: WorkflowProject, running: Running): Promise<string | undefined>;
  /** What must hold besides, when everything has been recovered and resumed. */
  after?(project: WorkflowProject, answered: string | undefined): Promise<void>;
}

const { sync, write, open, rename } = FAULT_KINDS;
const QUIETLY = '--no-stream';
const ANSWERS = ['--answer', 'a-1=fast', '--answer', 'a-2=slow'];
/** Every kind of fault at every call of every scenario, once and from then on: more than an hour. */
const ALL = process.env.ACOR_ALL_FAULTS !== undefined;

/** Where the scenarios so far had which fault. */
const tried = new Set<string>();

const SCENARIOS: Scenario[] = [
  {
    name: 'a run that asks and makes an artifact',
    kinds: [sync, write, open, rename],
    prepare: async () => ['run', 'asks_here', QUIETLY],
    meanwhile: answerWhenAsked,
    async after(project, answered) {
      const runId = recordsOf(project).find(({ tool }) => tool === 'asks_here')?.run_id;
      if (runId === undefined) return;
      const events = project.events(runId);
      const answers = events.filter(({ type }) => type === 'action_answered');
      if (answered !== undefined)
        assert.deepEqual(
          answers.map(({ answer, by }) => [answer, by]),
          [[answered, 'me']],
        );
      const { artifacts } = events.findLast(({ type }) => type === 'runner_end') as unknown as {
        artifacts: unknown[];
      };
      assert.equal(artifacts.length, 1);
    },
  },
  {
    name: 'a run with a key',
    kinds: [sync],
    prepare: async () => ['run', 'quick', '--idempotency-key', 'k', QUIETLY],
    async after(project) {
      const { data } = await project.envelope(['run', 'quick', '--idempotency-key', 'k', QUIETLY]);
      assert.equal(data?.state, 'completed');
      const keyed = recordsOf(project).filter(({ idempotency_key }) => idempotency_key === 'k');
      assert.deepEqual(
        keyed.map(({ run_id }) => run_id),
        [data.run_id],
      );
    },
  },
  {
    name: 'a workflow',
    kinds: [sync],
    follows: true,
    async prepare(project) {
      const steps = [
        { name: 'first', ...project.noting('one') },
        { name: 'second', needs: ['first'], ...project.noting('two') },
      ];
      return ['workflow', 'run', project.workflow({ name: 'flow', steps }), QUIETLY];
    },
  },
  {
    name: 'the resume of a run that failed',
    kinds: [sync],
    async prepare(project) {
      await project.acor(['run', 'steps', '--how', 'fails']);
      return ['resume', project.runIds()[0]!, QUIETLY];
    },
  },
  {
    name: 'the resume of a lost run that had an answer',
    kinds: [sync, write, rename],
    async prepare(project) {
      const running = project.start(['run', 'asks_twice', QUIETLY]);
      await until(() => project.record(project.runIds()[0] ?? '')?.state === 'waiting_ai');
      const runId = project.runIds()[0]!;
      const { code } = await project.envelope(['answer', runId, 'a-1', '--choice', 'fast', '--by', 'me']);
      assert.equal(code, 0);
      // The second question is the last that is written before the kill.
      await until(
        () =>
          project.events(runId).some(({ action_id }) => action_id === 'a-2') &&
          project.record(runId)?.state === 'waiting_ai',
      );
      running.child.kill('SIGKILL');
      await running.finished;
      await until(() => processesOf(runId).length === 0);
      return ['resume', runId, '--answer', 'a-2=slow', QUIETLY];
    },
    async after(project) {
      const answers = project
        .events(project.runIds()[0]!)
        .filter(({ type }) => type === 'action_answered')
        .map(({ action_id, answer }) => [action_id, answer]);
      assert.deepEqual(answers[0], ['a-1', 'fast']);
      assert.equal(answers.filter(([id]) => id === 'a-1').length, 1);
    },
  },
  {
    name: 'the packing of runs',
    kinds: [sync, write],
    prepare: async (project) => {
      await twoRuns(project);
      return ['clean', '--pack', '--keep', '0'];
    },
    after: bothRunsAreThere,
  },
  {
    name: 'the resume of a packed run',
    kinds: [sync],
    async prepare(project) {
      await project.acor(['run', 'steps', '--how', 'fails']);
      await project.supervisorsExited();
      await project.envelope(['clean', '--pack', '--keep', '0']);
      return ['resume', recordsOf(project)[0]!.run_id, QUIETLY];
    },
  },
];

async function twoRuns(project: WorkflowProject): Promise<void> {
  await project.acor(['run', 'quick', '--idempotency-key', 'k']);
  await project.acor(['run', 'quick']);
  await project.supervisorsExited();
}

async function bothRunsAreThere(project: WorkflowProject): Promise<void> {
  const records = recordsOf(project);
  // The third one is the run that recovered the others.
  assert.equal(records.length, 3);
  for (const { run_id } of records)
    assert.match((await project.acor(['logs', run_id])).stdout, /"type":"runner_end"/);
  const again = await project.envelope(['clean', '--pack', '--keep', '0']);
  assert.equal(again.ok, true, JSON.stringify(again));
}

async function answerWhenAsked(project: WorkflowProject, running: Running): Promise<string | undefined> {
  let isOver = false;
  void running.finished.then(() => {
    isOver = true;
  });
  await until(() => isOver || project.record(project.runIds()[0] ?? '')?.state === 'waiting_ai');
  if (isOver) return undefined;
  const { code } = await project.envelope(['answer', project.runIds()[0]!, '--choice', 'fast', '--by', 'me']);
  return code === 0 ? 'fast' : undefined;
}

function newProject(): WorkflowProject {
  const project = new WorkflowProject(['quick', 'steps']);
  const manifest = 'version: 1.0.0\ndescription: Asks here.\nidempotent: true\n';
  const ask = (id: string) =>
    `echo '{"type":"action_required","action_id":"${id}","action":"choose","blocking":true,"options":[{"id":"slow"},{"id":"fast"}]}'
until [ -e "$ANSWERS_DIR/${id}.json" ]; do sleep 0.05; done\n`;
  const end = `echo made > "$ARTIFACTS_DIR/made.txt"\necho '{"type":"result","status":"ok"}'\n`;
  for (const [name, asks] of [
    ['asks_here', ask('a-1')],
    ['asks_twice', ask('a-1') + ask('a-2')],
  ]) {
    project.write(`tools/${name}/tool.yaml`, `name: ${name}\n${manifest}`);
    project.write(`tools/${name}/cli.sh`, `#!/bin/sh\n${asks}${end}`, 0o755);
  }
  return project;
}

/** Plays a scenario with a fault at one place, or without one, and checks what must hold after any fault. */
async function play(scenario: Scenario, kind: FaultKind, fault?: Fault): Promise<Place[]> {
  using project = newProject();
  const args = await scenario.prepare(project);
  const running = startTraced(project, args, kind, { ...fault, follows: scenario.follows === true });
  const answered = await scenario.meanwhile?.(project, running);
  const finished = await running.finished;
  const places = placesOf(project);
  // A write that fails from then on fails for the answer, too: then only the exit code says so.
  const isMute = kind === write && fault?.persists === true && finished.stdout === '';
  if (isMute) assert.notEqual(finished.code, 0);
  // strace counts in each process on its own: the fault may have met the runtime before any code of ACOR.
  const isAborted = kind === open && scenario.follows === true && finished.signal === 'SIGABRT';
  const isOk = !isMute && !isAborted && assertOneEnvelope(finished);
  if (fault === undefined) assert.equal(finished.code, 0, finished.stdout);
  // A pooled supervisor stays for a while after its last run.
  if (!scenario.follows)
    await until(() => recordsOf(project).every(({ supervisor }) => !isRunning(supervisor)));
  for (const { run_id } of recordsOf(project)) assert.deepEqual(processesOf(run_id), []);
  if (isOk) {
    // A step may have ended in its log only: then the next start writes its record.
    for (const { state, parent } of recordsOf(project)) if (!parent) assert.equal(state, 'completed');
    await assertVerified(project, 'after the command');
    if (kind === sync && !scenario.follows) assert.deepEqual(unsynced(places), []);
  }
  // The start of any run recovers lost runs.
  const next = await project.envelope(['run', 'quick', QUIETLY]);
  assert.equal(next.data?.state, 'completed', JSON.stringify(next));
  await assertVerified(project, 'after recovery');
  for (const { run_id, state, parent } of recordsOf(project)) {
    assert.ok(isFinal(state), `run ${run_id} is ${state}`);
    if (state === 'completed' || parent) continue;
    const resume = ['resume', run_id, ...ANSWERS, QUIETLY];
    const first = await project.envelope(resume);
    // What a tool that is not idempotent had done by then is unknown, so ACOR asks.
    const again =
      first.error?.code === 'E_OUTCOME_UNKNOWN' ? await project.envelope([...resume, '--force']) : first;
    assert.equal(again.data?.state, 'completed', JSON.stringify(again));
  }
  await assertVerified(project, 'after resume');
  await scenario.after?.(project, answered);
  await project.supervisorsExited();
  assert.deepEqual(leftovers(project), []);
  return places;
}

function recordsOf(project: WorkflowProject): RunRecord[] {
  const store = new FileRunStore(project.runsDir, commandOf);
  return store.listNow().map((runId) => store.readNow(runId));
}

/** Paths whose last sync failed, in the trace of a command that writes one run. */
function unsynced(places: readonly Place[]): string[] {
  const last = new Map(places.map(({ path, failed }) => [path, failed]));
  return [...last].filter(([, failed]) => failed).map(([path]) => path);
}

/** A command says what has happened in one envelope, with a code of the table. */
function assertOneEnvelope({ code, signal, stdout, stderr }: Finished): boolean {
  assert.equal(signal, null);
  const lines = stdout.trimEnd().split('\n');
  assert.equal(lines.length, 1, `${stdout}${stderr}`);
  const { ok, data, error } = JSON.parse(lines[0]!);
  if (ok) {
    assert.equal(code, data.state === undefined || data.state === 'completed' ? 0 : 1, stdout);
    return code === 0;
  }
  assert.ok(Object.hasOwn(ERROR_CODES, error.code), error.code);
  assert.ok(error.hint, stdout);
  assert.equal(code === 1 || code === 2, true, stdout);
  return false;
}

async function assertVerified(project: WorkflowProject, when: string): Promise<void> {
  const store = new FileRunStore(project.runsDir, commandOf);
  const { runs, ledger } = await verifyStore(store);
  const problems = [...runs.flatMap((run) => run.problems), ...ledger];
  assert.deepEqual(problems, [], when);
  const entered = new Ledger(project.runsDir).lines();
  const ends = entered.map((line) => JSON.parse(line).events_sha256).filter((hash) => hash !== undefined);
  assert.equal(new Set(ends).size, ends.length, `${when}: an end is in the ledger twice`);
}

/** Remains of unfinished writes: partial files, locks and leases. */
function leftovers(project: WorkflowProject): string[] {
  const where = [
    '.runs',
    '(',
    '-name',
    '*.tmp',
    '-o',
    '-name',
    '*.lock*',
    '-o',
    '-path',
    '.runs/leases/*',
    ')',
  ];
  const { stdout } = spawnSync('find', where, { cwd: project.root, encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

describe('a fault of the disk or the system at any step', needsStrace, () => {
  for (const scenario of SCENARIOS)
    for (const kind of ALL ? Object.values(FAULT_KINDS) : scenario.kinds)
      it(`(${kind.name}: ${kind.error}) of ${scenario.name} is reported, and the record can be trusted`, async () => {
        const met = chosenOf(await play(scenario, kind), { every: ALL });
        assert.ok(met.length > 0);
        const places = ALL ? met : sampleOf(met, kind);
        // A disk that fails once, and one that fails from then on. A process that can open no file any more has its own test; and the
        // threads of several processes wake each other by writes, which no disk makes fail.
        const canPersist = kind === sync || (ALL && kind !== open && !(kind === write && scenario.follows));
        // In turn, unless all are wanted.
        const faults: Fault[] = places.flatMap((place, index) =>
          [false, true]
            .filter((persists) => (canPersist ? ALL || persists === (index % 2 === 1) : !persists))
            .map((persists) => ({ place, persists })),
        );
        const failures: string[] = [];
        const work = async () => {
          for (let fault = faults.shift(); fault !== undefined; fault = faults.shift()) {
            const { call, number, path } = fault.place;
            const where = `${call} ${number}${fault.persists ? '+' : ''} ${path}`;
            await play(scenario, kind, fault).catch((error) => failures.push(`${where}: ${error.message}`));
          }
        };
        await Promise.all(Array.from({ length: LANES }, work));
        assert.deepEqual(failures, []);
      });

  it('in which a tool cannot be read is no fault of the tool at the next start', async () => {
    using project = newProject();
    const quick = (started: Pick<Finished, 'stdout'>) =>
      JSON.parse(started.stdout).data.tools.find(({ name }: { name: string }) => name === 'quick');
    const inject = ['-P', project.path('tools/quick'), '-e', 'inject=openat:error=EMFILE:when=1'];
    const fault = spawnSync('strace', ['-f', '-o', '/dev/null', ...inject, ACOR, 'list'], {
      cwd: project.root,
      env: project.environment(),
      encoding: 'utf8',
    });
    const { status, problems } = quick(fault);
    assert.equal(status, 'broken');
    assert.match(problems[0], /EMFILE/);
    assert.equal(quick(await project.acor(['list'])).status, 'ok');
  });

  it('leaves a waiting run that can open no file any more to its cancel, which ends it with a whole record', async () => {
    using project = newProject();
    const asked = (await play(SCENARIOS[0]!, open)).find(({ path }) => path.endsWith('/questions.jsonl'));
    assert.ok(asked !== undefined);
    const fault = { place: asked, persists: true };
    const running = startTraced(project, ['run', 'asks_here', QUIETLY], open, { ...fault, follows: false });
    await until(() => project.runIds().some((id) => existsEvent(project, id, 'action_required')));
    const [runId] = project.runIds();
    const cancelled = await project.envelope(['cancel', runId!]);
    assert.equal(cancelled.ok, true, JSON.stringify(cancelled));
    await running.finished;
    assert.deepEqual(processesOf(runId!), []);
    await assertVerified(project, 'after cancel');
    // The end is in the log; its record follows with the next recovery.
    assert.ok(isFinal((await project.envelope(['show', runId!])).data.state));
  });
});

/** The places at which no scenario before had this fault, and every eighth of the others. */
function sampleOf(places: readonly Place[], kind: FaultKind): Place[] {
  const isNew = ({ call, path }: Place) => !tried.has(`${kind.name} ${call} ${path}`);
  const chosen = places.filter((place, index) => isNew(place) || index % 8 === 0);
  for (const { call, path } of chosen) tried.add(`${kind.name} ${call} ${path}`);
  return chosen;
}

function existsEvent(project: WorkflowProject, runId: string, type: string): boolean {
  return (
    existsSync(project.path(`.runs/${runId}/events.jsonl`)) &&
    project.events(runId).some((event) => event.type === type)
  );
}
