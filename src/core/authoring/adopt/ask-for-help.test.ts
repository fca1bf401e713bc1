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
        const answer = await askForHelp(
          {
            runtime: await loadRuntime(),
            sandbox: await chooseBackend({ isolation: mode }, null),
            program,
            folders: [],
            path: '/usr/bin:/bin',
            hidden: [],
            deadlineMs: 500,
          },
          ['--help'],
        );
        assert.equal(answer.trouble, 'it did not end within 0.5 s');
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
