import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { ProjectInProcess } from '../support/project-in-process.ts';

const START = { type: 'start', step: 'count' };
const PROGRESS = { type: 'progress', pct: 1 };
const LOG = { type: 'log', level: 'info', msg: 'reading' };
const RESULT = { type: 'result', status: 'ok', data: { n: 1 } };

describe('the order of messages', () => {
  const project = new ProjectInProcess();
  after(() => project[Symbol.dispose]());

  const CASES: Readonly<Record<string, { messages: readonly object[]; warning: RegExp | undefined }>> = {
    in_order: { messages: [START, PROGRESS, RESULT], warning: undefined },
    no_start: { messages: [PROGRESS, RESULT], warning: undefined },
    log_first: { messages: [LOG, START, RESULT], warning: undefined },
    late_start: { messages: [PROGRESS, START, RESULT], warning: /wrote start after progress/ },
    two_starts: { messages: [START, START, RESULT], warning: /wrote start more than once/ },
    after_end: { messages: [START, RESULT, LOG], warning: /wrote after its 'result'/ },
  };

  for (const [name, { messages, warning }] of Object.entries(CASES))
    it(`${name}: ${warning === undefined ? 'gets no warning' : 'gets a warning, and the run completes'}`, async () => {
      const lines = messages.map((message) => `echo '${JSON.stringify(message)}'`);
      project.write(`tools/${name}/cli.sh`, `#!/bin/sh\n${lines.join('\n')}\n`, 0o755);
      const { data, meta } = await project.envelope(['run', name, '--no-stream']);
      assert.deepEqual(data.result.data, { n: 1 });
      if (warning === undefined) assert.equal(meta.warnings, undefined);
      else assert.match(String(meta.warnings), warning);
    });
});
