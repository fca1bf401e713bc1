import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { missing, RunFolders, ToolProcess } from './tool-process.ts';

const repository = join(import.meta.dirname, '..', '..');
const drivers = {
  typescript: [process.execPath, join(repository, 'src/tool/fixtures/driver.ts')],
  python: ['python3', join(repository, 'sdk/python/fixtures/driver.py')],
  bash: ['bash', join(repository, 'sdk/bash/fixtures/driver.sh')],
};
const skip = missing('python3') || missing('bash');

const VOCABULARY = [
  'answer_to args artifact ask cancelled check_cancel deadline_left_s emit emit_action emit_cancelled emit_error',
  'emit_heartbeat emit_log emit_progress emit_record emit_result emit_start load_checkpoint run_id save_checkpoint secret workspace',
]
  .join(' ')
  .split(' ');

/** Functions that a language needs in addition, or names differently. */
const OWN_WORDS = {
  typescript: ['protocol_emitter', 'start_heartbeat', 'tool_error'],
  python: ['heartbeat', 'protocol_emitter', 'tool_error'],
  bash: ['acor_heartbeat_start', 'acor_heartbeat_stop', 'json_array', 'json_get', 'json_object'],
};

describe('the three SDKs', () => {
  for (const language of ['typescript', 'python', 'bash'] as const) {
    it(`offer the same words in ${language}`, { skip }, async () => {
      using run = new RunFolders();
      const { events, stderr } = await finish(run, language, ['vocabulary']);
      const names = (events.at(-1)?.['data'] ?? assert.fail(stderr)) as string[];
      assert.deepEqual(names.map(snakeCase).sort(), [...VOCABULARY, ...OWN_WORDS[language]].sort());
    });
  }

  it('read and lock one another’s checkpoints', { skip }, async () => {
    using run = new RunFolders();
    await Promise.all(
      (['typescript', 'python', 'bash'] as const).map((one) => finish(run, one, ['save', 's', '10'])),
    );
    const stored = JSON.parse(readFileSync(join(run.checkpoints, 's.json'), 'utf8'));
    assert.equal(stored.version, 30);
    for (const language of ['typescript', 'python', 'bash'] as const) {
      const { events } = await finish(run, language, ['load', 's']);
      assert.deepEqual(events.at(-1)?.['data'], { i: 10, note: 'a "b"\n' });
    }
  });
});

function finish(run: RunFolders, language: keyof typeof drivers, args: string[]) {
  return new ToolProcess([...drivers[language], ...args], { cwd: run.workspace, env: run.env() }).ended;
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
