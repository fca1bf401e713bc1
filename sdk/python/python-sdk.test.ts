import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { answerLine, describeSdk } from '../contract/sdk-contract.ts';
import { missing, RunFolders, ToolProcess } from '../contract/tool-process.ts';

const driver = ['python3', join(import.meta.dirname, 'fixtures', 'driver.py')];
const skip = missing('python3');

describeSdk({ language: 'Python', driver, skip });

describe('the Python SDK on its own', () => {
  it('answers questions of several threads, in any order', { skip }, async () => {
    using run = new RunFolders();
    const tool = new ToolProcess([...driver, 'ask-both'], {
      cwd: run.workspace,
      env: run.env(),
      stdin: 'open',
    });
    await tool.until('action_required', 2);
    tool.write(answerLine('second', 'B'));
    tool.write(answerLine('first', 'A'));
    assert.deepEqual((await tool.ended).events.at(-1)?.['data'], { first: 'A', second: 'B' });
  });

  it('writes whole lines from many threads at once', { skip }, async () => {
    using run = new RunFolders();
    const { events } = await new ToolProcess([...driver, 'threads', '8', '3'], {
      cwd: run.workspace,
      env: run.env(),
    }).ended;
    assert.equal(events.length, 24);
    assert.ok(events.every((event) => String(event['msg']).length === 900_000));
  });

  it('keeps its lines in order with printed ones, and JSON valid whatever the values', { skip }, async () => {
    using run = new RunFolders();
    const { events } = await new ToolProcess([...driver, 'odd-values'], {
      cwd: run.workspace,
      env: run.env(),
    }).ended;
    assert.deepEqual(
      events.map((event) => event.type),
      ['printed', 'log'],
    );
    assert.deepEqual(events[1]?.['nan'], [null, null, 1.5]);
    assert.equal(events[1]?.['path'], '\udc80');
  });

  it('ends with what a ToolError of the tool says, also whether to retry', { skip }, async () => {
    using run = new RunFolders();
    for (const [retryable, exit] of [
      [true, 20],
      [false, 30],
    ] as const) {
      const { code, events } = await new ToolProcess([...driver, 'uncaught-own', String(retryable)], {
        cwd: run.workspace,
        env: run.env(),
      }).ended;
      assert.equal(code, exit);
      const said = { type: 'error', code: 'E_TRANSIENT_NET', msg: 'no line', hint: 'Wait.', retryable };
      assert.partialDeepStrictEqual(events.at(-1), said);
    }
  });

  it('ends with a ToolError that is not caught in a thread, and goes on after another error', {
    skip,
  }, async () => {
    using run = new RunFolders();
    const ended = (kind: string) =>
      new ToolProcess([...driver, 'uncaught-in-thread', kind], { cwd: run.workspace, env: run.env() }).ended;
    const own = await ended('tool-error');
    assert.deepEqual(
      [own.code, own.events.map(({ type, code }) => [type, code])],
      [20, [['error', 'E_DISK_FULL']]],
    );
    assert.match(own.stderr, /Traceback.*no room/s);
    const other = await ended('another');
    assert.deepEqual([other.code, other.events.map(({ type }) => type)], [0, ['result']]);
  });

  it('refuses options that are neither texts nor objects with an id', { skip }, async () => {
    using run = new RunFolders();
    for (const options of ['"yes"', '[1]', '[{"label":"Yes"}]', '[null]']) {
      const { events } = await new ToolProcess([...driver, 'ask-wrong', options], {
        cwd: run.workspace,
        env: run.env(),
      }).ended;
      assert.deepEqual(
        events.map(({ type, code }) => [type, code]),
        [['error', 'E_USAGE']],
      );
      assert.match(String(events[0]?.['hint']), /^Give /);
    }
  });
});
