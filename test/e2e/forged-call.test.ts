import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

let project: TestProject;
beforeEach(() => {
  project = new TestProject({ config: 'version: 1\nsecurity: { isolation: off }\n' });
  const inputs = '[{ name: mode, type: string, positional: true, required: true }]';
  project.write('tools/acts/tool.yaml', `name: acts\nversion: 1.0.0\nidempotent: true\ninputs: ${inputs}\n`);
  project.write(
    'tools/acts/cli.sh',
    `#!/bin/sh
echo "$1" >>"${project.path('acted')}"
exit 3
`,
    0o755,
  );
});
afterEach(() => project[Symbol.dispose]());

/** A run that failed. */
async function recordedRun(): Promise<string> {
  await project.envelope(['run', '--no-stream', 'acts', 'harmless']);
  return project.runIds().at(-1)!;
}

function forge(run: string, change: object): void {
  const path = project.path(`.runs/${run}/metadata.json`);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }));
}

const acted = () => readFileSync(project.path('acted'), 'utf8').trim().split('\n');

const FORGERIES = {
  given_args: ['harmful'],
  writes: 'snapshot',
  reads: { run_id: 'r-0000000000000000', form: 'lines' },
};
const REPEATS: readonly (readonly [string, ...string[]])[] = [
  ['resume', '--no-stream'],
  ['retry', '--no-stream'],
  ['retry', '--dry-run'],
  ['replay', '--execute', '--no-stream'],
];

describe('a recorded call', () => {
  for (const [field, value] of Object.entries(FORGERIES))
    it(`whose ${field} was changed is found by verify, and is not repeated`, async () => {
      const run = await recordedRun();
      forge(run, { [field]: value });
      const verified = await project.envelope(['verify', run]);
      assert.equal(verified.error?.code, 'E_INTEGRITY');
      assert.match(verified.error.message, new RegExp(`: it has ${field} `));
      for (const [command, ...flags] of REPEATS) {
        const { error } = await project.envelope([command, run, ...flags]);
        assert.equal(error?.code, 'E_INTEGRITY', command);
        assert.match(error!.message, new RegExp(`may be forged: it has ${field} `), command);
      }
      assert.deepEqual(acted(), ['harmless']);
      assert.equal(project.runIds().length, 1);
    });

  it('is not repeated either where its run was lost, and its log has no seal yet', async () => {
    const run = await recordedRun();
    const log = project.path(`.runs/${run}/events.jsonl`);
    const start = readFileSync(log, 'utf8').split('\n', 1)[0]!;
    writeFileSync(log, `${start}\n`);
    forge(run, { state: 'running', given_args: ['harmful'] });
    assert.equal((await project.envelope(['resume', run, '--no-stream'])).error?.code, 'E_INTEGRITY');
    assert.deepEqual(acted(), ['harmless']);
  });

  it('is repeated as it was where no program has changed it, as the control', async () => {
    const run = await recordedRun();
    for (const [command, ...flags] of REPEATS) {
      const { error } = await project.envelope([command, run, ...flags]);
      assert.equal(error?.code === 'E_INTEGRITY', false, JSON.stringify(error));
    }
    assert.deepEqual(acted(), ['harmless', 'harmless', 'harmless', 'harmless']);
  });

  it('of a build that did not write it into the log is repeated as the record has it', async () => {
    const run = await recordedRun();
    const log = project.path(`.runs/${run}/events.jsonl`);
    const [first] = readFileSync(log, 'utf8').split('\n');
    const { given_args: _, ...start } = JSON.parse(first!);
    writeFileSync(log, `${JSON.stringify(start)}\n`);
    forge(run, { state: 'running' });
    const { error } = await project.envelope(['resume', run, '--no-stream']);
    assert.equal(error?.code, 'E_TOOL_FAILED');
    assert.deepEqual(acted(), ['harmless', 'harmless']);
  });
});
