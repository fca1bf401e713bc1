import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { answerLine, describeSdk } from '../../sdk/contract/sdk-contract.ts';
import { RunFolders, ToolProcess } from '../../sdk/contract/tool-process.ts';

const driver = [process.execPath, join(import.meta.dirname, 'fixtures', 'driver.ts')];

describeSdk({ language: 'TypeScript', driver, skip: false });

describe('the TypeScript SDK on its own', () => {
  it('answers several questions at once, in any order', async () => {
    using run = new RunFolders();
    const tool = new ToolProcess([...driver, 'ask-both'], {
      cwd: run.workspace,
      env: run.env(),
      stdin: 'open',
    });
    await tool.until('action_required', 2);
    tool.write(answerLine('a-2', 'B'));
    tool.write(answerLine('a-1', 'A'));
    assert.deepEqual((await tool.ended).events.at(-1)?.['data'], { first: 'A', second: 'B' });
  });

  it('saves no state that JSON cannot hold, and keeps the one before', async () => {
    using run = new RunFolders();
    const call = async (...args: string[]) => {
      const options = { cwd: run.workspace, env: run.env() };
      return (await new ToolProcess([...driver, ...args], options).ended).events.at(-1)?.['data'];
    };
    await call('save', 'stage', '2');
    const file = join(run.checkpoints, 'stage.json');
    const before = readFileSync(file, 'utf8');
    assert.deepEqual(await call('save-wrong'), Array(14).fill('E_USAGE'));
    assert.equal(readFileSync(file, 'utf8'), before);
    assert.deepEqual(await call('load', 'stage'), { i: 2, note: 'a "b"\n' });
    // The control: JSON holds these.
    const odd = { at: '1970-01-01T00:00:00.000Z', none: null, list: [], '': -1.5, bare: {} };
    assert.deepEqual(await call('save-odd'), odd);
  });

  it('ends with what a ToolError of the tool says, also whether to retry', async () => {
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

  it('refuses options that are neither texts nor objects with an id', async () => {
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

  it('reports a ToolError in a promise that has no handler', async () => {
    using run = new RunFolders();
    const { code, events } = await new ToolProcess([...driver, 'uncaught-later', 'token'], {
      cwd: run.workspace,
      env: run.env(),
    }).ended;
    assert.equal(code, 30);
    assert.equal(events.at(-1)?.['code'], 'E_ENV_MISSING');
  });
});
