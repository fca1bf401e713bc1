import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { RunRecord } from '../../src/protocol/run-record.ts';
import { type Event, parseLines } from '../support/project.ts';
import {
  answersLost,
  artifactWrong,
  doneTwice,
  gapsIn,
  ledgerLacks,
  lossHidden,
  lostSince,
  recordLies,
  shownButNotKept,
  stateBreaks,
} from './invariants.ts';
import { planRound } from './round-plan.ts';

const REPORT = 'steps 2\nway-2 left\n';
const SHA256 = createHash('sha256').update(REPORT).digest('hex');

/** A run that lost its supervisor after its answer, and was resumed. */
const LOG = linesOf([
  { type: 'runner_start' },
  { type: 'runner_state', from: 'queued', to: 'running' },
  { type: 'action_required', action_id: 'way-2' },
  { type: 'runner_state', from: 'running', to: 'waiting_ai' },
  { type: 'action_answered', action_id: 'way-2', answer: 'left' },
  { type: 'runner_state', from: 'waiting_ai', to: 'running' },
  { type: 'runner_state', from: 'running', to: 'failed' },
  { type: 'runner_end', state: 'failed', code: 'E_RUNNER_LOST', attempt: 1 },
  { type: 'runner_state', from: 'failed', to: 'queued' },
  { type: 'runner_state', from: 'queued', to: 'running' },
  { type: 'runner_state', from: 'running', to: 'completed' },
  {
    type: 'runner_end',
    state: 'completed',
    code: null,
    attempt: 2,
    artifacts: [{ path: 'r', sha256: SHA256 }],
  },
]);
const EVENTS = parseLines(LOG);
const JOURNAL = [
  '1 begin 0',
  '1 saved 1',
  '1 answer 2 left',
  '2 begin 1',
  '2 answer 2 left',
  '2 found 2',
  '2 saved 2',
];

