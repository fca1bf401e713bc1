import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Event, processesOf, readRun, TestProject, until } from '../support/project.ts';

function project(budget: string, tools: string[]): TestProject {
  const config = `version: 1\nbudget: ${budget}\nenvironment: { cancel_grace_s: 0.3 }\n`;
  return new TestProject({ tools, config });
}

describe('a project that limits its concurrent runs', () => {
  it('keeps the other runs in the state queued, reports why, and starts them when a slot is free', async () => {
    using limited = project('{ max_runs: 1 }', ['heeds_cancel', 'quick']);
    const first = limited.start(['run', 'heeds_cancel']);
    const firstId = String((await first.event('start')).run_id);
    const second = limited.start(['run', 'quick']);
    const log = await second.event('runner_log');
    assert.match(String(log.msg), /waits for a queue slot: budget.max_runs allows 1 at once/);
    assert.deepEqual(log.working, [firstId]);
    const secondId = String(log.run_id);
    assert.equal(limited.record(secondId)!.state, 'queued');
    const { data } = await limited.envelope(['runs']);
    assert.deepEqual(data.runs.map(({ state }: { state: string }) => state).sort(), ['queued', 'running']);
    await limited.acor(['cancel', firstId]);
    assert.equal((await second.finished).code, 0);
    const states = limited.events(secondId).filter(({ type }) => type === 'runner_state');
    assert.deepEqual(
      states.map(({ from, to }) => [from, to]),
      [
        ['queued', 'running'],
        ['running', 'completed'],
      ],
    );
    await first.finished;
    assert.deepEqual(readdirSync(limited.path('.runs', 'queue')), []);
  });

  it('never runs more at once than the limit, by the logs of twelve concurrent runs', async () => {
    using limited = project("{ max_runs: 3 }\nsecurity: { isolation: 'off' }", ['does']);
    const gate = limited.path('gate');
    // The tools end only when all other runs wait, so the machine cannot be too slow to start twelve runs at once.
    const wait = `until [ -e '${gate}' ]; do sleep 0.05; done`;
    const started = Array.from({ length: 12 }, () => limited.start(['run', 'does', wait]));
    const inState = (state: string) => limited.runIds().filter((id) => limited.record(id)?.state === state);
    await until(() => inState('running').length === 3 && inState('queued').length === 9);
    limited.write('gate', '');
    const runs = await Promise.all(started.map(async ({ finished }) => readRun(await finished)));
    const spans = runs.map(({ events }) => ({
      from: workFrom(events),
      to: Date.parse(String(events.at(-1)!.ts)),
    }));
    // Times are whole milliseconds: a run that ends in the millisecond in which another one starts counts as ended before it.
    const mostAtOnce = Math.max(
      ...spans.map(({ from }) => spans.filter((other) => other.from <= from && from < other.to).length),
    );
    assert.ok(mostAtOnce <= 3, `${mostAtOnce} at once`);
  });

  it('cancels a queued run without starting its tool', async () => {
    using limited = project('{ max_runs: 1 }', ['heeds_cancel', 'appends']);
    mkdirSync(limited.path('traces'));
    const first = limited.start(['run', 'heeds_cancel']);
    const firstId = String((await first.event('start')).run_id);
    const second = limited.start(['run', 'appends', '--folder', 'traces']);
    const secondId = String((await second.event('runner_log')).run_id);
    const cancelled = await limited.envelope(['cancel', secondId]);
    assert.equal(cancelled.data.state, 'cancelled');
    assert.equal((await second.finished).code, 1);
    assert.deepEqual(readdirSync(limited.path('traces')), []);
    assert.equal(
      limited.events(secondId).some(({ type, to }) => type === 'runner_state' && to === 'running'),
      false,
    );
    await limited.acor(['cancel', firstId]);
    await first.finished;
  });

  it('gives the slot of a killed supervisor to the next run', async () => {
    using limited = project('{ max_runs: 1 }', ['waits', 'quick']);
    const first = limited.start(['run', 'waits']);
    const firstId = String((await first.event('start')).run_id);
    const second = limited.start(['run', 'quick']);
    await second.event('runner_log');
    process.kill(limited.record(firstId)!.pid, 'SIGKILL');
    assert.equal((await second.finished).code, 0);
    await until(() => processesOf(firstId).length === 0);
  });
});

