import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PlainFile } from '../store-files/readable-file.ts';
import { LogBytes } from './log-bytes.ts';
import { checkLog } from './verify-log.ts';

/** What only the order of the events shows: without a `runner_end`, no seal covers them. */
describe('the log of a run that has not ended', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-verify-log-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function check(text: string, mayBeTorn = true) {
    const path = join(folder, 'events.jsonl');
    writeFileSync(path, text);
    using bytes = new LogBytes(new PlainFile(path));
    return checkLog(bytes, { mayBeTorn });
  }
  const event = (seq: number) => `{"type":"progress","seq":${seq}}\n`;
  const problemsOf = (...seqs: number[]) =>
    check(seqs.map(event).join('')).problems.map(({ problem, line }) => `${line}: ${problem}`);

  it('has every event once and in order', () => {
    assert.deepEqual(problemsOf(1, 2, 3, 4), []);
    assert.deepEqual(problemsOf(1, 2, 4, 5), ['3: expected seq 3, got 4']);
    assert.deepEqual(problemsOf(2, 3), ['1: expected seq 1, got 2']);
    assert.deepEqual(problemsOf(1, 2, 2, 3), ['3: expected seq 3, got 2']);
    assert.deepEqual(problemsOf(1, 3, 2, 4), [
      '2: expected seq 2, got 3',
      '3: expected seq 4, got 2',
      '4: expected seq 3, got 4',
    ]);
  });

  it('has JSON objects only, and reports the place of anything else', () => {
    const { problems } = check(`${event(1)}nonsense\n${event(3)}`);
    assert.deepEqual(problems, [
      { problem: 'the line is not a JSON object', line: 2, from: event(1).length, to: event(1).length + 9 },
    ]);
  });

  it('may end in a torn line, which an ended run may not', () => {
    const torn = `${event(1)}{"type":`;
    assert.deepEqual([check(torn).tornBytes, check(torn).problems, check(torn).events], [8, [], 1]);
    assert.match(check(torn, false).problems[0]!.problem, /was cut short/);
  });
});