describe('the invariants of a kill campaign', () => {
  it('hold for a run that was lost and resumed correctly', () => {
    assert.deepEqual(
      [
        gapsIn(EVENTS),
        shownButNotKept(LOG, LOG, 0),
        lostSince(LOG.slice(0, 300), LOG),
        stateBreaks(EVENTS),
        recordLies(record(), EVENTS),
        lossHidden(EVENTS.slice(0, 6), EVENTS),
        answersLost(new Map([['way-2', 'left']]), EVENTS),
        doneTwice(linesOfText(JOURNAL), ['journal', 'step-1', 'step-2'], 2),
        artifactWrong(EVENTS.at(-1), REPORT, REPORT),
        ledgerLacks(ledgerOf(LOG), 'r-1', LOG),
      ].flat(),
      [],
    );
  });

  it('detect a missing line', () => {
    const cut = EVENTS.toSpliced(4, 1);
    assert.match(textOf(gapsIn(cut)), /seq is 6 where 5 belongs/);
    assert.match(textOf(lostSince(LOG, linesOf(cut))), /not there any more/);
  });

  it('detect an event that was shown, and is missing in the log or differs', () => {
    assert.match(textOf(shownButNotKept(LOG, linesOf(EVENTS.slice(0, -1)), 0)), /event 12 was shown/);
    assert.match(textOf(shownButNotKept(LOG.replace('left', 'right'), LOG, 0)), /event 5 was shown/);
    assert.match(textOf(shownButNotKept(LOG, LOG, 1)), /event 2 was shown/);
  });

  it('detect a change of state that was not emitted or is not allowed, and a second end', () => {
    assert.match(
      textOf(stateBreaks(numbered(EVENTS.toSpliced(5, 1)))),
      /leaves running, but the run was waiting_ai/,
    );
    assert.match(
      textOf(stateBreaks(changed(10, { to: 'waiting_ai' }))),
      /event 12 ends as completed, not waiting_ai/,
    );
    assert.match(textOf(stateBreaks(changed(1, { to: 'completed' }))), /goes from queued to completed/);
    assert.match(textOf(stateBreaks(numbered([...EVENTS, EVENTS.at(-1)!]))), /after the end of the run/);
  });

  it('detect a record that contradicts the log', () => {
    assert.match(textOf(recordLies({ ...record(), state: 'running' }, EVENTS)), /says running of a run/);
    assert.match(
      textOf(recordLies({ ...record(), state: 'failed' }, EVENTS)),
      /state failed, the log has completed/,
    );
    assert.match(textOf(recordLies(record(), EVENTS.slice(0, -1))), /the log has no end/);
  });

  it('detect a loss that is reported as something else', () => {
    const lied = changed(7, { code: 'E_TOOL_FAILED' });
    assert.match(textOf(lossHidden(lied.slice(0, 6), lied)), /reported as failed E_TOOL_FAILED/);
    const lostAfterEnd = EVENTS.slice(0, 11);
    const denied = changed(11, { state: 'failed', code: 'E_RUNNER_LOST' });
    assert.match(textOf(lossHidden(lostAfterEnd, denied)), /it was completed\) is reported as failed/);
  });

  it('detect an acknowledged answer that was replaced, and a question that was asked again', () => {
    assert.match(
      textOf(answersLost(new Map([['way-2', 'up']]), EVENTS)),
      /acknowledged as up, the log has left/,
    );
    assert.match(textOf(answersLost(new Map(), numbered([...EVENTS, EVENTS[2]!]))), /asked again/);
    assert.match(textOf(answersLost(new Map(), numbered([...EVENTS, EVENTS[4]!]))), /answered twice/);
  });

  it('detect a step that was done twice or never, a lost checkpoint, and two attempts at a time', () => {
    const wrong = (journal: string[], effects = ['step-1', 'step-2']) =>
      textOf(doneTwice(linesOfText(journal), effects, 2));
    assert.match(wrong([...JOURNAL, '2 twice 2']), /step 2 was done twice/);
    assert.match(wrong(['1 begin 0', '1 found 1']), /step 1 was done twice/);
    assert.match(wrong(JOURNAL, ['step-1']), /never done: step-2/);
    assert.match(wrong(['1 saved 1', '2 begin 0']), /begins after step 0, but 1 was saved/);
    assert.match(wrong([...JOURNAL, '1 saved 2']), /attempt 1 was at work beside attempt 2/);
    assert.match(wrong([...JOURNAL, '2 answer 2 up']), /got up for step 2, and left before/);
  });

  it('detect an artifact that differs from its record, and a run that is not in the ledger', () => {
    assert.match(textOf(artifactWrong(EVENTS.at(-1), 'torn', REPORT)), /holds "torn"/);
    assert.match(textOf(artifactWrong(EVENTS[7], REPORT, REPORT)), /recorded are \[\]/);
    assert.match(textOf(ledgerLacks(ledgerOf(LOG), 'r-1', `${LOG}{}\n`)), /does not have the run/);
    assert.match(textOf(ledgerLacks('', 'r-1', LOG)), /does not have the run/);
  });
});

describe('the plan of a round', () => {
  it('is the same for the same seed and number, and different for any other', () => {
    assert.deepEqual(planRound(7, 3), planRound(7, 3));
    assert.notDeepEqual(planRound(7, 3), { ...planRound(7, 4), number: 3 });
    assert.notDeepEqual(planRound(7, 3), { ...planRound(8, 3), seed: 7 });
  });
});

function record(): RunRecord {
  return { state: 'completed', code: null, attempt: 2 } as RunRecord;
}

function changed(index: number, change: Record<string, unknown>): Event[] {
  return EVENTS.with(index, { ...EVENTS[index]!, ...change });
}

function numbered(events: readonly Event[]): Event[] {
  return events.map((event, index) => ({ ...event, seq: index + 1 }));
}

function linesOf(events: readonly Record<string, unknown>[]): string {
  return linesOfText(events.map((event, index) => JSON.stringify({ seq: index + 1, ...event })));
}

function linesOfText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function ledgerOf(log: string): string {
  const hash = createHash('sha256').update(log).digest('hex');
  return linesOfText([JSON.stringify({ run_id: 'r-1', events_sha256: hash })]);
}

function textOf(problems: readonly string[]): string {
  return problems.join('\n');
}
