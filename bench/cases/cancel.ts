import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileRunStore } from '../../src/core/store-files/file-run-store.ts';
import { commandOf } from '../../src/operations/command-forms.ts';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { median } from '../support/measure.ts';
import { Project } from '../support/project.ts';

const GRACE_MS = 2000;
const POLL_MS = 20;

/** From the request to the end of runs whose tools ignore the cancel file: one grace period, whatever else is at work. */
export const cancel: Bench = {
  name: 'cancel',
  summary: 'cancelling runs',
  async run(context) {
    const project = new Project(context.workplace.makeFolder('cancel'));
    project.write('.acor/config.yaml', `version: 1\nenvironment: { cancel_grace_s: ${GRACE_MS / 1000} }\n`);
    project.write('tools/idle/tool.yaml', "version: 1.0.0\nadapter: plain\ncommand: [sleep, '600']\n");
    const rows: Row[] = [];
    for (const count of [1, context.long ? 100 : 20])
      rows.push({
        what: `cancel of ${count === 1 ? 'a run' : `each of ${count} runs at once`}`,
        unit: 'ms',
        acor: median(await cancelAll(project, count, context)),
        baseline: { what: 'the grace period', value: GRACE_MS },
        target: null,
      });
    return rows;
  },
};

/** How long each run took to end. */
async function cancelAll(project: Project, count: number, context: BenchContext): Promise<number[]> {
  const store = new FileRunStore(join(project.dir, '.runs'), commandOf);
  const ids = Array.from({ length: count }, () => startDetached(project, context));
  for (const runId of ids) await until(() => store.readNow(runId).state === 'running');
  const requested = new Map<string, number>();
  for (const runId of ids) {
    requested.set(runId, Date.now());
    await store.control.requestCancel(runId, 'the benchmark');
  }
  for (const runId of ids) await until(() => store.readNow(runId).state === 'cancelled');
  const tookMs = ids.map((runId) => endedMs(store, runId) - requested.get(runId)!);
  await until(() => ids.every((runId) => store.leases.stateOf(runId) === 'none'));
  project.removeRuns();
  return tookMs;
}

/** One after the other, so that the starts do not compete with the cancels. */
function startDetached(project: Project, { program, workplace }: BenchContext): string {
  const argv = ['run', '--detach', 'idle'];
  const out = execFileSync(program.acor, argv, { cwd: project.dir, env: workplace.env, encoding: 'utf8' });
  return JSON.parse(out).data.run_id;
}

function endedMs(store: FileRunStore, runId: string): number {
  const last = readFileSync(store.layout(runId).events, 'utf8').trimEnd().split('\n').at(-1)!;
  return Date.parse(JSON.parse(last).ts);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
