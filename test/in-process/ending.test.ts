import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RunWriter } from '../../src/core/ports/run-store.ts';
import { readEvents } from '../../src/core/run/read-log.ts';
import type { Run } from '../../src/core/run/run.ts';
import { startRun } from '../../src/core/run/start-run.ts';
import { servicesInMemory } from '../support/services-in-memory.ts';
import { WorkflowProject } from '../support/workflow-project.ts';

/** What a store does at the worst moment. Each gets the writer of the next run, and changes its methods. */
type Fault = (writer: RunWriter) => void;

describe('the end of a run', () => {
  let project: WorkflowProject;
  let services: Awaited<ReturnType<typeof servicesInMemory>>;
  before(async () => {
    project = new WorkflowProject(['quick', 'needs_three_tries']);
    services = await servicesInMemory(project);
  });
  after(() => project[Symbol.dispose]());

  async function endOf(tool: string, fault: Fault) {
    const { create } = services.store;
    services.store.create = async (run) => {
      const writer = await create.call(services.store, run);
      fault(writer);
      return writer;
    };
    const request = { kind: 'tool' as const, tool, args: [], cwd: project.root, env: project.environment() };
    const run = (await startRun(services, request)) as Run;
    services.store.create = create;
    const { state, code } = await run.ended;
    const types: unknown[] = [];
    for await (const { type } of readEvents(services.store, run.runId, { wait: false })) types.push(type);
    return { state, code, types, record: await services.store.read(run.runId) };
  }

  it('is the last event, also when an answer arrives while it is written', async () => {
    const { state, types, record } = await endOf('quick', (writer) => {
      const { enterInLedger } = writer;
      writer.enterInLedger = async (ending) => {
        const { run_id } = writer.record;
        const answer = {
          answer_id: 'late',
          action_id: 'q-1',
          answer: 'yes',
          by: 'a test',
          source: 'command' as const,
        };
        await services.store.control.postAnswer(run_id, answer);
        // A supervisor that still took it would write a warning in one of the next turns.
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        return enterInLedger.call(writer, ending);
      };
    });
    assert.equal(state, 'completed');
    assert.equal(types.at(-1), 'runner_end');
    assert.equal(types.filter((type) => type === 'runner_end').length, 1);
    assert.equal(record.events, types.length);
  });

  it('is written when the record cannot be changed between two attempts', async () => {
    const { state, code, types, record } = await endOf('needs_three_tries', (writer) => {
      const { update } = writer;
      let faults = 1;
      writer.update = async (change, options) => {
        if (change.attempt === 2 && faults-- > 0) throw noSpace();
        return update.call(writer, change, options);
      };
    });
    assert.deepEqual([state, code, types.at(-1)], ['failed', 'E_DISK_FULL', 'runner_end']);
    assert.equal(record.state, 'failed');
    assert.equal(record.rc, 20, 'what is known of the attempt before is kept');
  });

  it('comes soon for a tool that asks without end', async () => {
    project.write('tools/asks_on/tool.yaml', 'name: asks_on\nversion: 1.0.0\ndescription: Asks on and on.\n');
    const flood = `while :; do echo '{"type":"action_required","action":"ask"}'; done\n`;
    project.write('tools/asks_on/cli.sh', `#!/bin/sh\n${flood}`, 0o755);
    const { state, code, types } = await endOf('asks_on', () => {});
    assert.deepEqual([state, code, types.at(-1)], ['failed', 'E_OUTPUT_LIMIT', 'runner_end']);
  });

  it('is written when the first events cannot be stored', async () => {
    const { state, code, types, record } = await endOf('quick', ({ log }) => {
      const { flush } = log;
      let faults = 1;
      log.flush = async () => {
        if (faults-- > 0) {
          log.discardPending();
          throw noSpace();
        }
        return flush.call(log);
      };
    });
    assert.deepEqual([state, code, types.at(-1)], ['failed', 'E_DISK_FULL', 'runner_end']);
    assert.equal(record.state, 'failed');
  });
});

function noSpace(): Error {
  return Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
}
