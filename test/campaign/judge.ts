import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Event, parseLines } from '../support/project.ts';
import type { Course } from './course.ts';
import {
  answersLost,
  artifactWrong,
  doneTwice,
  gapsIn,
  ledgerLacks,
  lossHidden,
  lostSince,
  stateBreaks,
} from './invariants.ts';
import type { RoundPlan } from './round-plan.ts';
import { streamProblems } from './stream.ts';

/** The problems of a completed run that has no live process any more. */
export async function judge(course: Course): Promise<string[]> {
  const { lane, plan, runId, recordFolder } = course;
  if (runId === undefined) return ['there is no run'];
  const log = lane.log(runId);
  const events = parseLines(log);
  const report = join(lane.runsDir, runId, 'artifacts', 'report.txt');
  const text = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const { ok, error } = await lane.envelope(['verify', runId]);
  return [
    ...gapsIn(events),
    ...stateBreaks(events),
    ...course.seen.flatMap((earlier) => lostSince(earlier, log)),
    ...course.losses.flatMap((before) => lossHidden(before, events)),
    ...(await Promise.all(course.streams.map((stream) => streamProblems(stream, log)))).flat(),
    ...(await Promise.all(course.bystanders))
      .filter(({ code }) => code !== 0)
      .map(({ stdout }) => `acor ${plan.bystander} said beside it: ${stdout}`),
    ...answersLost(course.acknowledged, events),
    ...doneTwice(readFileSync(join(recordFolder, 'journal'), 'utf8'), readdirSync(recordFolder), plan.steps),
    ...artifactWrong(events.at(-1), text, reportOf(plan, events)),
    ...ledgerLacks(readFileSync(join(lane.runsDir, 'ledger.jsonl'), 'utf8'), runId, log),
    ...(ok ? [] : [`acor verify: ${error.message}`]),
  ];
}

/** The content that the tool must have produced from its steps and answers. */
function reportOf({ steps, asks }: RoundPlan, events: readonly Event[]): string {
  const answerTo = (id: string) =>
    events.find(({ type, action_id }) => type === 'action_answered' && action_id === id)?.answer;
  return [`steps ${steps}\n`, ...asks.map((step) => `way-${step} ${answerTo(`way-${step}`)}\n`)].join('');
}
