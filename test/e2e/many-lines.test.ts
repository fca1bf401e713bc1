import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { needsStrace, startTraced } from '../support/faults.ts';
import { type Event, type RunOfTool, TestProject } from '../support/project.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const LINES = 40_000;
const RESULT = `echo '{"type":"result","status":"ok"}'`;

describe('a flood of lines that are not messages', () => {
  const kinds = [
    { kind: 'a JSONL tool', script: `seq ${LINES}\n${RESULT}`, type: 'runner_log', field: 'line' },
    { kind: 'standard error', script: `seq ${LINES} >&2\n${RESULT}`, type: 'diagnostic', field: 'line' },
    { kind: 'a plain program', script: `seq ${LINES}`, type: 'log', field: 'msg', adapter: 'plain' },
  ];
  for (const { kind, script, type, field, adapter = 'jsonl' } of kinds)
    it(`is stored whole and in order in few events: ${kind}`, async () => {
      using project = new TestProject();
      const run = await runScript(project, script, adapter);
      assert.equal(run.end.state, 'completed');
      const events = run.of(type);
      assert.deepEqual(linesOf(events, field), wantedLines());
      // The first 10,000 lines have an event each; `seq` writes about a thousand lines at once.
      assert.ok(events.length < 15_000, `${events.length} events`);
    });

  it('keeps its place among the messages of the tool', async () => {
    using project = new TestProject();
    const round = `seq 12000\necho '{"type":"progress","pct":1,"msg":"between"}'\n`;
    const run = await runScript(project, `${round.repeat(3)}${RESULT}`, 'jsonl');
    const between = run.events.flatMap((event, at) => (event.type === 'progress' ? [at] : []));
    assert.equal(between.length, 3);
    for (const [round, at] of between.entries()) {
      const before = run.events.slice(round === 0 ? 0 : between[round - 1]! + 1, at);
      assert.equal(
        linesOf(
          before.filter(({ type }) => type === 'runner_log'),
          'line',
        ).length,
        12_000,
      );
    }
  });
});

describe('a flood of messages', () => {
  it('is stored line by line, completed and numbered, and only once', async () => {
    using project = new TestProject();
    const random = new SeededRandom(5);
    const sent = Array.from({ length: 40_000 }, (_, at) => lineFor(at, random));
    project.write('tools/floods/lines.jsonl', sent.map(({ line }) => `${line}\n`).join(''));
    const run = await runScript(project, `cat "\${0%/*}/lines.jsonl"\n${RESULT}`, 'jsonl');
    assert.equal(run.end.state, 'completed', JSON.stringify(run.end));
    assert.deepEqual(
      run.events.map(({ seq }) => seq),
      Array.from(run.events, (_, index) => index + 1),
    );
    const stored = run.events.filter(({ at }) => typeof at === 'number');
    assert.deepEqual(
      stored.map(({ seq: _, ts, ...event }) => ({ ...event, ts: typeof ts })),
      sent
        .filter(({ event }) => event !== undefined)
        .map(({ event }) => ({
          ...{ v: 1, ts: 'string', run_id: run.end.run_id, ...event },
          ...(event?.run_id !== undefined && { run_id: run.end.run_id, claimed_run_id: event.run_id }),
        })),
    );
    const raw = readFileSync(project.path('.runs', String(run.end.run_id), 'logs', 'stdout.log'), 'utf8');
    const unkept = sent.filter(({ isFrequent }) => !isFrequent).map(({ line }) => `${line}\n`);
    assert.equal(raw, `${unkept.join('')}{"type":"result","status":"ok"}\n`);
    assert.equal((await project.acor(['verify', String(run.end.run_id)])).code, 0);
  });
});

describe('a log that is synced beside its writes', needsStrace, () => {
  it('is not sealed after such a sync has failed, though a later one would succeed', async () => {
    using project = new TestProject();
    project.write('.acor/config.yaml', 'version: 1\nenvironment:\n  max_output_size: 100000000\n');
    const line = JSON.stringify({ type: 'log', level: 'info', msg: 'x'.repeat(1000) });
    writeTool(project, `yes '${line}' | head -n 40000\n${RESULT}`, 'jsonl');
    const syncs = { name: 'sync', error: 'EIO', calls: ['fdatasync'] };
    // strace counts in each thread on its own, and the main one syncs last.
    const place = { call: 'fdatasync', number: 1, path: '', failed: true };
    const args = ['run', 'floods', '--no-stream'];
    const failed = await startTraced(project, args, syncs, { place, persists: false, follows: true })
      .finished;
    assert.match(failed.stdout, /"code":"E_STORAGE".*cannot sync the event log/);
    const made =
      readFileSync(project.path('trace'), 'utf8').match(/fdatasync\([^)]*events\.jsonl.*$/gm) ?? [];
    assert.equal(made.length, 1, made.join('\n'));
    const control = await startTraced(project, args, syncs, { follows: true }).finished;
    assert.match(control.stdout, /"state":"completed"/);
  });
});

/** A line of the tool, the event that it becomes if it is a message, and whether it is a frequent one, which is not stored twice. */
function lineFor(
  at: number,
  random: SeededRandom,
): { line: string; event?: Record<string, unknown>; isFrequent: boolean } {
  const progress = { type: 'progress', at, pct: at % 100, msg: 'é'.repeat(random.below(40)) };
  if (at % 97 === 0) return { line: `text ${at}`, isFrequent: false };
  // Its count of metrics is the runner's to note.
  if (at % 89 === 0) {
    const event = { ...progress, metrics: { done: at } };
    return { line: JSON.stringify(event), event, isFrequent: false };
  }
  const event = random.pick([progress, { ...progress, v: 1 }, { ...progress, run_id: 'r-1' }]);
  return { line: JSON.stringify(event), event, isFrequent: true };
}

function runScript(project: TestProject, script: string, adapter: string): Promise<RunOfTool> {
  writeTool(project, script, adapter);
  return project.run(['floods']);
}

function writeTool(project: TestProject, script: string, adapter: string): void {
  project.write(
    'tools/floods/tool.yaml',
    `name: floods\nversion: 1.0.0\ndescription: Floods.\nadapter: ${adapter}\n`,
  );
  project.write('tools/floods/cli.sh', `#!/bin/sh\n${script}\n`, 0o755);
}

function linesOf(events: readonly Event[], field: string): string[] {
  return events.flatMap((event) => String(event[field]).split('\n'));
}

function wantedLines(): string[] {
  return Array.from({ length: LINES }, (_, at) => String(at + 1));
}
