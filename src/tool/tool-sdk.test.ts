import assert from 'node:assert/strict';
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
});