describe('a ceiling of the project', () => {
  it('limits manifest and flag, and the run reports it', async () => {
    using limited = project('{ max_timeout_s: 0.4, max_attempts: 2, max_output_size: 1000 }', ['waits']);
    const late = await limited.run(['waits', '--timeout', '50']);
    assert.equal(late.end.code, 'E_DEADLINE');
    const atCeiling = /^Give it less work: budget\.max_timeout_s allows no run more than 0\.4 s,/;
    assert.match(String(late.of('runner_error')[0]!.hint), atCeiling);
    const { error } = await limited.envelope(['run', 'waits', '--no-stream']);
    assert.match(error.hint, atCeiling);
    const [, line] = / write to the configuration that sets it: (budget: \{ max_timeout_s: 0\.8 \})$/.exec(
      error.hint,
    )!;
    using raised = project(line!.slice('budget: '.length), ['waits']);
    const { error: again } = await raised.envelope(['run', 'waits', '--no-stream']);
    assert.match(again.message, /timed out after 0\.8 s/);
    const [warning] = late.of('runner_warning');
    assert.deepEqual([warning!.asked, warning!.allowed], [50, 0.4]);
    // Without a deadline that a busy machine could miss.
    using patient = project('{ max_attempts: 2, max_output_size: 1000 }', ['needs_three_tries', 'flood']);
    const tried = await patient.run(['needs_three_tries']);
    assert.deepEqual([tried.end.state, tried.end.attempt], ['failed', 2]);
    const flooded = await patient.run(['flood']);
    assert.equal(flooded.end.code, 'E_OUTPUT_LIMIT');
    assert.match(JSON.stringify(flooded.of('runner_error')), /1.?000/);
    assert.match(
      String(flooded.of('runner_error')[0]!.hint),
      /^Print less: budget\.max_output_size allows no run more than 1000 bytes/,
    );
    const { data } = await limited.envelope(['run', 'waits', '--timeout', '50', '--dry-run']);
    assert.deepEqual(data.lowered, [
      { what: 'timeout_s', asked: 50, allowed: 0.4 },
      { what: 'max_output_size', asked: 30_000_000, allowed: 1000 },
    ]);
    assert.equal(data.limits.timeout_s, 0.4);
  });

  it('limits the resources of a manifest, also where the manifest sets none', async () => {
    using limited = project('{ resources: { open_files: 40, disk_mb: 5 } }', ['quick']);
    limited.write(
      'tools/quick/tool.yaml',
      'name: quick\nversion: 1.0.0\npermissions: { level: standard }\nresources: { open_files: 4000 }\n',
    );
    limited.write('tools/quick/cli.sh', '#!/bin/bash\nulimit -n\n', 0o755);
    const { of } = await limited.run(['quick']);
    const warnings = of('runner_warning').filter(({ asked }) => asked !== undefined);
    assert.deepEqual(
      warnings.map(({ msg, asked, allowed }) => [msg, asked, allowed]),
      [["the project's budget allows resources.open_files 40, not 4000", 4000, 40]],
    );
    assert.match(JSON.stringify(of('runner_log')), /"40"/);
    const { data } = await limited.envelope(['run', 'quick', '--dry-run']);
    assert.deepEqual(data.lowered, [{ what: 'resources.open_files', asked: 4000, allowed: 40 }]);
    const { open_files, disk_mb } = data.limits.resources;
    assert.deepEqual([open_files, disk_mb], [40, 5]);
  });

  it('is the cause: without it, the same tool gets its third attempt (the control)', async () => {
    using free = project('{}', ['needs_three_tries']);
    assert.equal((await free.run(['needs_three_tries'])).end.state, 'completed');
  });
});

describe('a service that rejects calls over its limit', () => {
  it('gets fewer concurrent runs, so that all of them complete without extra retries', async () => {
    using limited = project('{}', ['one_at_a_time']);
    mkdirSync(limited.path('service'));
    const runs = Array.from({ length: 4 }, () =>
      limited.run(['one_at_a_time', '--service', 'service', '--retries', '6']),
    );
    await until(() => limited.runIds().some((runId) => isHeldBack(limited.path('.runs', runId))));
    limited.write('service/go', '');
    assert.deepEqual(
      (await Promise.all(runs)).map(({ end }) => end.state),
      ['completed', 'completed', 'completed', 'completed'],
    );
  });
});

function workFrom(events: readonly Event[]): number {
  return Date.parse(String(events.find(({ type, to }) => type === 'runner_state' && to === 'running')!.ts));
}

function isHeldBack(dir: string): boolean {
  const log = join(dir, 'events.jsonl');
  return existsSync(log) && readFileSync(log, 'utf8').includes('E_RATE_LIMIT, so');
}
