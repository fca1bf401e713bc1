import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { processesWithEnvironment, readProcess } from '../../../util/process-table.ts';
import { loadRuntime } from '../../process/load-runtime.ts';
import { chooseBackend } from '../../sandbox/choose.ts';
import { askForHelp } from './ask-for-help.ts';

describe('a program that is asked for its help', { skip: process.platform !== 'linux' }, () => {
  for (const mode of ['required', 'off'] as const) {
    it(`and does not end is ended, with all that it started (isolation: ${mode})`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'acor-ask-'));
      try {
        const program = join(folder, 'stays');
        // Its run's id is how a process that has left the group is known.
        writeFileSync(program, '#!/bin/bash\necho "$RUN_ID"\nsetsid sleep 600 &\nsleep 600\n', {
          mode: 0o755,
        });
        const ask = async (deadlineMs: number) =>
          askForHelp(
            {
              runtime: await loadRuntime(),
              sandbox: await chooseBackend({ isolation: mode }, null),
              program,
              folders: [],
              path: '/usr/bin:/bin',
              hidden: [],
              deadlineMs,
            },
            ['--help'],
          );
        // On a busy machine the program may be ended before it has said anything.
        let deadlineMs = 500;
        let answer = await ask(deadlineMs);
        while (answer.text === '') {
          deadlineMs *= 2;
          answer = await ask(deadlineMs);
        }
        assert.equal(answer.trouble, `it did not end within ${deadlineMs / 1000} s`);
        const runId = answer.text.trim();
        assert.match(runId, /^r-/);
        const left = processesWithEnvironment('RUN_ID', runId).filter(
          (pid) => readProcess(pid) !== undefined,
        );
        assert.deepEqual(left, []);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }
});
