import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { splitCommand } from '../../src/util/shell-words.ts';
import { TestProject } from '../support/project.ts';

const WORKFLOW = 'name: two\nsteps:\n  - { name: one, tool: plain }\n  - { name: two, tool: plain }\n';
const METRICS = '#!/bin/sh\necho \'{"type":"result","status":"ok","metrics":{"rows":3}}\'\n';

describe('readable text in a pipe', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write(
      'tools/plain.sh',
      '#!/bin/sh\n# acor: adapter: plain\necho "from $RUN_ID" | cut -c1-6\n',
      0o755,
    );
    project.write('tools/counts.sh', METRICS, 0o755);
    project.write('.acor/workflows/two.yaml', WORKFLOW);
    project.write('.acor/workflows/mute.yaml', 'steps: [{ name: one, tool: counts }]\n');
  });
  after(() => project[Symbol.dispose]());

  const text = (...args: string[]) => project.acor(['--format', 'text', ...args]);

  it('has what a failed program wrote last, before the hint', async () => {
    const { stdout, stderr, code } = await text('exec', '--', 'sh', '-c', 'echo why it failed >&2; exit 3');
    assert.deepEqual([stdout, code], ['', 1]);
    const [head, said, hint] = stderr.split('\n');
    assert.match(head!, /E_TOOL_FAILED: the program ended with exit code 3$/);
    assert.match(said!, /^[│|] why it failed$/);
    assert.match(hint!, /^ {2}\S/);
  });

  it('has what a run did where it has no data, and nothing where there is nothing', async () => {
    assert.equal((await text('run', 'counts')).stdout, 'rows  3\n');
    assert.equal((await text('workflow', 'run', 'two')).stdout, 'two\n  output  from r\n');
    assert.match((await text('workflow', 'run', 'mute')).stdout, /^steps\n {2}completed {2}1\n/);
    assert.equal((await text('exec', '--', 'true')).stdout, '');
  });

  it('has the call of a run with the limits that the caller gave, which makes the same call again', async () => {
    project.write('tools/timed/cli.sh', '#!/bin/sh\necho "$@"\n', 0o755);
    project.write('tools/timed/tool.yaml', 'adapter: plain\ninputs: [{ name: timeout, type: string }]\n');
    const callOf = async () => /^call +(.*)$/m.exec((await text('show')).stdout)?.[1];
    for (const [given, call] of [
      ['run plain', 'run plain'],
      ['run plain --timeout 1.5m --review', 'run --timeout 90 --review plain'],
      ['run --timeout 9 timed --timeout never', 'run --timeout 9 timed --timeout never'],
      ['exec --timeout 9 --snapshot --read . -- true', 'exec --timeout 9 --snapshot --read . -- true'],
      [
        'workflow run two --timeout 9',
        `workflow run --timeout 9 ${project.path('.acor/workflows/two.yaml')}`,
      ],
    ] as const) {
      await project.acor([...splitCommand(given)!]);
      assert.equal(await callOf(), `acor ${call}`);
      const [, ...words] = splitCommand((await callOf())!)!;
      await project.acor(words);
      assert.equal(await callOf(), `acor ${call}`);
    }
  });

  it('is the same after a wait, and counts what was removed', async () => {
    const { data } = await project.envelope(['run', 'plain', '--no-stream']);
    assert.equal((await text('wait', data.run_id)).stdout, 'from r\n');
    const removed = await text('runs', 'rm', data.run_id);
    assert.equal(removed.stdout, `1 run removed\n  ${data.run_id}\n`);
    const cleaned = await text('clean', '--keep', '0', '--dry-run');
    assert.match(cleaned.stdout, /^\d+ runs would be removed\n {2}r-/);
    assert.match(cleaned.stdout, /\n0 runs kept\n$/);
  });
});
