import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { newRunId } from '../../util/ids.ts';
import { LogBytes } from '../audit/log-bytes.ts';
import { readLedger } from '../audit/read-ledger.ts';
import { verifyRun } from '../audit/verify.ts';
import { summariseLog } from '../run/read-log.ts';
import { endInLog } from '../run/read-run.ts';
import { FileRunStore } from './file-run-store.ts';
import { Ledger } from './ledger.ts';
import { sha256 } from './ledger-line.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-costs-'));
after(() => rmSync(root, { recursive: true, force: true }));
const store = new FileRunStore(join(root, '.runs'), commandOf);
const LAST_SEQ = 60_000;
const IO = '/proc/self/io';
const needsCounters = existsSync(IO) ? {} : { skip: 'needs /proc/self/io' };

/** How many bytes this process read meanwhile. */
async function bytesRead(work: () => Promise<unknown>): Promise<number> {
  const total = () => Number(/rchar: (\d+)/.exec(readFileSync(IO, 'utf8'))![1]);
  const before = total();
  await work();
  return total() - before;
}

/** An ended run whose log holds many events of progress, all in its one attempt. */
const longRun = (async () => {
  const run = newRun();
  const writer = await store.create(run);
  const { log } = writer;
  log.append({ type: 'runner_start' });
  for (let event = 3; event < LAST_SEQ; event++)
    log.append({ type: 'progress', msg: `chunk ${event} of many` });
  log.append({ type: 'result' });
  log.flush();
  log.append({ type: 'runner_end', state: 'completed', seal: log.seal() });
  log.flush();
  await writer.enterInLedger({ state: 'completed', code: null });
  writer.update({ state: 'completed' });
  writer.close();
  return { runId: run.run_id, bytes: log.bytes };
})();

describe('in a long log', needsCounters, () => {
  it('the last event is found in its last part', async () => {
    const { runId } = await longRun;
    const read = await bytesRead(() => endInLog(store, runId));
    assert.ok(read < 100_000, `${read} bytes`);
    assert.equal((await endInLog(store, runId))?.state, 'completed');
  });

  it('events after a seq are found without reading those before it', async () => {
    const { runId, bytes } = await longRun;
    for (const since of [20, 1_000, LAST_SEQ / 2, LAST_SEQ - 20, LAST_SEQ]) {
      let first: string | undefined;
      const read = await bytesRead(async () => {
        for await (const lines of store.follow(runId, { since, wait: false })) {
          first ??= Buffer.from(lines).toString('utf8', 0, lines.indexOf(10));
          break;
        }
      });
      assert.equal(first && JSON.parse(first).seq, since < LAST_SEQ ? since + 1 : undefined);
      assert.ok(read < bytes / 3, `${read} of ${bytes} bytes for --since ${since}`);
    }
  });

  it('verify holds no more than a chunk of it at once', async () => {
    const { runId, bytes } = await longRun;
    using log = new LogBytes(store.openLog(runId));
    let longest = 0;
    for (const { text } of log.lines()) longest = Math.max(longest, text.buffer.byteLength);
    assert.ok(longest < bytes / 5, `${longest} of ${bytes} bytes`);
    assert.equal(log.endOfLines(LAST_SEQ), bytes);
    const changed = { bytes, sha256: '', marks: [[1.5, ''] as [number, string]] };
    assert.deepEqual(log.brokenMark(bytes, changed), { from: 0, to: 1.5 });
    assert.equal(log.sha256(), sha256(readFileSync(store.layout(runId).events)));
    assert.equal((await verifyRun(store, runId)).ok, true);
  });
});

describe('taking a run over', needsCounters, () => {
  it('reads its log once', async () => {
    const { runId, bytes } = await longRun;
    const whole = sha256(readFileSync(store.layout(runId).events));
    const read = await bytesRead(async () => {
      const writer = await store.takeOver(runId);
      const { log } = writer;
      assert.deepEqual([log.events, log.bytes, log.seal().sha256], [LAST_SEQ, bytes, whole]);
      await writer.close();
    });
    assert.ok(read > bytes && read < bytes * 1.1, `${read} of ${bytes} bytes`);
  });
});

describe('the summary of a run', () => {
  it('parses no event of a type that it does not report', async () => {
    const run = newRun();
    const writer = await store.create(run);
    writer.log.append({ type: 'runner_start' });
    writer.log.append({ type: 'result' });
    writer.log.append({ type: 'log' });
    writer.log.flush();
    writer.close();
    const { events } = store.layout(run.run_id);
    const lines = readFileSync(events, 'utf8').trimEnd().split('\n');
    writeFileSync(events, `${[lines[0], lines[1], 'not JSON, "log"', lines[2]].join('\n')}\n`);
    const { ending, lastEvent } = await summariseLog(store, run.run_id);
    assert.deepEqual([ending?.type, lastEvent?.type], ['result', 'log']);
  });
});

describe('verifying one run', () => {
  it('checks only the segments of the ledger that name it', async () => {
    const ledger = new Ledger(mkdtempSync(join(root, 'ledger-')), { segmentBytes: 2_000 });
    const ids = Array.from({ length: 60 }, () => newRunId());
    const timesMs: number[] = [];
    for (const run_id of ids) {
      await ledger.append({ type: 'run', run_id, events: 1, events_sha256: 'x' });
      timesMs.push(Date.now());
    }
    assert.ok(readLedger(ledger, { timesMs }).runs.size > 30);
    for (const runId of [ids[0]!, ids[30]!, ids.at(-1)!]) {
      const { runs, problems } = readLedger(ledger, { timesMs, runId });
      assert.ok(runs.has(runId));
      assert.ok(runs.size < 15, `${runs.size} runs`);
      assert.deepEqual(problems, []);
    }
  });
});
