import { createHash } from 'node:crypto';
import { isFinal, mayFollow, type RunState } from '../../src/protocol/run.ts';
import type { RunRecord } from '../../src/protocol/run-record.ts';
import type { Event } from '../support/project.ts';

/** Each check returns the problems in words; an empty list when there are none. */

/** `seq` is 1, 2, 3 … without a gap. */
export function gapsIn(events: readonly Event[]): string[] {
  const at = events.findIndex(({ seq }, index) => seq !== index + 1);
  return at === -1 ? [] : [`seq is ${events[at]!.seq} where ${at + 1} belongs`];
}

/**
 * Every line that a follower showed is in the log, byte for byte, at its place. `since` is the `seq` before the first line. Only the end
 * that is reported for a lost run is not in the log; it is the last line, and has the `seq` of the event before it.
 */
export function shownButNotKept(shown: string, log: string, since: number): string[] {
  const kept = linesOf(log);
  const lines = linesOf(shown);
  const last = lines.length === 0 ? undefined : JSON.parse(lines.at(-1)!);
  const isLost = last?.type === 'runner_end' && last.lost === true;
  if (isLost) lines.pop();
  if (isLost && last.seq !== since + lines.length) return [`the end of the lost run has seq ${last.seq}`];
  const wrong = lines.findIndex((line, index) => line !== kept[since + index]);
  return wrong === -1
    ? []
    : [`event ${since + wrong + 1} was shown and is not so in the log: ${lines[wrong]}`];
}

/** Every line that was once in the log is still there, unchanged. */
export function lostSince(earlier: string, log: string): string[] {
  const whole = earlier.slice(0, earlier.lastIndexOf('\n') + 1);
  return log.startsWith(whole) ? [] : ['events that were in the log are not there any more'];
}

/** The log has every change of state, each change is allowed by the table, and each attempt ends once. */
export function stateBreaks(events: readonly Event[]): string[] {
  const problems: string[] = [];
  let state: RunState = 'queued';
  for (const event of events) {
    if (event.type === 'runner_state') {
      const { from, to } = event as unknown as { from: RunState; to: RunState };
      if (from !== state) problems.push(`event ${event.seq} leaves ${from}, but the run was ${state}`);
      if (!mayFollow(from, to)) problems.push(`event ${event.seq} goes from ${from} to ${to}`);
      state = to;
    } else if (event.type === 'runner_end') {
      if (event.state !== state) problems.push(`event ${event.seq} ends as ${event.state}, not ${state}`);
      const next = events[event.seq];
      if (next !== undefined && next.to !== 'queued')
        problems.push(`event ${next.seq} comes after the end of the run`);
    }
  }
  return problems;
}

/** The record agrees with the log. */
export function recordLies(record: RunRecord, events: readonly Event[]): string[] {
  const last = events.at(-1);
  if (!isFinal(record.state)) return [`the record says ${record.state} of a run without a live supervisor`];
  if (last?.type !== 'runner_end') return [`the record says ${record.state}, the log has no end`];
  return (['state', 'code', 'attempt'] as const)
    .filter((field) => record[field] !== last[field])
    .map((field) => `the record has ${field} ${record[field]}, the log has ${String(last[field])}`);
}

/**
 * A run that lost its supervisor before its end is reported as E_RUNNER_LOST, unless the log already had its final state, which stays.
 * `before` is the log as the killed supervisor left it.
 */
export function lossHidden(before: readonly Event[], events: readonly Event[]): string[] {
  if (before.length === 0 || before.at(-1)!.type !== 'runner_end') {
    const logged = before.findLast(({ type }) => type === 'runner_state')?.to as RunState | undefined;
    const end = events.slice(before.length).find(({ type }) => type === 'runner_end');
    const isReported =
      logged !== undefined && isFinal(logged) ? end?.state === logged : end?.code === 'E_RUNNER_LOST';
    if (!isReported)
      return [`its loss (it was ${logged}) is reported as ${String(end?.state)} ${String(end?.code)}`];
  }
  return [];
}

/** The run has the acknowledged answers, and asked no question again after its answer. */
export function answersLost(acknowledged: ReadonlyMap<string, unknown>, events: readonly Event[]): string[] {
  const problems: string[] = [];
  const answered = new Map<string, unknown>();
  for (const event of events) {
    const id = String(event.action_id);
    if (event.type === 'action_required' && answered.has(id))
      problems.push(`'${id}' was asked again after its answer (event ${event.seq})`);
    if (event.type !== 'action_answered') continue;
    if (answered.has(id)) problems.push(`'${id}' was answered twice (event ${event.seq})`);
    answered.set(id, event.answer);
  }
  for (const [id, answer] of acknowledged) {
    if (answered.get(id) !== answer)
      problems.push(`'${id}' was acknowledged as ${answer}, the log has ${answered.get(id)}`);
  }
  return problems;
}

/** The effects of the tool, by its journal: each step once, no checkpoint lost, no two attempts at a time. */
export function doneTwice(journal: string, effects: readonly string[], steps: number): string[] {
  const problems: string[] = [];
  const missing = Array.from({ length: steps }, (_, index) => `step-${index + 1}`).filter(
    (name) => !effects.includes(name),
  );
  if (missing.length > 0) problems.push(`never done: ${missing.join(', ')}`);
  let attempt = 0;
  let saved = 0;
  const answers = new Map<string, string>();
  for (const line of linesOf(journal)) {
    const [number, word, step, answer] = line.split(' ') as [string, string, string, string?];
    if (Number(number) < attempt) problems.push(`attempt ${number} was at work beside attempt ${attempt}`);
    attempt = Number(number);
    if (word === 'twice' || (word === 'found' && attempt === 1)) problems.push(`step ${step} was done twice`);
    if (word === 'begin' && Number(step) < saved)
      problems.push(`attempt ${attempt} begins after step ${step}, but ${saved} was saved`);
    if (word === 'saved') saved = Number(step);
    if (word !== 'answer') continue;
    if ((answers.get(step) ?? answer) !== answer)
      problems.push(`the tool got ${answer} for step ${step}, and ${answers.get(step)} before`);
    answers.set(step, answer!);
  }
  return problems;
}

/** The one artifact of the run exists, has the content that its steps and answers produce, and is recorded with its hash. */
export function artifactWrong(end: Event | undefined, text: string, expected: string): string[] {
  const problems = text === expected ? [] : [`the artifact holds ${JSON.stringify(text)}`];
  const recorded = (end?.artifacts ?? []) as { path: string; sha256: string }[];
  const hash = createHash('sha256').update(expected).digest('hex');
  const isRecorded = recorded.length === 1 && recorded[0]!.sha256 === hash;
  return isRecorded ? problems : [...problems, `recorded are ${JSON.stringify(recorded)}`];
}

/** The ledger's last line for the run covers its whole log. */
export function ledgerLacks(ledger: string, runId: string, log: string): string[] {
  const last = linesOf(ledger)
    .map((line) => JSON.parse(line))
    .findLast(({ run_id }) => run_id === runId);
  const hash = createHash('sha256').update(log).digest('hex');
  return last?.events_sha256 === hash ? [] : ['the ledger does not have the run as it ended'];
}

function linesOf(text: string): string[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
}
