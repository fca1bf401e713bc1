import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ControlListener, PostedAnswer } from '../../src/core/ports/control-channel.ts';
import type { RunStore } from '../../src/core/ports/run-store.ts';
import { newRun } from './new-run.ts';

/** The store of a control channel, as other processes open it. */
export interface ControlChannelRig {
  open(): RunStore;
  /** The owner of a run's lease dies without a word. */
  lose(runId: string): void;
}

/** What every control channel must hold to. */
export function controlChannelContract(name: string, { open, lose }: ControlChannelRig): void {
  describe(`the control channel '${name}'`, () => {
    it('delivers a request to cancel to the supervisor once, with its first reason and who made it', async () => {
      const { runId, heard, listener } = await listening();
      await open().control.requestCancel(runId, 'first', { by: 'ada' });
      await until(() => heard.length === 1);
      await open().control.requestCancel(runId, 'second', { force: true, by: 'bob' });
      await until(() => heard.length === 2);
      assert.deepEqual(heard, ['cancel: first by ada', 'force']);
      listener.close();
    });

    it('keeps requests from before the supervisor listens', async () => {
      const { runId, epoch } = await made();
      await open().control.requestCancel(runId, 'early');
      await open().control.postAnswer(runId, answer('1'));
      const { heard, listener } = listen(runId, epoch);
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
      const { runId, epoch } = await made();
      await open().control.requestCancel(runId, 'early');
      await open().control.postAnswer(runId, answer('1'));
      await open().control.reset(runId, epoch);
      const { heard, listener } = listen(runId, epoch);
      await open().control.postAnswer(runId, answer('2'));
      await until(() => heard.length === 1);
      assert.deepEqual(heard, ['answer: 2']);
      listener.close();
    });

    it('keeps the requests to a later supervisor when an earlier one resets the channel', async () => {
      const { runId, epoch } = await made();
      lose(runId);
      const next = await open().takeOver(runId);
      await open().control.requestCancel(runId, 'later', { force: true });
      await open().control.postAnswer(runId, answer('1'));
      const reader = open().control.readRecords(runId);
      await open().control.reset(runId, epoch);
      const { heard, listener } = listen(runId, next.epoch);
      await until(() => heard.length === 3);
      assert.deepEqual([...heard].sort(), ['answer: 1', 'cancel: later', 'force']);
      reader.close();
      listener.close();
      await open().control.reset(runId, next.epoch);
      const after = listen(runId, next.epoch);
      await open().control.postAnswer(runId, answer('2'));
      await until(() => after.heard.length === 1);
      assert.deepEqual(after.heard, ['answer: 2']);
      after.listener.close();
    });

    it('leaves answers to the supervisor that holds the lease', async () => {
      const { runId, heard: early, listener: earlier } = await listening();
      lose(runId);
      const { epoch } = await open().takeOver(runId);
      await open().control.postAnswer(runId, answer('1'));
      // The earlier listener gets the request to cancel, so it has looked since the answer was posted.
      await open().control.requestCancel(runId, 'both');
      await until(() => early.length > 0);
      const { heard, listener } = listen(runId, epoch);
      await until(() => heard.length === 2);
      assert.deepEqual([early, [...heard].sort()], [['cancel: both'], ['answer: 1', 'cancel: both']]);
      earlier.close();
      listener.close();
    });

    it('delivers what is there at once when its listener looks', async () => {
      const { runId, heard, listener } = await listening();
      await open().control.requestCancel(runId, 'now', { force: true });
      await open().control.postAnswer(runId, answer('1'));
      await listener.look();
      assert.deepEqual([...heard].sort(), ['answer: 1', 'cancel: now', 'force']);
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

  async function made(): Promise<{ runId: string; epoch: number }> {
    const run = newRun();
    const { epoch } = await open().create(run);
    return { runId: run.run_id, epoch };
  }

  function listen(runId: string, epoch: number): { heard: string[]; listener: ControlListener } {
    const heard: string[] = [];
    const listener = open().control.listen(runId, epoch, {
      onCancel: (reason, by) => heard.push(`cancel: ${reason}${by === undefined ? '' : ` by ${by}`}`),
      onForceCancel: () => heard.push('force'),
      onAnswer: (posted) => heard.push(`answer: ${posted.answer_id}`),
    });
    return { heard, listener };
  }

  async function listening() {
    const { runId, epoch } = await made();
    return { runId, ...listen(runId, epoch) };
  }
}

function answer(answer_id: string): PostedAnswer {
  return { answer_id, action_id: 'a-1', answer: true, by: 'test', source: 'command' };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}
