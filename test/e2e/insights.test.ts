import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { until } from '../support/project.ts';
import { ProjectInProcess } from '../support/project-in-process.ts';
import { atTerminal } from '../support/terminal.ts';

const MANIFEST = `# What it does.
name: asks
description: Asks how to go on.
idempotent: true # always
`;
const CLI = `#!/bin/sh
echo '{"type":"action_required","action_id":"a-1","action":"choose","blocking":true,"options":[{"id":"slow"},{"id":"fast"}]}'
until [ -e "$ANSWERS_DIR/a-1.json" ]; do sleep 0.05; done
echo '{"type":"result","status":"ok"}'
`;
const WRITES = `name: NAME
description: Copies a file.
inputs:
  - { name: in, type: path, access: read, required: true }
  - { name: out, type: path, access: write, required: true }
`;
const COPIES = `#!/bin/sh
cat "$2" > "$4"
echo '{"type":"result","status":"ok"}'
`;

let project: ProjectInProcess;
beforeEach(() => {
  project = new ProjectInProcess({ isTrusted: true });
});
afterEach(() => project[Symbol.dispose]());

const idsOf = (data: { proposals: { id: string }[] }) => data.proposals.map(({ id }) => id);

describe('acor insights', () => {
  it('turns answers that were always the same into a rule, which the next run follows when it is trusted', async () => {
    project.write('tools/asks/tool.yaml', MANIFEST);
    project.write('tools/asks/cli.sh', CLI, 0o755);
    for (let round = 0; round < 5; round++) {
      const { data } = await project.envelope(['run', 'asks', '--detach']);
      await until(() => project.record(data.run_id)?.state === 'waiting_ai');
      await project.envelope(['answer', data.run_id, '--choice', 'fast', '--by', 'me']);
      await project.envelope(['wait', data.run_id]);
    }
    const { data, meta } = await project.envelope(['insights']);
    assert.deepEqual(idsOf(data), ['answer:asks:choose']);
    assert.equal(data.runs_read, 5);
    assert.equal(data.tools[0].tool, 'asks');
    assert.deepEqual(meta.next, ['acor insights --apply answer:asks:choose --dry-run']);
    const planned = await project.envelope(['insights', '--apply', '1', '--dry-run']);
    assert.match(planned.data.applied.diff, /\+ {2}- action: choose\n\+ {4}tool: asks\n\+ {4}answer: fast\n/);
    const file = project.path('.acor/config.yaml');
    const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
    assert.doesNotMatch(before, /action: choose/);
    const applied = await project.envelope(['insights', '--apply', 'answer:asks:choose']);
    assert.equal(applied.data.applied.diff, planned.data.applied.diff);
    assert.deepEqual(applied.meta.next, ['acor trust']);
    // Each command of this test trusts the project as it is by then.
    const { data: run } = await project.envelope(['run', 'asks', '--no-stream']);
    assert.equal(run.state, 'completed');
    const { data: asked } = await project.envelope(['decisions', run.run_id]);
    assert.deepEqual([asked.decisions[0].answer, asked.decisions[0].source], ['fast', 'policy']);
  });

  it('drafts a workflow from tools that ran one after the other on the same files, and it runs', async () => {
    for (const name of ['fetch', 'load']) {
      project.write(`tools/${name}/tool.yaml`, WRITES.replace('NAME', name));
      project.write(`tools/${name}/cli.sh`, COPIES, 0o755);
    }
    for (const day of ['mon', 'tue', 'wed']) {
      project.write(`${day}.txt`, day);
      await project.run(['fetch', '--in', `${day}.txt`, '--out', `${day}.raw`]);
      await project.run(['load', '--in', `${day}.raw`, '--out', `${day}.csv`]);
    }
    const { data } = await project.envelope(['insights']);
    assert.deepEqual(idsOf(data), ['workflow:fetch:load']);
    const { data: done, meta } = await project.envelope(['insights', '--apply', 'workflow:fetch:load']);
    assert.deepEqual(meta.next, ['acor workflow validate fetch-then-load']);
    const checked = await project.envelope(['workflow', 'validate', 'fetch-then-load']);
    assert.equal(checked.ok, true, `${JSON.stringify(checked)}${readFileSync(done.applied.file, 'utf8')}`);
    project.write('thu.txt', 'thu');
    const inputs = ['--in', 'thu.txt', '--out', 'thu.raw', '--out-2', 'thu.csv'];
    const { data: ran } = await project.envelope([
      'workflow',
      'run',
      'fetch-then-load',
      '--no-stream',
      ...inputs,
    ]);
    assert.equal(ran.state, 'completed', JSON.stringify(ran));
    assert.equal(readFileSync(project.path('thu.csv'), 'utf8'), 'thu');
    const again = await project.envelope(['insights', '--apply', 'workflow:fetch:load']);
    assert.deepEqual([again.error.code, again.error.hint], ['E_USAGE', 'These runs suggest nothing.']);
  });

  it('changes a manifest and leaves its comments and its other keys as they are', async () => {
    project.write('tools/asks/tool.yaml', MANIFEST);
    project.write('tools/asks/cli.sh', '#!/bin/sh\nexec sleep 60\n', 0o755);
    await Promise.all([1, 2, 3].map(() => project.run(['asks', '--timeout', '0.2s'])));
    const { data } = await project.envelope(['insights', '--tool', 'asks']);
    assert.deepEqual(idsOf(data), ['timeout:asks']);
    assert.equal(data.tools[0].codes[0].code, 'E_DEADLINE');
    await project.envelope(['insights', '--apply', '1']);
    const text = readFileSync(project.path('tools/asks/tool.yaml'), 'utf8');
    assert.equal(text, `${MANIFEST}timeout_s: 0.4\n`);
  });

  it('writes the manifest of a program that runs often, and takes an unused input from a manifest', async () => {
    for (let call = 0; call < 5; call++) await project.envelope(['exec', '--no-stream', '--', 'seq', '2']);
    const shown = await project.envelope(['insights', '--apply', 'adopt:seq', '--dry-run']);
    assert.match(shown.data.applied.diff, /\+name: seq/);
    assert.equal(existsSync(project.path('.acor/tools/seq/tool.yaml')), false);
    const { data } = await project.envelope(['insights', '--apply', 'adopt:seq']);
    assert.equal(readFileSync(data.applied.file, 'utf8').includes('name: seq'), true);

    const manifest = 'inputs:\n  # Whom to greet.\n  - name: who\n  - name: tea # never\n    type: bool\n';
    project.write('tools/greets/tool.yaml', manifest);
    project.write('tools/greets/cli.sh', '#!/bin/sh\necho hello\n', 0o755);
    await Promise.all(Array.from({ length: 20 }, () => project.run(['greets', '--who', 'Ada'])));
    const found = await project.envelope(['insights', '--tool', 'greets']);
    assert.ok(idsOf(found.data).includes('input:greets'), JSON.stringify(found.data.proposals));
    await project.envelope(['insights', '--tool', 'greets', '--apply', 'input:greets']);
    const text = readFileSync(project.path('tools/greets/tool.yaml'), 'utf8');
    assert.equal(text, 'inputs:\n  # Whom to greet.\n  - name: who\n');
  });

  it('refuses a proposal that it does not have, and one that a person has to decide', async () => {
    const none = await project.envelope(['insights', '--apply', '1']);
    assert.deepEqual([none.error.code, none.error.hint], ['E_USAGE', 'These runs suggest nothing.']);
    for (let call = 0; call < 5; call++) await project.envelope(['exec', '--no-stream', '--', 'false']);
    const { data } = await project.envelope(['insights']);
    assert.deepEqual(idsOf(data), ['adopt:false', 'failure:exec:false:E_TOOL_FAILED']);
    assert.equal(data.proposals[1].applies, false);
    const refused = await project.envelope(['insights', '--apply', 'failure:exec:false:E_TOOL_FAILED']);
    assert.deepEqual([refused.error.code, refused.meta.next?.length], ['E_USAGE', 1]);
    const unknown = await project.envelope(['insights', '--apply', 'adopt:true']);
    assert.equal(unknown.error.hint, 'Name one of: adopt:false, failure:exec:false:E_TOOL_FAILED');
    const { text, code } = await atTerminal(['insights'], { cwd: project.root, env: project.environment() });
    assert.equal(code, 0);
    assert.match(
      text,
      /1\. Make false a tool, with declared arguments and its own limits\.\r?\n {3}It ran 5 times without a manifest\./,
    );
    // Less than a millisecond: any run ended before the command started.
    const later = await project.envelope(['insights', '--newer-than', '0.00000001']);
    assert.deepEqual([later.data.runs_read, later.data.since], [0, null]);
  });
});
