import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atRecordedPace, durationsIn } from './play-recording.ts';

const BEGUN_MS = Date.parse('2030-01-01T00:00:00Z');

/** A line of a log, `atMs` milliseconds after the first one. */
function line(atMs: number, type = 'log', more: object = {}): string {
  return `${JSON.stringify({ type, ts: new Date(BEGUN_MS + atMs).toISOString(), ...more })}\n`;
}

const end = (atMs: number, durationS: number, more: object = {}) =>
  line(atMs, 'runner_end', { duration_s: durationS, ...more });

async function* inBatches(batches: readonly string[]) {
  for (const batch of batches) yield Buffer.from(batch);
}

/** When the lines are due; asserts that they are complete. */
async function pace(batches: readonly string[], options: { speed?: number; durations?: number[] } = {}) {
  const { speed = 1, durations = await durationsIn(inBatches(batches)) } = options;
  const due: [dueMs: number, lines: number][] = [];
  let text = '';
  for await (const { dueMs, lines } of atRecordedPace(inBatches(batches), { speed, durations })) {
    const part = Buffer.from(lines).toString();
    assert.ok(part.endsWith('\n'));
    text += part;
    due.push([dueMs, part.split('\n').length - 1]);
  }
  assert.equal(text, batches.join(''));
  return due;
}

describe('the pace of a replay', () => {
  it('makes each line due when it came, and lines of the same time together', async () => {
    const lines = [line(0), line(0), line(40), line(1040), line(1040)];
    const expected = [
      [0, 2],
      [40, 1],
      [1040, 2],
    ];
    assert.deepEqual(await pace([lines.join('')]), expected);
  });

  it('continues across two batches', async () => {
    assert.deepEqual(await pace([line(0) + line(5), line(5), line(9)]), [
      [0, 1],
      [5, 1],
      [5, 1],
      [9, 1],
    ]);
  });

  it('scales the times by speed', async () => {
    const lines = [line(0) + line(30) + line(50)];
    const dueAt = async (speed: number) => (await pace(lines, { speed })).map(([dueMs]) => dueMs);
    assert.deepEqual(await dueAt(10), [0, 3, 5]);
    assert.deepEqual(await dueAt(0.5), [0, 60, 100]);
  });

  it('adds no wait when the clock went back, and continues from there', async () => {
    assert.deepEqual(await pace([line(100) + line(200) + line(50) + line(80)]), [
      [0, 1],
      [100, 2],
      [130, 1],
    ]);
  });

  it('is never longer than the run, whatever timestamps a tool wrote', async () => {
    const century = 3_155_760_000_000;
    const lines = [line(0) + line(century) + line(10) + line(15) + line(century) + end(20, 0.02)];
    assert.deepEqual(await pace(lines), [
      [0, 3],
      [5, 3],
    ]);
    const invented = [line(0) + line(900) + line(0) + line(900) + end(1000, 1)];
    assert.deepEqual(
      (await pace(invented)).map(([dueMs]) => dueMs),
      [0, 900, 1000],
    );
  });

  for (const [what, jumpMs] of [
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ] as const)
    it(`does not wait for a clock that was set ${what}, and keeps the pauses before and after it`, async () => {
      const lines = [line(0), line(400), line(jumpMs + 500), line(jumpMs + 900), end(jumpMs + 1000, 1)];
      assert.deepEqual(
        (await pace([lines.join('')])).map(([dueMs]) => dueMs),
        [0, 400, 800, 900],
      );
    });

  it('leaves out the wait in the queue, and waits at most a minute where nothing was measured', async () => {
    const day = 86_400_000;
    const queued = line(day, 'runner_state', { from: 'queued', to: 'running' });
    const lines = [line(0), queued, line(day + 10), end(2 * day, 2 * 86_400, { late: true })];
    assert.deepEqual(
      (await pace([lines.join('')])).map(([dueMs]) => dueMs),
      [0, 10, 60_010],
    );
  });

  it('skips the pause between two attempts', async () => {
    const day = 86_400_000;
    const lines = [line(0), end(30, 0.03), line(day, 'runner_state'), end(day + 7, 0.007)];
    assert.deepEqual(
      (await pace(lines)).map(([dueMs]) => dueMs),
      [0, 30, 30, 37],
    );
  });

  it('emits a line without a time, or a damaged line, together with the line before', async () => {
    assert.deepEqual(await pace([`${line(0)}{"type":"log"}\n${line(4)}{"ts":tor\n${line(6)}`]), [
      [0, 2],
      [4, 2],
      [6, 1],
    ]);
  });
});
