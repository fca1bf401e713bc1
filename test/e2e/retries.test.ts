import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type Event, TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

const project = new TestProject({ config: WITHOUT_SANDBOX });
after(() => project[Symbol.dispose]());

/** Each fails once, and is done on the next attempt, which finds the file of the first one. */
const TOOLS: Readonly<Record<string, { file: string; text: string }>> = {
  in_python: {
    file: 'cli.py',
    text: `import os, sys
from acor.protocol import emit_error, emit_result
if os.path.exists("tried"):
    emit_result()
else:
    open("tried", "w").close()
    emit_error("E_RATE_LIMIT", "429", "wait")
    sys.exit(20)
`,
  },
  in_bash: {
    file: 'cli.sh',
    text: `source "$ACOR_LIB/acor.sh"
if [ -e tried ]; then emit_result; else
  touch tried
  emit_error E_RATE_LIMIT 429 wait
  exit 20
fi
`,
  },
  in_typescript: {
    file: 'cli.ts',
    text: `import { existsSync, writeFileSync } from 'node:fs';
import { emitError, emitResult } from 'acor/tool';
if (existsSync('tried')) emitResult();
else {
  writeFileSync('tried', '');
  emitError('E_RATE_LIMIT', '429', { hint: 'wait' });
  process.exitCode = 20;
}
`,
  },
};

for (const [name, { file, text }] of Object.entries(TOOLS)) {
  project.write(`tools/${name}/${file}`, text);
  project.write(
    `tools/${name}/tool.yaml`,
    `name: ${name}\nversion: 1.0.0\nentry: ${file}\nidempotent: true\nretry: { backoff_s: 0.01 }\n`,
  );
}

describe('an error that says nothing about a retry', () => {
  for (const name of Object.keys(TOOLS))
    it(`is retried by its exit code and its row in the table: ${name}`, async () => {
      const { data } = await project.envelope(['run', name, '--retries', '2', '--no-stream']);
      assert.deepEqual([data?.state, data?.attempt], ['completed', 2]);
    });

  it('has one answer about it everywhere', async () => {
    project.write(
      'tools/gives_up/cli.py',
      'import sys\nfrom acor.protocol import emit_error\nemit_error("E_RATE_LIMIT", "429", "wait", retryable=False)\nsys.exit(20)\n',
    );
    const { error, meta } = await project.envelope(['run', 'gives_up', '--retries', '2', '--no-stream']);
    assert.deepEqual([error.retryable, error.details.attempt], [false, 1]);
    assert.ok(
      meta.next.every((command: string) => !command.startsWith('acor resume')),
      meta.next,
    );
    const { end } = await project.run(['gives_up']);
    assert.equal(end.retryable, false);
    const busy = await project.envelope(['run', 'in_python', '--retries', '0', '--no-stream']);
    assert.equal(busy.error.retryable, true);
  });

  it('has the number of the last attempt that may follow, also after a resume', async () => {
    const text = `${TOOLS.in_bash!.text.replace('[ -e tried ]', 'false')}`;
    project.write('tools/always_fails/cli.sh', text);
    project.write(
      'tools/always_fails/tool.yaml',
      'name: always_fails\nversion: 1.0.0\nentry: cli.sh\nidempotent: true\nretry: { max_attempts: 2, backoff_s: 0.01 }\n',
    );
    const first = await project.run(['always_fails']);
    const failed = (events: readonly Event[]) =>
      events.flatMap(({ type, msg }) => (type === 'runner_warning' ? [String(msg).split(':')[0]] : []));
    assert.deepEqual(failed(first.events), ['attempt 1 of 2 failed']);
    const { error } = await project.envelope(['resume', 'last', '--no-stream']);
    assert.equal(error.details.attempt, 4);
    assert.deepEqual(failed(project.events(String(first.end.run_id))), [
      'attempt 1 of 2 failed',
      'attempt 3 of 4 failed',
    ]);
  });
});
