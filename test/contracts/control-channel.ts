import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ControlListener, PostedAnswer } from '../../src/core/ports/control-channel.ts';
import type { RunStore } from '../../src/core/ports/run-store.ts';
import { newRun } from './new-run.ts';

/** What every control channel must hold to. `open` gives the same channel as another process would open it. */
export function controlChannelContract(name: string, open: () => RunStore): void {
  describe(`the control channel '${name}'`, () => {
    it('delivers a request to cancel to the supervisor once, with its first reason', async () => {
      const { runId, heard, listener } = await listening();
      await open().control.requestCancel(runId, 'first');
      await until(() => heard.length === 1);
      await open().control.requestCancel(runId, 'second', { force: true });
      await until(() => heard.length === 2);
      assert.deepEqual(heard, ['cancel: first', 'force']);
      listener.close();
    });

    it('keeps requests from before the supervisor listens', async () => {
      const { runId } = await made();
      await open().control.requestCancel(runId, 'early');
      await open().control.postAnswer(runId, answer('1'));
      const { heard, listener } = listen(runId);
      await until(() => heard.length === 2);
      assert.deepEqual([...heard].sort(), ['answer: 1', 'cancel: early']);
      listener.close();
    });

    it('delivers each answer to the supervisor once', async () => {
      const { runId, heard, listener } = await listening();
      for (const id of ['1', '2', '3']) await open().control.postAnswer(runId, answer(id));
      await until(() => heard.length === 3);
      assert.deepEqual([...heard].sort(), ['answer: 1', 'answer: 2', 'answer: 3']);
      listener.close();
    });

    it('drops the requests to an attempt that has ended', async () => {
      const { runId } = await made();
      await open().control.requestCancel(runId, 'early');
      await open().control.postAnswer(runId, answer('1'));
      await open().control.reset(runId);
      const { heard, listener } = listen(runId);
      await open().control.postAnswer(runId, answer('2'));
      await until(() => heard.length === 1);
      assert.deepEqual(heard, ['answer: 2']);
      listener.close();
    });

    it('delivers the position of the consumer of its records to the supervisor', async () => {
      const { runId, listener } = await listening();
      assert.equal(listener.consumed(), undefined);
      const reader = open().control.readRecords(runId);
      await until(() => listener.consumed() === 0);
      reader.acknowledge(1234);
      await until(() => listener.consumed() === 1234);
      reader.close();
      listener.close();
    });
  });

  async function made(): Promise<{ runId: string }> {
    const run = newRun();
    await open().create(run);
    return { runId: run.run_id };
  }

  function listen(runId: string): { heard: string[]; listener: ControlListener } {
    const heard: string[] = [];
    const listener = open().control.listen(runId, {
      onCancel: (reason) => heard.push(`cancel: ${reason}`),
      onForceCancel: () => heard.push('force'),
      onAnswer: (posted) => heard.push(`answer: ${posted.answer_id}`),
    });
    return { heard, listener };
  }

  async function listening() {
    const { runId } = await made();
    return { runId, ...listen(runId) };
  }
}

function answer(answer_id: string): PostedAnswer {
  return { answer_id, action_id: 'a-1', answer: true, by: 'test', source: 'command' };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}
